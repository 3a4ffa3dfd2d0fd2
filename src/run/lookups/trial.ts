/** A trial: a few identifiers, spread over the file, are looked up before the rest. */
import { qualityScoreOf } from '../../brand-api/brand.js';
import type { OutcomeStatus } from '../../core/outcome.js';
import type { Engine } from '../../engine/engine.js';
import { outcomeKeys } from '../../engine/stores/outcome-key.js';
import { readProfile } from '../../engine/stores/profile-codec.js';
import { freshnessOf, type RunRecord } from '../../engine/stores/run-store.js';
import { mainColor, textOf } from '../output/brand-fields.js';
import type { Scan } from '../scan/scan.js';
import { unansweredIn } from './collect-outcomes.js';

/** `isRequested`: by `--try`; false if made to learn the quota. `brands`: of the first matches. */
export type TrialResult = Readonly<Awaited<ReturnType<typeof trialResult>>>;

const BRANDS_SHOWN = 5;

/** Returns the numbers of `count` of the `missing` unanswered identifiers, spread over the file. */
export function spreadOver(
  scan: Pick<Scan, 'identifiers' | 'answers' | 'priorities'>,
  missing: number,
  count: number,
): number[] {
  const chosen: number[] = [];
  let at = 0;
  for (const batch of unansweredIn(scan, 500)) {
    for (const { index } of batch) {
      // Takes the middle of each of `count` equal parts.
      if (at === Math.floor(((chosen.length + 0.5) * missing) / count)) chosen.push(index);
      at += 1;
    }
  }
  return chosen;
}

export async function trialResult(
  indexes: readonly number[],
  isRequested: boolean,
  { scan, run, engine }: { readonly scan: Scan; readonly run: RunRecord; readonly engine: Engine },
) {
  const counts: Partial<Record<OutcomeStatus, number>> = {};
  const shown: string[] = [];
  for (const index of indexes) {
    const status = scan.answers.status(index);
    if (status === null) continue;
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === 'matched' && shown.length < BRANDS_SHOWN) shown.push(scan.identifiers.at(index));
  }
  return { isRequested, counts, brands: await readStoredBrands(engine, run, shown) };
}

const TEXT_AT_MOST = 100;

/** Returns the brands that are still stored, in the service's words. Throws engine errors. */
export async function readStoredBrands(
  engine: Pick<Engine, 'outcomes'>,
  run: RunRecord,
  identifiers: readonly string[],
) {
  const keyOf = outcomeKeys(run.settings.service, run.settings.allowNsfw);
  const outcomes = await engine.outcomes.read(identifiers.map(keyOf), freshnessOf(run));
  return identifiers.flatMap((identifier, at) => {
    const packed = outcomes[at]?.packed;
    const brand = packed ? readProfile(packed)?.brand : undefined;
    if (brand === undefined) return [];
    return {
      identifier,
      name: textOf(brand.name, TEXT_AT_MOST),
      domain: textOf(brand.domain, TEXT_AT_MOST),
      /** 0 to 1; null if unscored. */
      score: qualityScoreOf(brand),
      color: textOf(mainColor(brand), TEXT_AT_MOST),
    };
  });
}

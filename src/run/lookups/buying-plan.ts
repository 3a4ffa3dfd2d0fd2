/**
 * What a run with `--priority` would buy first, and down to where the limit reaches. Nothing is sent.
 */

import type { Survey } from '../scan/survey.js';
import { unansweredByWorth } from './buying-order.js';

/** One identifier (`kind:value`) with what its best row says in the column of `--priority`; null: nothing. */
interface RankedIdentifier {
  readonly identifier: string;
  readonly value: string | null;
}

export interface BuyingPlan {
  /** For people: `bought first: the highest "revenue"`. */
  readonly sentence: string;
  /** The most valuable ones that are not stored, at most 5. */
  readonly first: readonly RankedIdentifier[];
  /** The least valuable one that the limit still covers; null when it covers all, none, or is unknown. */
  readonly last: RankedIdentifier | null;
}

const SHOWN = 5;
const READ_AT_ONCE = 500;

/**
 * `covered`: requests that the limit covers; null when it covers all or is unknown. `areMissing` tells which of these
 * identifiers have no fresh answer. null without `--priority`.
 */
export async function planBuying(
  survey: Pick<Survey, 'identifiers' | 'answers' | 'priorities'>,
  areMissing: (texts: readonly string[]) => Promise<readonly boolean[]>,
  covered: number | null,
): Promise<BuyingPlan | null> {
  const { priorities } = survey;
  if (priorities === null) return null;
  const first: RankedIdentifier[] = [];
  let last: RankedIdentifier | null = null;
  let count = 0;
  for (const batch of unansweredByWorth(survey, READ_AT_ONCE)) {
    const missing = await areMissing(batch.map(({ text }) => text));
    for (const [at, { index, text }] of batch.entries()) {
      if (!missing[at]) continue;
      count += 1;
      const ranked = { identifier: text, value: priorities.valueOf(index) };
      if (first.length < SHOWN) first.push(ranked);
      if (count === covered) last = ranked;
    }
    if (count >= Math.max(SHOWN, covered ?? 0)) break;
  }
  return { sentence: priorities.sentence, first, last };
}

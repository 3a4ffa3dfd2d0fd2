/** Brands that a run has, for people who look at it while it works. */
import type { Engine } from '../../engine/engine.js';
import { outcomeKeys } from '../../engine/stores/outcome-key.js';
import { readProfile } from '../../engine/stores/profile-codec.js';
import { freshnessOf, type RunRecord } from '../../engine/stores/run-store.js';

/** Brands of identifiers that matched, as far as they are still stored. Throws engine errors. */
export async function readStoredBrands(
  engine: Pick<Engine, 'outcomes'>,
  run: RunRecord,
  identifiers: readonly string[],
) {
  const keyOf = outcomeKeys(run.settings.service, run.settings.allowNsfw);
  const found = await engine.outcomes.read(identifiers.map(keyOf), freshnessOf(run));
  return identifiers.flatMap((identifier, at) => {
    const packed = found[at]?.packed;
    const brand = packed ? readProfile(packed)?.brand : undefined;
    return brand === undefined ? [] : { identifier, brand };
  });
}

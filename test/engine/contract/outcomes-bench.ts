/** Shorthands for the contract tests of the outcome store. */
import type { Freshness, NewOutcome } from '../../../src/core/outcome.js';
import type { Engine } from '../../../src/engine/engine.js';
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';
import type { TurnedClock } from './engine-under-test.js';
import { exchangeRequest } from './run-settings.js';

export const DAY_MS = 86_400_000;

export type OutcomesBench = ReturnType<typeof createOutcomesBench>;

/** `engine` is read on each call: it is opened after the tests are declared. */
export function createOutcomesBench(engine: () => Engine, clock: TurnedClock) {
  let counted = 0;
  /** Names that no other test uses. */
  function begin(count: number) {
    counted += 1;
    const mark = `o${counted}`;
    const keys = Array.from({ length: count }, (_, index) => `${mark}:u:domain:${index}.example`);
    return { mark, keys, first: `${mark}-first`, second: `${mark}-second` };
  }
  const store = () => engine().outcomes;
  const storeNow = () => Date.now() + clock.offsetMs();
  /** Everything stored is fresh, unless a test says otherwise. */
  const fresh = (some: Partial<Freshness> = {}): Freshness => ({
    asOf: storeNow(),
    maxAgeMs: 29 * DAY_MS,
    maxAgeMissingMs: 29 * DAY_MS,
    notBefore: 0,
    ...some,
  });
  const claim = (worker: string, keys: readonly string[], freshness = fresh()) =>
    store().claim(worker, keys, freshness);
  const matched = (key: string, some: Partial<NewOutcome> = {}): NewOutcome => ({
    key,
    status: 'matched',
    packed: Buffer.from(key),
    billed: true,
    freshMs: null,
    ...some,
  });
  /** An exchange that is only a heartbeat, unless given more. */
  const exchange = (account: string, worker: string, some: Partial<ExchangeRequest> = {}) =>
    engine().ledger.exchange(exchangeRequest({ account, worker, run: null, isConfirmed: false, ...some }));
  return { engine, clock, begin, store, storeNow, fresh, claim, matched, exchange };
}

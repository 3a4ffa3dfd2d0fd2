/** Exhaustive search of what three workers, a service and others can do to a limit of four. */
import { describe, expect, test } from 'vitest';
import { type Explored, explore } from './explore.js';
import * as rules from './ledger-rules.js';
import { createSteps } from './small-steps.js';
import { copyLedger, createSmallWorld, keyOfWorld, type SmallWorld } from './small-world.js';

interface Terms {
  readonly workers?: number;
  readonly hasDisk?: boolean;
  readonly now?: number;
  readonly own?: SmallWorld['own'];
}

type Accidents = Partial<SmallWorld['left']>;

const STATES_AT_MOST = 300_000;

function search(by: rules.LedgerRules, left: Accidents, terms: Terms = {}): Explored {
  const { workers = 3, hasDisk = false, now, own } = terms;
  const world = createSmallWorld(workers, left, now, own);
  if (hasDisk) world.disk = copyLedger(world.ledger);
  return explore(world, keyOfWorld, createSteps(by), STATES_AT_MOST);
}

/** Minutes on a busy machine. */
const LONG = { tags: ['long'], timeout: 300_000 };

type Row = readonly [what: string, left: Accidents, atLeast: number, terms?: Terms, by?: rules.LedgerRules];
function expectHeld([, left, statesAtLeast, terms, by = rules.SOUND]: Row): void {
  const { states, counterexample } = search(by, left, terms);
  expect(counterexample).toBeNull();
  // A search that visits few states proves little.
  expect(states).toBeGreaterThan(statesAtLeast);
}

const MID_FEBRUARY = { now: Date.UTC(2030, 1, 15), workers: 2 };
const FEBRUARY = { now: Date.UTC(2030, 1, 2) };
const EXPIRY = { crash: 1, time: 2 };
const TWO = { workers: 2 };
const BILLED = { workers: 2, own: 'billed' } as const;
const FREE = { workers: 2, own: 'free' } as const;

describe('by the rules the limit holds, and is used to the last request while nothing goes wrong,', () => {
  test.for<Row>([
    ['when two workers are killed and restart', { crash: 2 }, 1_500],
    ['when one is killed beside a request of others', { crash: 1, others: 1 }, 3_000],
    ['when the ledger loses power after all is on disk', { crash: 1, powerCut: 1 }, 1_000, { hasDisk: true }],
  ])('%s', expectHeld);

  test('with one of ours beyond it at most, while others send three beside those in flight', () => {
    expectHeld(['', { others: 3 }, 500, {}, rules.KEEPS_QUARTER]);
  });

  test.for<Row>([
    ['with two requests of others and a header that lags', { others: 2 }, 3_000],
    ["when the store's clock is a month ahead of the service's", { time: 3 }, 1_000, MID_FEBRUARY],
    ['when one answer is dated in the next month, which has not begun', { lie: 1 }, 1_000],
    ['when two answers are lost, of the service or of the ledger', { loss: 2 }, 8_000],
    ['when one is killed and one answer is lost', { crash: 1, loss: 1 }, 5_000],
    ['when an answer is lost beside a request of others', { loss: 1, others: 1 }, 3_000],
    ['when one of two workers is killed and permits expire', EXPIRY, 4_000, TWO],
    ['when one of three workers is killed and permits expire', EXPIRY, 40_000],
    ['when permits expire beside a request of others', { others: 1, ...EXPIRY }, 10_000, TWO],
    ['when the month turns and the header lags', { turn: 1 }, 4_500],
    ["when the month turns, and the store's clock is past it", { turn: 1 }, 4_500, FEBRUARY],
    ['when the month turns and a worker is killed', { turn: 1, crash: 1 }, 9_000],
    ["when it turns, one dies, and the store's clock is past it", { turn: 1, crash: 1 }, 9_000, FEBRUARY],
    ['when others get one back: usage falls', { others: 1, correction: 1, glance: 3, rest: 2 }, 1_000, TWO],
    ['when one asks beside looks that are billed', { look: 5, row: 1, time: 3 }, 10_000, BILLED],
    ['when looks are free', { look: 4, row: 4, time: 2 }, 10_000, FREE],
    ['when a worker that looks is killed', { look: 4, row: 1, time: 3, crash: 1 }, 10_000, BILLED],
    ['when others spend beside looks', { look: 4, row: 1, time: 2, loss: 1, others: 1 }, 10_000, BILLED],
  ])('%s', LONG, expectHeld);
});

describe('the search catches a ledger', LONG, () => {
  const MORE_THAN_FOUR = /^(5 may be ours|5 billed to us|\d may be ours and [1-9] are others')/;
  test.for<[what: string, by: rules.LedgerRules, left: Accidents, terms?: Terms, broken?: RegExp]>([
    ['that refunds a request that timed out', rules.REFUNDS_TIMEOUTS, { loss: 1 }],
    ['that gives back permits that expired', rules.EXPIRES_BACK, EXPIRY],
    ['that keeps no quarter', rules.KEEPS_NO_QUARTER, { others: 3 }, {}, /^2 of ours beyond the limit$/],
    ['that checks, then increments', rules.CHECKS_THEN_INCREMENTS, {}],
    ['that believes the usage header', rules.TRUSTS_HEADER, {}],
    ['that grants before it is on disk', rules.NOT_YET_ON_DISK, { crash: 1, powerCut: 1 }, { hasDisk: true }],
    ['that takes the month from a worker', rules.MONTH_OF_WORKER, {}],
    ['that begins a month at zero', rules.MONTH_FROM_ZERO, { turn: 1 }, FEBRUARY],
    ["that asks for a month by the store's clock", rules.BELIEVES_STORE_CLOCK, { time: 3 }, FEBRUARY],
    ['that believes every fall of the usage', rules.FALLS_AT_ONCE, { others: 2 }],
    ['that opens a month for one answer', rules.BELIEVES_ONE_ANSWER, { lie: 1 }],
    [
      'that attributes our requests in flight to others',
      rules.FORGETS_HELD,
      {},
      {},
      /^limit reported as reached after [0-3] of 4$/,
    ],
    ['that takes looks for free without proof', rules.FREE_WITHOUT_PROOF, { look: 5 }, BILLED],
    ['that proves a look by the first reading', rules.PROVES_AT_ONCE, { look: 5, row: 1 }, BILLED],
    ['that allows for requests not yet shown', rules.ALLOWS_FOR_UNSEEN, { look: 5, row: 1, time: 3 }, BILLED],
  ])('%s', ([, by, left, terms, broken = MORE_THAN_FOUR]) => {
    expect(search(by, left, terms).counterexample?.broken).toMatch(broken);
  });
});

/**
 * Exhaustive search of everything that three workers, a service and other users of the token can do
 * to an account with a limit of four: by the ledger's rules the promises hold, and each of some
 * plausible but wrong rules is caught.
 */
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

function search(
  by: rules.LedgerRules,
  left: Accidents,
  { workers = 3, hasDisk = false, now, own }: Terms = {},
): Explored {
  const world = createSmallWorld(workers, left, now, own);
  if (hasDisk) world.disk = copyLedger(world.ledger);
  return explore(world, keyOfWorld, createSteps(by), STATES_AT_MOST);
}

/** Minutes on a busy machine. */
const LONG = { tags: ['long'], timeout: 300_000 };

function expectHeld(_what: string, left: Accidents, statesAtLeast: number): void {
  const { states, counterexample } = search(rules.SOUND, left);
  expect(counterexample).toBeNull();
  // A search that visits few states proves little.
  expect(states).toBeGreaterThan(statesAtLeast);
}

describe('by the rules the limit holds, and is used to the last request while nothing goes wrong,', () => {
  test.each<[string, Accidents, number]>([
    ['with two requests of others and a header that lags', { others: 2 }, 3_000],
    ['when two workers are killed and restart', { crash: 2 }, 1_500],
    ['when one is killed beside a request of others', { crash: 1, others: 1 }, 3_000],
  ])('%s', expectHeld);

  test.each<[string, Accidents, number]>([
    ['when two answers are lost, of the service or of the ledger', { loss: 2 }, 8_000],
    ['when one is killed and one answer is lost', { crash: 1, loss: 1 }, 5_000],
    ['when an answer is lost beside a request of others', { loss: 1, others: 1 }, 3_000],
  ])('%s', LONG, expectHeld);

  const EXPIRY = { crash: 1, time: 2 };
  test('when one of two workers is killed and permits expire', LONG, () => {
    const { states, counterexample } = search(rules.SOUND, EXPIRY, { workers: 2 });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(4_000);
  });

  test('when one of three workers is killed and permits expire', LONG, () => {
    const { states, counterexample } = search(rules.SOUND, EXPIRY);
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(40_000);
  });

  test('when permits expire beside a request of others, with two workers', LONG, () => {
    const left = { others: 1, ...EXPIRY };
    const { states, counterexample } = search(rules.SOUND, left, { workers: 2 });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(10_000);
  });

  test.each<[string, Accidents, number]>([
    ['and its header lags', { turn: 1 }, 4_500],
    ['and a worker is killed', { turn: 1, crash: 1 }, 9_000],
  ])('in each of two months, when the month turns %s', LONG, (_what, left, statesAtLeast) => {
    // The store's clock is behind the service's, then ahead of it.
    for (const now of [Date.UTC(2030, 0, 15), Date.UTC(2030, 1, 2)]) {
      const { states, counterexample } = search(rules.SOUND, left, { now });
      expect(counterexample).toBeNull();
      expect(states).toBeGreaterThan(statesAtLeast);
    }
  });

  test('when the service takes back what others spent, and usage falls', LONG, () => {
    const left = { others: 1, correction: 1, glance: 3, rest: 2 };
    const { states, counterexample } = search(rules.SOUND, left, { workers: 2 });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(1_000);
  });

  test("when the store's clock is a month ahead of the service's", () => {
    const { states, counterexample } = search(
      rules.SOUND,
      { time: 3 },
      { workers: 2, now: Date.UTC(2030, 1, 15) },
    );
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(1_000);
  });

  test('with one of ours beyond it at most, while others send three beside those in flight', () => {
    const { states, counterexample } = search(rules.KEEPS_QUARTER, { others: 3 });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(500);
  });

  test('when one answer is dated in the next month, which has not begun', () => {
    const { states, counterexample } = search(rules.SOUND, { lie: 1 });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(1_000);
  });

  test('when one worker asks and another looks for an own domain that is billed', LONG, () => {
    const left = { look: 5, row: 1, time: 3 };
    const { states, counterexample } = search(rules.SOUND, left, { workers: 2, own: 'billed' });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(10_000);
  });

  test.each<[SmallWorld['own'], Accidents]>([
    ['free', { look: 4, row: 4, time: 2 }],
    ['billed', { look: 4, row: 1, time: 3, crash: 1 }],
    ['billed', { look: 4, row: 1, time: 2, loss: 1, others: 1 }],
  ])('when looks are %s, with %j', LONG, (own, left) => {
    const { states, counterexample } = search(rules.SOUND, left, { workers: 2, own });
    expect(counterexample).toBeNull();
    expect(states).toBeGreaterThan(10_000);
  });

  test('when the ledger loses power after every exchange was on disk', () => {
    const left = { crash: 1, powerCut: 1 };
    const { counterexample } = search(rules.SOUND, left, { hasDisk: true });
    expect(counterexample).toBeNull();
  });
});

describe('the search catches a ledger', LONG, () => {
  const LOOKING = { workers: 2, own: 'billed' } as const;
  const MORE_THAN_FOUR = /^(5 may be ours|5 billed to us|\d may be ours and [1-9] are others')/;
  test.each<[string, rules.LedgerRules, Accidents, Terms, RegExp]>([
    ['that refunds a request that timed out', rules.REFUNDS_TIMEOUTS, { loss: 1 }, {}, MORE_THAN_FOUR],
    ['that gives back permits that expired', rules.EXPIRES_BACK, { crash: 1, time: 2 }, {}, MORE_THAN_FOUR],
    ['that keeps no quarter', rules.KEEPS_NO_QUARTER, { others: 3 }, {}, /^2 of ours beyond the limit$/],
    ['that checks, then increments', rules.CHECKS_THEN_INCREMENTS, {}, {}, MORE_THAN_FOUR],
    ['that believes the usage header', rules.TRUSTS_HEADER, {}, {}, MORE_THAN_FOUR],
    [
      'that grants before it is on disk',
      rules.NOT_YET_ON_DISK,
      { crash: 1, powerCut: 1 },
      { hasDisk: true },
      MORE_THAN_FOUR,
    ],
    [
      'that takes the month from a worker',
      rules.MONTH_OF_WORKER,
      {},
      { now: Date.UTC(2030, 1, 2) },
      MORE_THAN_FOUR,
    ],
    [
      'that begins a month at zero',
      rules.MONTH_FROM_ZERO,
      { turn: 1 },
      { now: Date.UTC(2030, 1, 2) },
      MORE_THAN_FOUR,
    ],
    [
      "that asks for the next month by the store's clock",
      rules.BELIEVES_STORE_CLOCK,
      { time: 3 },
      { now: Date.UTC(2030, 1, 2) },
      MORE_THAN_FOUR,
    ],
    ['that believes every fall of the usage', rules.FALLS_AT_ONCE, { others: 2 }, {}, MORE_THAN_FOUR],
    [
      'that lets its own count fall',
      rules.OWN_COUNT_FALLS,
      { loss: 1, glance: 3, rest: 2 },
      { workers: 1 },
      MORE_THAN_FOUR,
    ],
    ['that opens a month for one answer', rules.BELIEVES_ONE_ANSWER, { lie: 1 }, {}, MORE_THAN_FOUR],
    [
      'that attributes our requests in flight to others',
      rules.FORGETS_HELD,
      {},
      {},
      /^limit reported as reached after [0-3] of 4$/,
    ],
    [
      'that takes looks for free without proof',
      rules.FREE_WITHOUT_PROOF,
      { look: 5 },
      LOOKING,
      MORE_THAN_FOUR,
    ],
    [
      'that proves a look by the first reading that is no higher',
      rules.PROVES_AT_ONCE,
      { look: 5, row: 1 },
      LOOKING,
      MORE_THAN_FOUR,
    ],
    [
      'that allows for requests that the header does not show yet',
      rules.ALLOWS_FOR_UNSEEN,
      { look: 5, row: 1, time: 3 },
      LOOKING,
      MORE_THAN_FOUR,
    ],
  ])('%s', (_who, by, left, options, broken) => {
    const { counterexample } = search(by, left, options);
    expect(counterexample?.broken).toMatch(broken);
  });
});

/**
 * Others on the same token, at up to three times our pace: one of our requests at most is billed
 * beyond what the settings allow, and the run's overage is the service's count of them, up to one.
 * The header is exact when the service accepts a request, or when it answers.
 */
import { describe, expect, test } from 'vitest';
import { createDice } from '../chaos/dice.js';
import { exchangeRequest } from '../engine/contract/run-settings.js';
import { addRun, exchange, ModelWorld, open } from './ledger-model.js';

const QUOTA = 200;
const MONTH = '2030-01-01';

interface Terms {
  /** Requests of others for each of ours. */
  readonly pace: number;
  readonly atOnce: number;
  /** Requests beyond the quota that `--max-cost` allows; null without a plan. */
  readonly maxOverageRequests: number | null;
  readonly isShownAtAnswer: boolean;
}

interface Sent {
  readonly permit: string;
  readonly endsAt: number;
  readonly shownAtAccept: number;
}

/** A run until nothing more is granted to it: ours beyond the quota, and those it reports. */
function spend(terms: Terms, keepsQuarter = true) {
  const { pace, atOnce, maxOverageRequests } = terms;
  const dice = createDice(JSON.stringify(terms));
  const world = new ModelWorld();
  world.keepsQuarter = keepsQuarter;
  const paid = { plan: 'paid', overage: 1_000, maxOverageRequests } as const;
  addRun(world, 'run', { account: 'a', ...(maxOverageRequests === null ? {} : paid) });
  let now = Date.UTC(2030, 0, 15);
  open(world, 'a', { rate: null, burst: 1 }, now);
  const inFlight: Sent[] = [];
  let serial = 0;
  let total = 0;
  let due = 0;
  let ours = 0;
  let beyond = 0;
  const call = (answered: Sent | null) => {
    const usage = answered && (terms.isShownAtAnswer ? total : answered.shownAtAccept);
    const take = Array.from({ length: atOnce - inFlight.length }, () => {
      serial += 1;
      world.claims.set(`key-${serial}`, { worker: 'w', permit: null });
      return { permit: `permit-${serial}`, key: `key-${serial}` };
    });
    const isBeyond = usage !== null && usage > QUOTA;
    const { permits, state } = exchange(
      world,
      exchangeRequest({
        account: 'a',
        worker: 'w',
        run: 'run',
        settle: answered
          ? [{ permit: answered.permit, as: 'billed', period: MONTH, ...(isBeyond && { isBeyond }) }]
          : [],
        reading: usage === null ? null : { quota: QUOTA, usage, period: MONTH },
        isConfirmed: answered !== null,
        take,
      }),
      now,
    );
    for (const { permit, answer } of permits) {
      if (answer !== 'granted') continue;
      total += 1;
      ours += 1;
      if (total > QUOTA) beyond += 1;
      inFlight.push({ permit, endsAt: now + dice.between(50, 150), shownAtAccept: total });
      for (due += pace; due >= 1; due -= 1) total += 1;
    }
    return state;
  };
  let state = call(null);
  while (inFlight.length > 0) {
    inFlight.sort((one, other) => one.endsAt - other.endsAt);
    const answered = inFlight.shift() ?? null;
    now = Math.max(now, answered?.endsAt ?? 0);
    state = call(answered);
  }
  return { ours, beyond, reported: state.run?.overageBilled ?? 0, total };
}

const ALL: readonly Terms[] = [0, 0.1, 1, 3].flatMap((pace) =>
  [1, 8, 64].flatMap((atOnce) =>
    [null, 0, 5].flatMap((maxOverageRequests) =>
      [false, true].map((isShownAtAnswer) => ({ pace, atOnce, maxOverageRequests, isShownAtAnswer })),
    ),
  ),
);

describe('with others on the same token', () => {
  test.each(ALL)(
    '$pace for each of ours, $atOnce at once, $maxOverageRequests beyond the quota, shown at the answer: $isShownAtAnswer',
    (terms) => {
      const { beyond, reported, total, ours } = spend(terms);
      expect(beyond).toBeLessThanOrEqual((terms.maxOverageRequests ?? 0) + 1);
      expect(Math.abs(reported - beyond), `${reported} reported, ${beyond} beyond`).toBeLessThanOrEqual(1);
      expect(total).toBeGreaterThanOrEqual(QUOTA);
      if (terms.pace === 0)
        expect([ours, reported]).toEqual([QUOTA + (terms.maxOverageRequests ?? 0), beyond]);
    },
  );

  test('a ledger that keeps no quarter is caught', () => {
    const terms = { pace: 1, atOnce: 64, maxOverageRequests: 0, isShownAtAnswer: false };
    expect(spend(terms, false).beyond).toBeGreaterThan(10);
  });
});

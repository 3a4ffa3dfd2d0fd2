/** A month that turns, over days, with services and stores whose dates and headers are off. */
import { expect, test } from 'vitest';
import { periodNamed, turnOf } from '../../src/ledger/period.js';
import { exchangeRequest } from '../engine/contract/run-settings.js';
import { CASES, sampleOf } from '../support/properties.js';
import { addRun, exchange, ModelWorld, open } from './ledger-model.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TURN_AT = Date.UTC(2030, 1, 1);
const QUOTA = 200;

interface Terms {
  readonly plan: 'free' | 'paid';
  readonly overage: number;
  /** Whether nothing is asked for from half a day before the turn to a day and a half after it. */
  readonly isIdle: boolean;
  readonly usedBefore: number;
  readonly resetsLateMs: number;
  /** How far every other answer of the service is ahead. */
  readonly aheadMs: number;
  readonly storeMs: number;
  readonly usage: 'shown' | 'jumps' | 'missing';
}

/** From two days before the turn to six days after it, four at once, three times an hour. */
function live({ plan, overage, isIdle, usedBefore, resetsLateMs, aheadMs, storeMs, usage }: Terms) {
  const world = new ModelWorld();
  const quotaCap = usage === 'missing' ? QUOTA : null;
  addRun(world, 'run', { account: 'a', plan, overage, quotaCap });
  let now = TURN_AT - 2 * DAY_MS;
  open(world, 'a', { rate: null, burst: 1 }, now + storeMs);
  const billed: [number, number] = [usedBefore, 0];
  let serial = 0;
  /** Answers from the first that may name the new month until the ledger is in it. */
  let inTurn = 0;
  let period: string | null = null;

  const call = (some: Partial<Parameters<typeof exchangeRequest>[0]>) => {
    const turn = turnOf(period, 'month', now + storeMs);
    const request = exchangeRequest({
      account: 'a',
      worker: 'w',
      run: 'run',
      isConfirmed: false,
      turn,
      ...some,
    });
    const answer = exchange(world, request, now + storeMs);
    period = answer.state.period;
    return answer.permits.filter((each) => each.answer === 'granted');
  };

  function settle(permit: string): void {
    serial += 1;
    const month = now >= TURN_AT + resetsLateMs ? 1 : 0;
    const isRefused = plan === 'free' && billed[month] >= QUOTA;
    if (!isRefused) billed[month] += 1;
    if (period === '2030-01-01' && now + Math.max(storeMs, 20 * HOUR_MS) >= TURN_AT) inTurn += 1;
    const date = now + (serial % 2) * aheadMs;
    const shown = usage === 'jumps' && serial % 97 === 0 ? 90_000 : billed[month];
    const named = periodNamed(date, 'month', { now: now + storeMs, behindMs: 0, period }, false);
    const header = usage === 'missing' ? { quota: null, usage: null } : { quota: QUOTA, usage: shown };
    const isBeyond = header.usage !== null && header.usage > QUOTA;
    call({
      settle: [{ permit, as: isRefused ? 'free' : 'billed', period: named, ...(isBeyond && { isBeyond }) }],
      reading: { ...header, period: named, date },
      refusedForQuota: isRefused,
      isConfirmed: !isRefused,
    });
  }

  for (; now < TURN_AT + 6 * DAY_MS; now += 20 * MINUTE_MS) {
    if (isIdle && now >= TURN_AT - DAY_MS / 2 && now < TURN_AT + 1.5 * DAY_MS) continue;
    const take = [0, 1, 2, 3].map((at) => {
      world.claims.set(`key-${now}-${at}`, { worker: 'w', permit: null });
      return { permit: `permit-${now}-${at}`, key: `key-${now}-${at}` };
    });
    for (const { permit } of call({ take }).reverse()) settle(permit);
  }
  const overageBilled = billed.reduce((sum, count) => sum + Math.max(0, count - QUOTA), 0);
  return { billed, overageBilled, inTurn, reported: world.overageBilled.get('run') ?? 0, period };
}

const LATE_MS = [0, 20 * MINUTE_MS, HOUR_MS, 8 * HOUR_MS];
const SERVERS_MS = [0, 3 * MINUTE_MS, 20 * HOUR_MS, -20 * HOUR_MS, -30 * DAY_MS, 30 * DAY_MS];
const each =
  <Name extends keyof Terms>(name: Name, values: readonly Terms[Name][]) =>
  (terms: Partial<Terms>) =>
    values.map((value): Partial<Terms> => ({ ...terms, [name]: value }));
const ALL = [{}]
  .flatMap(each('plan', ['free', 'paid']))
  .flatMap((terms) => each('overage', terms.plan === 'free' ? [0] : [0, 50])(terms))
  .flatMap(each('isIdle', [false, true]))
  .flatMap(each('usedBefore', [0, 150]))
  .flatMap(each('resetsLateMs', LATE_MS))
  .flatMap(each('aheadMs', SERVERS_MS))
  .flatMap(each('storeMs', [0, 3 * DAY_MS, -3 * DAY_MS]))
  .flatMap(each('usage', ['shown', 'jumps', 'missing'])) as Terms[];

test('whatever clocks and headers say, no month is billed beyond its limit but for the requests that ask', {
  ...CASES,
  timeout: 600_000,
}, () => {
  const bad: string[] = [];
  for (const terms of sampleOf(sampleOf(ALL, 1), 1)) {
    const { billed, overageBilled, inTurn, reported, period } = live(terms);
    const { usage, storeMs, aheadMs, overage, usedBefore } = terms;
    const problems: string[] = [];
    // Without a header nobody knows what was used before.
    const isKnown = usage !== 'missing' || usedBefore === 0;
    if (isKnown && Math.max(...billed) > QUOTA + overage + 2) problems.push('beyond the limit');
    const isNear = storeMs === 0 && Math.abs(aheadMs) <= DAY_MS;
    if (isNear && usage !== 'jumps' && billed[1] < 20) problems.push('does not open');
    // A store that is days ahead has a new account in the next month already: both are one to it.
    const isOne = storeMs > 2 * DAY_MS;
    if (usage === 'shown' && !isOne && Math.abs(reported - overageBilled) > inTurn + 2)
      problems.push(`${reported} of ${overageBilled} reported, ${inTurn} in the turn`);
    if (problems.length > 0) bad.push(`${problems.join(', ')}: ${billed} ${period} ${JSON.stringify(terms)}`);
  }
  expect(bad).toEqual([]);
});

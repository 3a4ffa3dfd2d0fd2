/** What looks come to in numbers: engines are compared with this model by the ledger's contract. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exchangeRequest } from '../engine/contract/run-settings.js';
import { CASES, casesOf } from '../support/properties.js';
import { addRun, exchange, ModelWorld, open } from './ledger-model.js';

const QUIET_MS = 120_000;
const MONTH = '2030-01-01';

/** An account whose looks, and requests of a run, are answered at once, with a header that lags. */
function createStory(isBilled: boolean, lagMs = 0) {
  const world = new ModelWorld();
  addRun(world, 'run', { account: 'a', plan: 'paid' });
  let now = Date.UTC(2030, 0, 15);
  let serial = 0;
  /** When each request was billed, ours and others'. */
  const billed: number[] = [];
  const service = {
    isBilled,
    bill: () => void billed.push(now),
    get usage() {
      return billed.length;
    },
    /** In the header of the next answer: not evenly late. */
    get shown() {
      return billed.filter((at) => at <= now - (lagMs * (serial % 3)) / 2).length;
    },
  };
  open(world, 'a', { rate: null, burst: 1 }, now);
  const call = (more: Partial<Parameters<typeof exchange>[1]>) =>
    exchange(world, exchangeRequest({ account: 'a', worker: 'w', run: 'run', ...more }), now);
  const answered = (permit: string) => {
    const reading = { quota: 1_000, usage: service.shown, period: MONTH };
    return call({ settle: [{ permit, as: 'billed', period: MONTH }], reading }).state;
  };
  return {
    service,
    rest: (ms = QUIET_MS) => {
      now += ms;
    },
    /** null if no look is granted now. */
    tryLook() {
      serial += 1;
      const permit = `look-${serial}`;
      const { look } = call({ look: { permit, own: 'service own', key: null, quotaCap: null } });
      if (look?.answer !== 'granted') return null;
      if (service.isBilled) service.bill();
      return answered(permit);
    },
    look() {
      const state = this.tryLook();
      if (state === null) throw new Error('no look is granted');
      return state;
    },
    request() {
      serial += 1;
      const permit = `request-${serial}`;
      world.claims.set(permit, { worker: 'w', permit: null });
      expect(call({ take: [{ permit, key: permit }] }).permits[0]?.answer).toBe('granted');
      service.bill();
      return answered(permit);
    },
  };
}

test('looks whose proof is withdrawn count once, also where a reading showed them before', () => {
  const story = createStory(false);
  for (let look = 0; look < 3; look += 1) {
    story.look();
    story.rest();
  }
  story.service.isBilled = true;
  story.request();
  // Beside a request of ours it is not judged: what it cost seems to be others'.
  expect(story.look()).toMatchObject({ sent: 1, others: 1, own: { isProven: true } });
  story.rest();
  expect(story.look()).toMatchObject({ sent: 3, others: 0, own: { isProven: false, booked: 2 } });
  expect(story.service.usage).toBe(3);
});

test('a header that does not lag shows a wrong own domain by the second look', () => {
  const story = createStory(true);
  expect(story.look().own).toMatchObject({ rises: 0 });
  story.rest();
  const { sent, others, own } = story.look();
  expect({ sent, others, own }).toMatchObject({ sent: 2, others: 0, own: { rises: 1, isProven: false } });
});

const happenings = fc.array(
  fc.constantFrom('look', 'look', 'look', 'request', 'others', 'rest', 'rest', 'rest', 'change', 'day'),
  { minLength: 20, maxLength: 150 },
);

const lag = fc.constantFrom(0, 0, 30_000, 90_000, 120_000);

test('whatever the service bills, and others spend, the ledger counts what the service does', CASES, () => {
  let proofs = 0;
  let withdrawals = 0;
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), lag, happenings, (isBilled, mayChange, lagMs, events) => {
      const story = createStory(isBilled, lagMs);
      const { service } = story;
      const ours = { requests: 0, billed: 0, free: 0 };
      let triesOfDay = 0;
      let wasProven = false;
      for (const event of events) {
        if (event === 'rest') story.rest(QUIET_MS / 2);
        else if (event === 'others') service.bill();
        else if (event === 'change' && mayChange) service.isBilled = !service.isBilled;
        else if (event === 'day') {
          story.rest(86_400_000);
          triesOfDay = 0;
        }
        if (event !== 'look' && event !== 'request') continue;
        const state = event === 'look' ? story.tryLook() : story.request();
        if (state === null) continue;
        if (event === 'request') ours.requests += 1;
        else ours[service.isBilled ? 'billed' : 'free'] += 1;
        const { sent, others, free, own } = state;
        // Never less than the service, and no more than what may be given back.
        expect(sent + others).toBeGreaterThanOrEqual(service.shown);
        expect(sent + others).toBeLessThanOrEqual(service.usage + ours.free);
        if (own.isProven && !wasProven) proofs += 1;
        if (!own.isProven && wasProven) withdrawals += 1;
        if (event === 'look' && !wasProven) triesOfDay += 1;
        wasProven = own.isProven;
        if (mayChange) continue;
        expect(triesOfDay).toBeLessThanOrEqual(3);
        // Ours are exact, whatever others spend; theirs as far as the header shows them.
        const total = lagMs === 0 ? service.usage : sent + others;
        if (isBilled)
          expect({ sent, free, total: sent + others }).toEqual({
            sent: ours.requests + ours.billed,
            free: 0,
            total,
          });
        else if (own.isProven) expect({ sent, total: sent + others }).toEqual({ sent: ours.requests, total });
      }
    }),
    { numRuns: casesOf(2_000) },
  );
  expect(proofs).toBeGreaterThan(casesOf(100));
  expect(withdrawals).toBeGreaterThan(casesOf(20));
});

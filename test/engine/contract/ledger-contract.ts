/** Contract of the ledger: engines are compared with the model, and promises tested by name. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NewOutcome } from '../../../src/core/outcome.js';
import { ALL_SPENDING, freshnessOf } from '../../../src/engine/stores/run-store.js';
import type { ExchangeRequest, LedgerState, SettledAs, Settlement } from '../../../src/ledger/ledger.js';
import { CASES, casesOf } from '../../support/properties.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';
import { LEDGER_LIMIT_HISTORIES } from './ledger-limit-scenarios.js';
import { LEDGER_LOOK_HISTORIES } from './ledger-look-scenarios.js';
import { type Operation, operations, turns } from './ledger-operations.js';
import { ask, type LedgerStep, stepsOf } from './ledger-script.js';
import { LEDGER_SPENDING_HISTORIES } from './ledger-spending-scenarios.js';
import { createLedgerTwin, type LedgerTwin } from './ledger-twin.js';
import { exchangeRequest, runSettings } from './run-settings.js';

/** How many random histories a test run compares; a fast engine can afford more. */
const HISTORIES = 60;

const DAY_MS = 86_400_000;
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const EXCHANGE = ask({ permitMs: 6_000 });
const START: Operation = {
  type: 'start',
  account: 0,
  key: 0,
  settings: { plan: 'free', quotaCap: null, overage: 0, maxRequests: null, maxOverageRequests: null },
};

/** A permit given back after its run completed and another run of the same key began. */
const GIVEN_BACK_LATE: Operation[] = [
  START,
  { type: 'claim', worker: 0, keys: [0] },
  { ...EXCHANGE, take: [0] },
  { type: 'end', run: 0, status: 'completed' },
  START,
  { ...EXCHANGE, run: null, settle: [{ permit: 0, as: 'free' }] },
  EXCHANGE,
];

/** Equal except for the last digits of a fraction. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item)]));
}

function seenIn(state: LedgerState): ExchangeRequest['seen'] {
  const { epoch, version, period, sent, held, others } = state;
  return { epoch, version, period, spent: sent + held, others };
}

export function describeLedger(name: string, open: OpenEngineUnderTest, numHistories = HISTORIES): void {
  describe(`${name}: ledger`, () => {
    const subject = engineOfSuite(open);
    const { clock } = subject;
    let counted = 0;

    /** A live run in an account of its own, whose worker holds the claims on `keys`. */
    async function begin(keys: number, settings: Parameters<typeof runSettings>[0] = {}) {
      counted += 1;
      const account = `named-${counted}`;
      const { engine } = subject;
      const run = await engine.runs.start({
        id: `${account}-run`,
        key: `${account}-key`,
        label: { host: 'etl-1', name: account },
        settings: runSettings({ account, ...settings }),
      });
      const worker = `${account}-worker`;
      const names = Array.from({ length: keys }, (_, index) => `${account}:u:domain:${index}.example`);
      await engine.outcomes.claim(worker, names, freshnessOf(run));
      const exchange = (some: Partial<ExchangeRequest>, outcomes?: readonly NewOutcome[]) =>
        engine.ledger.exchange(exchangeRequest({ account, worker, run: run.id, ...some }), outcomes);
      const wanted = names.map((key, index) => ({ permit: `${account}-permit-${index}`, key }));
      /** Settlements of permits as they were wanted. */
      const settle = (as: SettledAs, from = 0, to = from + 1, more: Partial<Settlement> = {}) =>
        wanted.slice(from, to).map(({ permit }): Settlement => ({ permit, as, ...more }));
      return { account, run, names, wanted, exchange, settle };
    }
    const answer = (key = '', packed: Buffer | null = null): NewOutcome => {
      const status = packed === null ? 'not_found' : 'matched';
      return { key, status, packed, billed: true, freshMs: null };
    };
    const answers = ({ permits }: { permits: readonly { answer: string }[] }) =>
      permits.map(({ answer }) => answer);

    test('answers that come with their settlements are stored first, in the same step', async () => {
      const { run, wanted, names, exchange, settle } = await begin(3);
      const { engine } = subject;
      await exchange({ reading: { quota: 100, usage: 0, period: null } });
      await exchange({ take: wanted.slice(0, 1) });
      await exchange({ settle: settle('billed') });
      await exchange({ take: wanted.slice(1) });
      const kept = [answer(names[1], Buffer.from([0, 255, 10])), answer(names[2], null)];
      const { recordedAt, state } = await exchange({ settle: settle('billed', 1, 3) }, kept);
      expect([state.sent, state.held]).toEqual([3, 0]);
      const [, second, third] = await engine.outcomes.read(names, freshnessOf({ ...run, asOf: state.now }));
      expect(second).toMatchObject({ status: 'matched', fetchedAt: recordedAt });
      expect(Buffer.from(second?.packed ?? [])).toEqual(Buffer.from([0, 255, 10]));
      expect(third).toMatchObject({ status: 'not_found', packed: null, fetchedAt: recordedAt });
      // Their claims are gone, that of the other is not.
      const freshness = { ...freshnessOf(run), maxAgeMs: 0, maxAgeMissingMs: 0, asOf: state.now + 60_000 };
      const claims = await engine.outcomes.claim('another', names, freshness);
      expect(claims).toEqual(['busy', 'ours', 'ours']);
    });

    test('answers that an exchange stores again do not replace later ones', async () => {
      const { run, names, exchange } = await begin(1);
      const { outcomes } = subject.engine;
      const later = await outcomes.record([answer(names[0], Buffer.from('later'))]);
      const { recordedAt } = await exchange({}, [
        { ...answer(names[0], Buffer.from('earlier')), ageMs: 3_600_000 },
      ]);
      expect(recordedAt).toBeGreaterThanOrEqual(later);
      const [found] = await outcomes.read(names, freshnessOf(run));
      expect([found?.fetchedAt, Buffer.from(found?.packed ?? []).toString()]).toEqual([later, 'later']);
      expect((await exchange({})).recordedAt).toBeNull();
    });

    /** Applies the steps to store and model, which must agree; returns the store's last answer. */
    async function follow(twin: LedgerTwin, steps: readonly LedgerStep[]): Promise<unknown> {
      let last: unknown;
      for (const { operation, answers: expected } of steps) {
        const both = await twin.apply(operation);
        expect(rounded(both.store)).toEqual(rounded(both.model));
        expect(both.answers).toEqual(expected);
        last = both.store;
      }
      return last;
    }
    /** As many random histories, in which store and model must agree. */
    async function compare(
      name: string,
      histories: fc.Arbitrary<Operation[]>,
      options: fc.Parameters<[Operation[]]>,
    ): Promise<void> {
      let count = 0;
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          count += 1;
          const twin = createLedgerTwin(subject.engine, clock, `${name}-${count}`, { isOneEach: true });
          await subject.engine.runs.resume(ALL_SPENDING.owner);
          const shown = [0, 1].map((account): Operation => ({ type: 'show', account }));
          for (const operation of [...history, ...shown]) {
            const both = await twin.apply(operation);
            expect(rounded(both.store)).toEqual(rounded(both.model));
          }
        }),
        options,
      );
      await subject.engine.runs.resume(ALL_SPENDING.owner);
    }

    test('the ledger answers like the model while a month turns', CASES, () =>
      compare('turn', turns, { numRuns: casesOf(numHistories / 5) }),
    );

    test('the ledger answers like the model over random histories', CASES, () =>
      compare('history', operations, { numRuns: casesOf(numHistories), examples: [[GIVEN_BACK_LATE]] }),
    );

    test.each([...LEDGER_LIMIT_HISTORIES, ...LEDGER_SPENDING_HISTORIES, ...LEDGER_LOOK_HISTORIES])(
      '$title',
      async ({ title, steps }) => {
        await follow(createLedgerTwin(subject.engine, clock, title.replaceAll(/[^a-z]+/g, '-')), steps);
      },
    );

    test('any number of workers together take no more than a quarter of the limit', async () => {
      const { wanted, exchange } = await begin(30, { quotaCap: 30 });
      const given = await Promise.all(wanted.map((permit) => exchange({ take: [permit] })));
      expect(given.flatMap(answers).filter((answer) => answer === 'granted')).toHaveLength(7);
      expect(given.every(({ state }) => state.sent + state.held + state.others <= 7)).toBe(true);
    });

    test('an exchange reports the number of requests in the last full second', async () => {
      const { wanted, exchange, account, settle } = await begin(3);
      await exchange({ take: wanted });
      const settled = await exchange({ settle: settle('billed', 0, 3) });
      clock.advance(1_000);
      const later = await subject.engine.ledger.show(account);
      const seconds = Math.floor(later.now / 1_000) - Math.floor(settled.state.now / 1_000);
      expect(settled.state.pace.acceptedThisSecond).toBe(3);
      expect(later.pace.acceptedLastSecond).toBe(seconds === 1 ? 3 : 0);
    });

    test('after a reset the account starts anew; a worker that remembers more writes it back, and spending rests', async () => {
      const { account, wanted, exchange } = await begin(4);
      await exchange({ reading: { quota: 100, usage: 0, period: '2030-01-01' } });
      const before = await exchange({ take: wanted.slice(0, 2) });
      await subject.engine.ledger.reset(account);
      const after = await subject.engine.ledger.show(account);
      expect(after.epoch).not.toBe(before.state.epoch);
      expect([after.sent, after.held, after.quota]).toEqual([0, 0, null]);
      const restored = await exchange({ seen: seenIn(before.state), take: wanted.slice(2) });
      expect(restored.state).toMatchObject({ sent: 2, held: 0, period: '2030-01-01' });
      expect(restored.state.restsUntil).toBe(restored.state.now + 60_000);
      expect(answers(restored)).toEqual(['denied', 'denied']);
    });

    test('a run holds no permits after a reset', async () => {
      const { account, wanted, exchange, run } = await begin(2, { maxRequests: 9, maxOverageRequests: 9 });
      expect((await exchange({ take: wanted })).state.run).toMatchObject({ requests: 2, held: 2 });
      await subject.engine.ledger.reset(account);
      const { run: spending } = await subject.engine.ledger.show(account, run.id);
      expect(spending).toMatchObject({ requests: 2, held: 0, overageInFlight: 0 });
    });

    test('an account keeps its use by days until the next period begins', async () => {
      const { account, wanted, exchange, settle } = await begin(4);
      const { ledger } = subject.engine;
      const period = '2020-01-01';
      const used = ({ days }: LedgerState) => days.map((day) => day.used);
      expect((await ledger.show(account)).days).toEqual([]);
      const first = await exchange({ take: wanted, reading: { quota: 16, usage: 0, period } });
      expect(first.state.days).toEqual([{ day: dayOf(first.state.now), used: 0 }]);
      await exchange({ settle: settle('billed', 0, 1, { period }) });
      clock.advance(2 * DAY_MS);
      // What ran out counts on the day on which it is seen.
      expect(used(await ledger.show(account))).toEqual([1, 4]);
      const { state } = await exchange({ reading: { quota: 9, usage: 6, period } });
      expect(used(state)).toEqual([1, 6]);
      expect(state.days.map(({ day }) => day)).toEqual([dayOf(first.state.now), dayOf(state.now)]);
      clock.advance(-DAY_MS);
      expect(used((await exchange({ isConfirmed: true })).state)).toEqual([1, 6]);
      expect(used(await ledger.observe(account, { usage: 3 }))).toEqual([1, 3]);
      for (let days = 0; days < 65; days += 1) {
        clock.advance(DAY_MS);
        await exchange({});
      }
      const many = await ledger.show(account);
      expect([many.days.length, many.days[0]?.day]).toEqual([62, dayOf(many.now - 61 * DAY_MS)]);
      const next = await ledger.raise(account, { period: '2020-02-01', sent: 2, others: 1, quota: null });
      expect(next.days).toEqual([{ day: dayOf(next.now), used: 3 }]);
      await ledger.reset(account);
      expect((await ledger.show(account)).days).toEqual([]);
    });

    test('an account knows when the service last answered', async () => {
      const { account, wanted, exchange, settle } = await begin(3);
      const { ledger } = subject.engine;
      const answered = async (some: Parameters<typeof exchange>[0]) => {
        clock.advance(1_000);
        const { state } = await exchange({ isConfirmed: false, ...some });
        return state.answeredAt === state.now ? 'now' : state.answeredAt === null ? 'never' : 'before';
      };
      const lost = (at: number, period: string | null) => ({
        settle: settle('maybe_billed', at, at + 1, { period }),
      });
      expect(await answered({ take: wanted })).toBe('never');
      expect(await answered(lost(0, null))).toBe('never');
      expect(await answered(lost(1, '2020-01-01'))).toBe('now');
      expect(await answered(lost(2, null))).toBe('before');
      expect(await answered({ isConfirmed: true })).toBe('now');
      expect(await answered({ reading: { quota: 9, usage: null, period: null } })).toBe('now');
      expect(await answered({ refusedForQuota: true })).toBe('now');
      const { answeredAt } = await ledger.show(account);
      // A run that begins forgets nothing of it; a clock that was set back takes it along.
      expect((await ledger.open(account, { rate: null, burst: 1 })).answeredAt).toBe(answeredAt);
      clock.advance(-3_600_000);
      const back = await ledger.observe(account, {});
      expect(back.now - (back.answeredAt ?? 0)).toBeLessThan(60_000);
      await ledger.reset(account);
      expect((await ledger.show(account)).answeredAt).toBeNull();
    });

    test('imported spending only raises the sum, in the same period or a later one', async () => {
      counted += 1;
      const account = `raised-${counted}`;
      const { ledger } = subject.engine;
      const spent = { period: '2020-02-01', sent: 30, others: 5, quota: 50 };
      expect(await ledger.raise(account, spent)).toMatchObject(spent);
      expect(await ledger.raise(account, { ...spent, sent: 20, quota: 9 })).toMatchObject(spent);
      const more = { ...spent, sent: 20, others: 18, quota: null };
      expect(await ledger.raise(account, more)).toMatchObject({ sent: 30, others: 8, quota: 50 });
      const earlier = { ...spent, period: '2020-01-01', sent: 99 };
      expect(await ledger.raise(account, earlier)).toMatchObject({ period: '2020-02-01', sent: 30 });
      const next = { period: '2020-03-01', sent: 2, others: 1, quota: null };
      expect(await ledger.raise(account, next)).toMatchObject({ ...next, quota: 50 });
      expect(await ledger.accounts()).toContain(account);
      await ledger.reset(account);
      expect(await ledger.accounts()).not.toContain(account);
    });

    test('at the turn of the month overage is booked by the date of each answer, though clocks differ', async () => {
      const date = new Date(Date.now() + clock.offsetMs());
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      const [old, next] = [0, 1].map((later) => dayOf(Date.UTC(year, month + later)).slice(0, 7));
      // The store's clock is a minute behind the service's, which is in the next month.
      const aheadMs = Date.UTC(year, month + 1) - date.getTime() - 60_000;
      clock.advance(aheadMs);
      const twin = createLedgerTwin(subject.engine, clock, 'turn-of-month');
      const store = await follow(
        twin,
        stepsOf(`
        start, plan paid, overage 9, maxOverageRequests 9; read 3/5 ${old}
        take 0 1 2, before 3/5 -> 3 granted
        answer 0 4/5 ${old}; answer 1 5/5 ${old}; answer 2 1/5 ${next}; take 3 4 -> granted, denied
        answer 3 2/2 ${next}; take 5 0 1, before 2/2 -> 3 granted
        // By a server that is still in the old month.
        beyond 5 6/5 ${old}; answer 6 3/2 ${next}; lost 7; show 0`),
      );
      expect(store).toMatchObject({ period: `${next}-01`, others: 0, run: { overageBilled: 3 } });
      clock.advance(-aheadMs);
    });
  });
}

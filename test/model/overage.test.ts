/**
 * The overage that runs report always adds up to the service's bill: over random orders of free,
 * billed and lost answers, killed workers and turning months, two concurrent runs and a header that
 * does not lag.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWorld, exchange, type ModelWorld, open } from './ledger-model.js';

const ACCOUNT = 'account';
const QUOTA = 5;
const MONTHS = ['2030-01-01', '2030-02-01'] as const;
const TURN_AT = Date.UTC(2030, 1, 1);
const PERMIT_MS = 50_000;
const RUNS = [
  { id: 'run-0', maxOverageRequests: null },
  { id: 'run-1', maxOverageRequests: 3 },
] as const;

type Event =
  | { readonly type: 'ask'; readonly run: number; readonly permits: number }
  | { readonly type: 'answer'; readonly which: number; readonly as: 'billed' | 'free' | 'lost' | 'killed' }
  | { readonly type: 'settle' }
  | { readonly type: 'turn' };

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('ask' as const),
        run: fc.nat(1),
        permits: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constant('answer' as const),
        which: fc.nat(20),
        as: fc.constantFrom(
          'billed' as const,
          'billed' as const,
          'billed' as const,
          'free' as const,
          'lost' as const,
          'killed' as const,
        ),
      }),
    },
    { weight: 5, arbitrary: fc.constant({ type: 'settle' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'turn' as const }) },
  ),
  { minLength: 20, maxLength: 120 },
);

/** A service that bills whatever arrives, and the workers that call it. */
class Story {
  readonly ledger: ModelWorld = createWorld(() => 'epoch');
  now = TURN_AT - 2_000;
  month = 0;
  serial = 0;
  /** What the service counted in each month. */
  readonly billed = [0, 0];
  readonly out: string[] = [];
  outbox: { permit: string; as: 'billed' | 'free' | 'doubtful'; period: string | null }[] = [];
  reading: { usage: number; period: string } | null = null;
  /** The month of the last reading that the ledger received. */
  reportedMonth = 0;

  constructor() {
    for (const { id, maxOverageRequests } of RUNS)
      this.ledger.runs.set(id, {
        key: id,
        beatAt: Number.POSITIVE_INFINITY,
        status: 'running',
        settings: {
          account: ACCOUNT,
          plan: 'paid',
          quotaCap: null,
          overage: 100,
          maxRequests: null,
          maxOverageRequests,
        },
      });
    open(this.ledger, ACCOUNT, { rate: null, burst: 1 }, this.now);
    this.exchange(null, 0);
  }

  exchange(run: string | null, permits: number): void {
    const take = Array.from({ length: permits }, () => {
      this.serial += 1;
      const key = `key-${this.serial}`;
      this.ledger.claims.set(key, { worker: 'worker', permit: null });
      return { permit: `permit-${this.serial}`, key };
    });
    const answer = exchange(
      this.ledger,
      {
        account: ACCOUNT,
        worker: 'worker',
        run,
        seen: null,
        settle: this.outbox,
        reading: {
          quota: QUOTA,
          ...(this.reading ?? { usage: this.billed[this.month] ?? 0, period: this.today }),
        },
        heard: true,
        refusedForQuota: false,
        pace: null,
        take,
        permitMs: PERMIT_MS,
        mayHaveTurned: true,
        usageLagMs: 60_000,
      },
      this.now,
    );
    this.reportedMonth =
      (this.reading?.period ?? this.today) === this.today ? this.month : this.reportedMonth;
    this.outbox = [];
    this.reading = null;
    for (const { permit, answer: given } of answer.permits) if (given === 'granted') this.out.push(permit);
  }

  get today(): string {
    return MONTHS[this.month] ?? '';
  }

  answer(which: number, wanted: 'billed' | 'free' | 'lost' | 'killed'): void {
    // What is lost before the new month is known cannot be dated.
    const as = wanted === 'free' || this.reportedMonth === this.month ? wanted : 'billed';
    const [permit] = this.out.splice(which % this.out.length, 1);
    if (permit === undefined) return;
    if (as !== 'free') this.billed[this.month] = (this.billed[this.month] ?? 0) + 1;
    if (as === 'killed') return;
    const isDated = as === 'billed';
    this.outbox.push({ permit, as: as === 'lost' ? 'doubtful' : as, period: isDated ? this.today : null });
    if (isDated) this.reading = { usage: this.billed[this.month] ?? 0, period: this.today };
  }

  /**
   * Killed permits expire; lost or killed ones are reported before the month turns, because they
   * cannot be dated.
   */
  rest(): void {
    while (this.out.length > 0) this.answer(0, 'billed');
    this.exchange(null, 0);
    this.now += PERMIT_MS;
    this.exchange(null, 0);
  }

  turn(): void {
    if (this.month === 1) return;
    // Requests in flight are answered in the month that follows, if their answers are dated.
    for (const { as } of this.outbox) if (as === 'doubtful') return;
    if (this.ledger.permits.size > this.out.length + this.outbox.length) return;
    this.month += 1;
    this.now = TURN_AT + 1_000;
  }

  get bill(): number {
    return this.billed.reduce((sum, count) => sum + Math.max(0, count - QUOTA), 0);
  }

  overageOf(run: number): number {
    return this.ledger.overageBilled.get(RUNS[run]?.id ?? '') ?? 0;
  }
}

test('the overage of all runs is what the service bills, and a cap on it holds', () => {
  let overageSeen = 0;
  let turnsSeen = 0;
  fc.assert(
    fc.property(events, (happenings) => {
      const story = new Story();
      for (const event of happenings) {
        if (event.type === 'ask') story.exchange(RUNS[event.run]?.id ?? null, event.permits);
        else if (event.type === 'answer') story.answer(event.which, event.as);
        else if (event.type === 'settle') story.exchange(null, 0);
        else story.turn();
      }
      story.rest();
      overageSeen += story.bill;
      turnsSeen += story.month;
      expect(story.overageOf(0) + story.overageOf(1)).toBe(story.bill);
    }),
    { numRuns: 2_000 },
  );
  // A property that never met overage or a turn would prove nothing.
  expect(overageSeen).toBeGreaterThan(1_000);
  expect(turnsSeen).toBeGreaterThan(500);
});

test('alone, a run with a cap on overage never passes it, and uses it up fully', () => {
  fc.assert(
    fc.property(events, (happenings) => {
      const story = new Story();
      for (const event of happenings) {
        if (event.type === 'ask') story.exchange('run-1', event.permits);
        else if (event.type === 'answer') story.answer(event.which, event.as);
        else if (event.type === 'settle') story.exchange(null, 0);
        expect(story.overageOf(1)).toBeLessThanOrEqual(3);
      }
      story.rest();
      for (let more = 0; more < 20; more += 1) {
        story.exchange('run-1', 1);
        story.rest();
      }
      expect(story.overageOf(1)).toBe(3);
      expect(story.bill).toBe(3);
    }),
    { numRuns: 500 },
  );
});

test('beside a run without one, a run with a cap on overage never passes it', () => {
  let overageSeen = 0;
  fc.assert(
    fc.property(events, (happenings) => {
      const story = new Story();
      for (const event of happenings) {
        if (event.type === 'ask') story.exchange(RUNS[event.run]?.id ?? null, event.permits);
        else if (event.type === 'answer') story.answer(event.which, event.as);
        else if (event.type === 'settle') story.exchange(null, 0);
        expect(story.overageOf(1)).toBeLessThanOrEqual(3);
      }
      story.rest();
      expect(story.overageOf(1)).toBeLessThanOrEqual(3);
      overageSeen += story.overageOf(1);
    }),
    { numRuns: 2_000 },
  );
  expect(overageSeen).toBeGreaterThan(500);
});

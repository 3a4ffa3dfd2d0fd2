/**
 * The overage that runs report adds up to the service's bill, but for what is in flight while a
 * month turns: over random orders of free, billed and lost answers, killed workers, two concurrent
 * runs, servers and a store whose clocks differ, and a header that does not lag. No cap is passed.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exchangeRequest } from '../engine/contract/run-settings.js';
import { CASES, casesOf, share } from '../support/properties.js';
import { addRun, exchange, ModelWorld, open } from './ledger-model.js';

const ACCOUNT = 'account';
const QUOTA = 5;
const MONTHS = ['2030-01-01', '2030-02-01'] as const;
const TURN_AT = Date.UTC(2030, 1, 1);
const PERMIT_MS = 9 * 86_400_000;
const RUNS = [
  { id: 'run-0', maxOverageRequests: null },
  { id: 'run-1', maxOverageRequests: 3 },
] as const;

/** `late`: by a server that is still in the month before, where another one is not. */
type Answered = 'billed' | 'late' | 'free' | 'lost' | 'killed';

type Event =
  | { readonly type: 'ask'; readonly run: number; readonly permits: number }
  | { readonly type: 'answer'; readonly which: number; readonly as: Answered }
  | { readonly type: 'settle' }
  | { readonly type: 'turn' };

const SKEWS_MS = [1_000, -5_000, 60_000, -600_000, 800_000, -8 * 86_400_000, 8 * 86_400_000];
const skew = fc.constantFrom(...SKEWS_MS);

const type = <T extends Event['type']>(name: T) => fc.constant(name);
const ask = fc.record({ type: type('ask'), run: fc.nat(1), permits: fc.integer({ min: 1, max: 4 }) });
const answered = fc.constantFrom<Answered>('billed', 'billed', 'billed', 'late', 'free', 'lost', 'killed');
const answer = fc.record({ type: type('answer'), which: fc.nat(20), as: answered });
const settle = fc.record({ type: type('settle') });
const turn = fc.record({ type: type('turn') });
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(share(4, ask), share(8, answer), share(5, settle), share(1, turn)),
  { minLength: 20, maxLength: 120 },
);

/** A service that bills whatever arrives, and the workers that call it. */
class Story {
  readonly ledger = new ModelWorld();
  now = TURN_AT - 2_000;
  month = 0;
  serial = 0;
  readonly billed = [0, 0];
  /**
   * Requests in flight, each with the month in which it was sent, if the ledger knew that one; else
   * the service bills it in the month of its answer.
   */
  readonly out: { readonly permit: string; readonly knownMonth: number | null }[] = [];
  outbox: { permit: string; as: 'billed' | 'free' | 'maybe_billed'; period: string | null }[] = [];
  reading: { usage: number; period: string } | null = null;
  reportedMonth = 0;
  /**
   * Requests in flight when the month turned, those until the ledger was in the next one, and those
   * of servers that date them otherwise.
   */
  inTurn = 0;
  /** Of those, billed in the month before though they were sent in a ledger that had left it. */
  late = 0;

  constructor(readonly skewMs: number) {
    // What is booked adds up however many are in flight.
    this.ledger.keepsQuarter = false;
    for (const { id, maxOverageRequests } of RUNS)
      addRun(this.ledger, id, { account: ACCOUNT, plan: 'paid', overage: 100, maxOverageRequests });
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
      exchangeRequest({
        account: ACCOUNT,
        worker: 'worker',
        run,
        settle: this.outbox,
        reading: {
          quota: QUOTA,
          ...(this.reading ?? { usage: this.billed[this.month] ?? 0, period: this.today }),
        },
        take,
        permitMs: PERMIT_MS,
      }),
      this.now,
    );
    this.reportedMonth = MONTHS.indexOf((this.reading?.period ?? this.today) as (typeof MONTHS)[number]);
    this.outbox = [];
    this.reading = null;
    const knownMonth = this.reportedMonth === this.month ? this.month : null;
    for (const { permit, answer: given } of answer.permits)
      if (given === 'granted') this.out.push({ permit, knownMonth });
  }

  get today(): string {
    return MONTHS[this.month] ?? '';
  }

  answer(which: number, wanted: Answered): void {
    const [sent] = this.out.splice(which % this.out.length, 1);
    if (sent === undefined) return;
    const { permit, knownMonth } = sent;
    if (wanted === 'free') {
      this.outbox.push({ permit, as: 'free', period: null });
      return;
    }
    const isLost = wanted === 'lost' || wanted === 'killed';
    const isLate = wanted === 'late' && this.month === 1 && Math.abs(this.skewMs) < 900_000;
    const month = isLost ? (knownMonth ?? this.month) : isLate ? 0 : this.month;
    const usage = (this.billed[month] ?? 0) + 1;
    this.billed[month] = usage;
    if (!this.isTurning && isLate) this.late += 1;
    if (this.isTurning || isLate) this.inTurn += 1;
    if (isLost && wanted === 'killed') return;
    const period = isLost ? null : (MONTHS[month] ?? null);
    this.outbox.push({ permit, as: isLost ? 'maybe_billed' : 'billed', period });
    if (period !== null) this.reading = { usage, period };
  }

  rest(): void {
    while (this.out.length > 0) this.answer(0, 'billed');
    this.exchange(null, 0);
    this.now += PERMIT_MS;
    this.exchange(null, 0);
  }

  get isTurning(): boolean {
    return this.month === 1 && this.ledger.accounts.get(ACCOUNT)?.period !== MONTHS[1];
  }

  turn(): void {
    if (this.month === 1) return;
    this.inTurn = this.ledger.permits.size;
    this.month += 1;
    this.now = TURN_AT + this.skewMs;
  }

  get bill(): number {
    return this.billed.reduce((sum, count) => sum + Math.max(0, count - QUOTA), 0);
  }

  overageOf(run: number): number {
    return this.ledger.overageBilled.get(RUNS[run]?.id ?? '') ?? 0;
  }
}

function happen(story: Story, happenings: readonly Event[], check: () => void): void {
  for (const event of happenings) {
    if (event.type === 'ask') story.exchange(RUNS[event.run]?.id ?? null, event.permits);
    else if (event.type === 'answer') story.answer(event.which, event.as);
    else if (event.type === 'settle') story.exchange(null, 0);
    else story.turn();
    check();
  }
  story.rest();
}

test('the overage of all runs is what the service bills, but for what is in flight at a turn', CASES, () => {
  let overageSeen = 0;
  let turnsSeen = 0;
  fc.assert(
    fc.property(events, skew, (happenings, skewMs) => {
      const story = new Story(skewMs);
      happen(story, happenings, () => undefined);
      overageSeen += story.bill;
      turnsSeen += story.month;
      const difference = Math.abs(story.overageOf(0) + story.overageOf(1) - story.bill);
      expect(difference).toBeLessThanOrEqual(story.inTurn);
    }),
    { numRuns: casesOf(2_000) },
  );
  // A property that never met overage or a turn would prove nothing.
  expect(overageSeen).toBeGreaterThan(casesOf(1_000));
  expect(turnsSeen).toBeGreaterThan(casesOf(500));
});

test('alone, a run with a cap on overage never passes it, and uses it up unless a month turns', CASES, () => {
  fc.assert(
    fc.property(events, skew, (happenings, skewMs) => {
      const story = new Story(skewMs);
      const alone = happenings.map((event) => (event.type === 'ask' ? { ...event, run: 1 } : event));
      const expectCapped = () => expect(story.bill - story.late).toBeLessThanOrEqual(3);
      happen(story, alone, expectCapped);
      for (let more = 0; more < 20; more += 1) {
        story.exchange('run-1', 1);
        story.rest();
        expectCapped();
      }
      if (story.month === 0) expect([story.overageOf(1), story.bill]).toEqual([3, 3]);
    }),
    { numRuns: casesOf(500) },
  );
});

test('beside a run without one, a run with a cap on overage never passes it', CASES, () => {
  let overageSeen = 0;
  fc.assert(
    fc.property(events, skew, (happenings, skewMs) => {
      const story = new Story(skewMs);
      const expectCapped = () => expect(story.overageOf(1)).toBeLessThanOrEqual(3);
      happen(story, happenings, expectCapped);
      expectCapped();
      overageSeen += story.overageOf(1);
    }),
    { numRuns: casesOf(2_000) },
  );
  expect(overageSeen).toBeGreaterThan(casesOf(500));
});

/** News for the ledger between two exchanges, with the strictest of its readings and refusals. */
import type { NewOutcome } from '../core/outcome.js';
import type { ExchangeRequest, Reading, SettledAs, Settlement } from './ledger.js';

/** The account as one answer shows it. */
export interface Observation {
  readonly reading: Reading | null;
  /** The period of the answer's `Date`, if that is usable. */
  readonly period?: string | null;
  /** Set if its usage header exceeds the quota, whatever else was in flight. Default false. */
  readonly isBeyond?: boolean;
  /** True for a usable answer of a trusted address. */
  readonly isConfirmed: boolean;
}

/** For a request that was never sent. */
export const NO_OBSERVATION: Observation = { reading: null, isConfirmed: false };

/** A 429 for throughput, with the longest Retry-After. */
export interface PaceRefusal {
  readonly retryAfterMs: number | null;
}

/** An answer, and when it was fetched by the monotonic clock. */
export type Fetched = Pick<PaidAnswer, 'outcome' | 'fetchedAt'>;

/** Takes answers whose exchange has failed. */
export interface AnswerSpool {
  /** Resolves with the store's date once it has the answer. Rejects if that is on disk or lost. */
  record(answer: Fetched): Promise<number>;
  /** Writes answers to disk at once. Returns why they are not in the store. */
  leave(answers: readonly Fetched[]): Promise<Error>;
}

/** An answer from its arrival until it is recorded or left on disk, whichever comes first. */
export class PaidAnswer {
  readonly recorded: Promise<number>;
  /** `spool`: its exchange has failed. */
  state: 'exchange' | 'spool' | 'recorded' | 'left' = 'exchange';
  store: (at: number) => void = () => undefined;
  leave: (why: unknown) => void = () => undefined;

  /** `permit` is settled once the answer is recorded; empty if it had none. */
  constructor(
    readonly outcome: NewOutcome,
    readonly fetchedAt: number,
    readonly permit: string,
  ) {
    this.recorded = new Promise((resolve, reject) => {
      this.store = resolve;
      this.leave = reject;
    });
    const end = (state: 'recorded' | 'left') => () => {
      this.state = state;
    };
    this.recorded.then(end('recorded'), end('left'));
  }

  /** Records it through the spool instead of its exchange. */
  moveTo(spool: AnswerSpool): void {
    if (this.state !== 'exchange') return;
    this.state = 'spool';
    spool.record(this).then(this.store, this.leave);
  }
}

/** The contents of one exchange. */
export interface Batch
  extends Pick<ExchangeRequest, 'settle' | 'reading' | 'isConfirmed' | 'refusedForQuota'> {
  readonly paceRefusal: PaceRefusal | null;
  readonly answers: readonly PaidAnswer[];
}

const NOTHING = { isConfirmed: false, refusedForQuota: false, paceRefusal: null };

export class Outbox {
  #settlements = new Map<string, Settlement>();
  /** By period; '' for an unknown one. */
  #readings = new Map<string, Reading>();
  #rest: Omit<Batch, 'settle' | 'reading' | 'answers'> = NOTHING;
  #answers: PaidAnswer[] = [];

  get hasAnswers(): boolean {
    return this.#answers.length > 0;
  }

  get isEmpty(): boolean {
    const { size } = this.#settlements;
    return size + this.#answers.length + this.#readings.size === 0 && this.#rest === NOTHING;
  }

  add(answer: PaidAnswer): void {
    this.#answers.push(answer);
  }

  settle(permit: string, as: SettledAs, { period = null, isBeyond }: Observation): void {
    this.#settlements.set(permit, { permit, as, period, ...(isBeyond && { isBeyond }) });
  }

  note({ reading, isConfirmed }: Observation): void {
    if (reading !== null) {
      const period = reading.period ?? '';
      this.#readings.set(period, stricter(this.#readings.get(period), reading));
    }
    if (isConfirmed && !this.#rest.isConfirmed) this.#rest = { ...this.#rest, isConfirmed };
  }

  refuseQuota(): void {
    this.#rest = { ...this.#rest, refusedForQuota: true };
  }

  refusePace({ retryAfterMs }: PaceRefusal): void {
    const longest = Math.max(this.#rest.paceRefusal?.retryAfterMs ?? 0, retryAfterMs ?? 0) || null;
    this.#rest = { ...this.#rest, paceRefusal: { retryAfterMs: longest } };
  }

  /** Takes the news for one exchange, in which the ledger learns of one period, the earliest. */
  collect(): Batch {
    const [first = ''] = [...this.#readings.keys()].filter((period) => period !== '').sort();
    const later = new Map([...this.#readings].filter(([period]) => period > first));
    const settlements = [...this.#settlements.values()];
    const isLater = ({ period }: Settlement) => later.has(period ?? '');
    this.#settlements = new Map(settlements.filter(isLater).map((each) => [each.permit, each]));
    const isDue = ({ permit }: PaidAnswer) => !this.#settlements.has(permit);
    const batch = {
      settle: settlements.filter((each) => !isLater(each)),
      reading: this.#readings.get(first) ?? null,
      answers: this.#answers.filter(isDue),
      ...this.#rest,
    };
    this.#answers = this.#answers.filter((each) => !isDue(each));
    this.#readings = later;
    this.#rest = NOTHING;
    return batch;
  }
}

/** Merges two readings of a period: the higher usage and the newer quota. */
function stricter(one: Reading | undefined, other: Reading): Reading {
  if (one === undefined) return other;
  const higher = (one.usage ?? -1) > (other.usage ?? -1) ? one : other;
  const quota = other.quota ?? one.quota;
  return higher.quota === quota ? higher : { ...higher, quota };
}

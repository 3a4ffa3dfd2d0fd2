/**
 * News for the ledger, collected between two exchanges: permits to settle, with the answers that
 * came for them, readings, refusals. Of several readings of a period, and of several refusals, it
 * keeps the strictest.
 */
import type { NewOutcome } from '../core/outcome.js';
import type { ExchangeRequest, Reading, SettledAs, Settlement } from './ledger.js';

/** The observation of one answer about the account. */
export interface Observation {
  readonly reading: Reading | null;
  /** The period of the answer's `Date`, usage headers or not; absent or null: no usable date. */
  readonly period?: string | null;
  /** Its usage header shows it beyond the quota, whatever else was in flight. Default false. */
  readonly isBeyond?: boolean;
  /** It was a usable answer, and its address is trusted. */
  readonly isConfirmed: boolean;
}

/** The request was never sent. */
export const NO_OBSERVATION: Observation = { reading: null, isConfirmed: false };

/** A 429 for throughput. */
export interface PaceRefusal {
  /** The longest Retry-After among them; null when none had one. */
  readonly retryAfterMs: number | null;
}

/** An answer that the exchange records which settles its permit. */
export interface PaidAnswer {
  readonly outcome: NewOutcome;
  /** It is. `at`: the store's date of it. */
  recorded(at: number): void;
  /** Records it without an exchange. False: it cannot be, and its permit is not to be settled. */
  recordDirectly(): Promise<boolean>;
}

/** An answer on its way. */
export interface Carried {
  readonly permit: string;
  readonly answer: PaidAnswer;
  /** Once an exchange has failed: whether it is recorded without one. */
  direct: Promise<boolean> | null;
}

/** The contents of one exchange. */
export interface Batch
  extends Pick<ExchangeRequest, 'settle' | 'reading' | 'isConfirmed' | 'refusedForQuota'> {
  readonly paceRefusal: PaceRefusal | null;
  readonly carried: readonly Carried[];
}

const NOTHING = { isConfirmed: false, refusedForQuota: false, paceRefusal: null };

export class Outbox {
  #settlements = new Map<string, Settlement>();
  /** By period; empty: none is known. */
  #readings = new Map<string, Reading>();
  #rest: Omit<Batch, 'settle' | 'reading' | 'carried'> = NOTHING;
  /** By permit: their settlements are there too. */
  #carried = new Map<string, Carried>();

  get hasAnswers(): boolean {
    return this.#carried.size > 0;
  }

  /** Answers that wait for the next exchange. */
  get carried(): readonly Carried[] {
    return [...this.#carried.values()];
  }

  get isEmpty(): boolean {
    return this.#settlements.size === 0 && this.#readings.size === 0 && this.#rest === NOTHING;
  }

  settle(permit: string, as: SettledAs, { period = null, isBeyond }: Observation, answer?: PaidAnswer): void {
    this.#settlements.set(permit, { permit, as, period, ...(isBeyond && { isBeyond }) });
    if (answer) this.#carried.set(permit, { permit, answer, direct: null });
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

  /** Takes what is there; of two periods only the earlier: the ledger learns of one at a time. */
  collect(): Batch {
    const [first = ''] = [...this.#readings.keys()].filter((period) => period !== '').sort();
    const later = new Map([...this.#readings].filter(([period]) => period > first));
    const settlements = [...this.#settlements.values()];
    const isLater = ({ period }: Settlement) => later.has(period ?? '');
    const settle = settlements.filter((each) => !isLater(each));
    const batch = {
      settle,
      reading: this.#readings.get(first) ?? null,
      carried: settle.flatMap(({ permit }) => this.#carried.get(permit) ?? []),
      ...this.#rest,
    };
    this.#settlements = new Map(settlements.filter(isLater).map((each) => [each.permit, each]));
    for (const { permit } of batch.carried) this.#carried.delete(permit);
    this.#readings = later;
    this.#rest = NOTHING;
    return batch;
  }
}

/** Of two readings of a period the one with the higher usage. */
function stricter(one: Reading | undefined, other: Reading): Reading {
  if (one === undefined) return other;
  const higher = (one.usage ?? -1) > (other.usage ?? -1) ? one : other;
  const quota = other.quota ?? one.quota;
  return higher.quota === quota ? higher : { ...higher, quota };
}

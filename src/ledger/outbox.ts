/**
 * News for the ledger, collected between two exchanges: permits to settle, readings, refusals. Of
 * several readings of a period, and of several refusals, it keeps the strictest.
 */
import type { ExchangeRequest, Reading, SettledAs, Settlement } from './ledger.js';

/** The observation of one answer about the account. */
export interface Observation {
  readonly reading: Reading | null;
  /** The period of the answer's `Date`, usage headers or not; absent or null: no usable date. */
  readonly period?: string | null;
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

/** The contents of one exchange. */
export interface Batch
  extends Pick<ExchangeRequest, 'settle' | 'reading' | 'isConfirmed' | 'refusedForQuota'> {
  readonly paceRefusal: PaceRefusal | null;
}

const NOTHING = { isConfirmed: false, refusedForQuota: false, paceRefusal: null };

export class Outbox {
  #settlements = new Map<string, Settlement>();
  /** By period; empty: none is known. */
  #readings = new Map<string, Reading>();
  #rest: Omit<Batch, 'settle' | 'reading'> = NOTHING;

  get isEmpty(): boolean {
    return this.#settlements.size === 0 && this.#readings.size === 0 && this.#rest === NOTHING;
  }

  /** `period`: of the answer's `Date`; null when there was none. */
  settle(permit: string, as: SettledAs, period: string | null): void {
    this.#settlements.set(permit, { permit, as, period });
  }

  note({ reading, isConfirmed }: Observation): void {
    if (reading !== null) {
      const period = reading.period ?? '';
      this.#readings.set(period, stricter(this.#readings.get(period), reading));
    }
    if (isConfirmed) this.#rest = { ...this.#rest, isConfirmed };
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
    const batch = {
      settle: settlements.filter((each) => !isLater(each)),
      reading: this.#readings.get(first) ?? null,
      ...this.#rest,
    };
    this.#settlements = new Map(settlements.filter(isLater).map((each) => [each.permit, each]));
    this.#readings = later;
    this.#rest = NOTHING;
    return batch;
  }
}

/** Of two readings of a period the one with the higher usage. */
function stricter(one: Reading | undefined, other: Reading): Reading {
  if (one === undefined) return other;
  const higher = (one.usage ?? -1) > (other.usage ?? -1) ? one : other;
  return { ...higher, quota: other.quota ?? one.quota };
}

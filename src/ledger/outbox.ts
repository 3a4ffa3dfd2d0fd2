/**
 * What the ledger has to learn from this process, collected between two exchanges: permits to settle, what the answers said
 * of usage, and what the service refused. Of many readings of a period and of many refusals the strictest are kept.
 */
import type { Reading, SettledAs, Settlement } from './ledger.js';

/** What an answer said of the account. */
export interface Observation {
  readonly reading: Reading | null;
  /** The period that the answer's `Date` falls in, usage headers or not; absent or null: it had no usable date. */
  readonly period?: string | null;
  /** The answer was a useful one (any 2xx or 404). */
  readonly heard: boolean;
}

/** The request was never sent. */
export const NO_OBSERVATION: Observation = { reading: null, heard: false };

/** A 429 for throughput. */
export interface PaceRefusal {
  /** The longest Retry-After among them; null when none said one. */
  readonly retryAfterMs: number | null;
}

/** All that one exchange takes along. */
export interface Batch extends Observation {
  readonly settle: readonly Settlement[];
  readonly refusedForQuota: boolean;
  readonly paceRefusal: PaceRefusal | null;
}

export class Outbox {
  #settlements = new Map<string, Omit<Settlement, 'permit'>>();
  /** By period; empty: none is known. */
  #readings = new Map<string, Reading>();
  #heard = false;
  #refusedForQuota = false;
  #paceRefusal: PaceRefusal | null = null;

  get isEmpty(): boolean {
    return (
      this.#settlements.size === 0 &&
      this.#readings.size === 0 &&
      !this.#heard &&
      !this.#refusedForQuota &&
      this.#paceRefusal === null
    );
  }

  /** `period`: of the answer's `Date`; null when there was none. */
  settle(permit: string, as: SettledAs, period: string | null): void {
    this.#settlements.set(permit, { as, period });
  }

  note({ reading, heard }: Observation): void {
    if (reading !== null) {
      const period = reading.period ?? '';
      this.#readings.set(period, stricter(this.#readings.get(period), reading));
    }
    this.#heard ||= heard;
  }

  refuseQuota(): void {
    this.#refusedForQuota = true;
  }

  refusePace({ retryAfterMs }: PaceRefusal): void {
    const longest = Math.max(this.#paceRefusal?.retryAfterMs ?? 0, retryAfterMs ?? 0) || null;
    this.#paceRefusal = { retryAfterMs: longest };
  }

  /** Takes out what is there, of two billing periods what belongs to the earlier one: the ledger learns of one at a time. */
  collect(): Batch {
    const periods = [...this.#readings.keys()].sort();
    const [first = ''] = periods.filter((period) => period !== '');
    const rest = new Map([...this.#readings].filter(([period]) => period > first));
    const settlements = [...this.#settlements];
    const isLater = (period: string | null | undefined) => (period ?? '') > first && rest.has(period ?? '');
    const batch = {
      settle: settlements
        .filter(([, { period }]) => !isLater(period))
        .map(([permit, settled]) => ({ permit, ...settled })),
      reading: this.#readings.get(first) ?? null,
      heard: this.#heard,
      refusedForQuota: this.#refusedForQuota,
      paceRefusal: this.#paceRefusal,
    };
    this.#settlements = new Map(settlements.filter(([, { period }]) => isLater(period)));
    this.#readings = rest;
    this.#heard = false;
    this.#refusedForQuota = false;
    this.#paceRefusal = null;
    return batch;
  }
}

/** Of two readings of a period the one with the higher usage. */
function stricter(one: Reading | undefined, other: Reading): Reading {
  if (one === undefined) return other;
  const higher = (one.usage ?? -1) > (other.usage ?? -1) ? one : other;
  return { ...higher, quota: other.quota ?? one.quota };
}

/**
 * What this process has to tell the ledger, collected between two exchanges: permits to settle, what the answers said
 * of usage, and what the service refused. Of many readings and refusals the telling ones are kept.
 */
import type { Reading, SettledAs, Settlement } from './ledger.js';

/** What an answer said of the account. */
export interface Heard {
  readonly reading: Reading | null;
  /** The period that the answer's `Date` falls in, usage headers or not; absent or null: it had no usable date. */
  readonly period?: string | null;
  /** The answer was a useful one (any 2xx or 404). */
  readonly heard: boolean;
}

/** Nothing was heard: the request was never sent. */
export const NOTHING_HEARD: Heard = { reading: null, heard: false };

/** A 429 for throughput. */
export interface PaceRefusal {
  /** The longest Retry-After among them; null when none said one. */
  readonly retryAfterMs: number | null;
}

export interface Letter extends Heard {
  readonly settle: readonly Settlement[];
  readonly refusedForQuota: boolean;
  readonly paceRefusal: PaceRefusal | null;
}

export interface Mailbox {
  readonly isEmpty: boolean;
  /** `period`: of the answer's `Date`; null when there was none. */
  settle(permit: string, as: SettledAs, period: string | null): void;
  note(heard: Heard): void;
  refuseQuota(): void;
  refusePace(refusal: PaceRefusal): void;
  /** Takes everything out. */
  collect(): Letter;
}

export function createMailbox(): Mailbox {
  let settlements = new Map<string, Omit<Settlement, 'permit'>>();
  let reading: Reading | null = null;
  let heard = false;
  let refusedForQuota = false;
  let paceRefusal: PaceRefusal | null = null;
  return {
    get isEmpty() {
      return settlements.size === 0 && reading === null && !heard && !refusedForQuota && paceRefusal === null;
    },
    settle(permit, as, period) {
      settlements.set(permit, { as, period });
    },
    note(said) {
      if (said.reading !== null) reading = telling(reading, said.reading);
      heard ||= said.heard;
    },
    refuseQuota() {
      refusedForQuota = true;
    },
    refusePace({ retryAfterMs }) {
      paceRefusal = { retryAfterMs: Math.max(paceRefusal?.retryAfterMs ?? 0, retryAfterMs ?? 0) || null };
    },
    collect() {
      const settle = [...settlements].map(([permit, settled]) => ({ permit, ...settled }));
      const letter = { settle, reading, heard, refusedForQuota, paceRefusal };
      settlements = new Map();
      reading = null;
      heard = false;
      refusedForQuota = false;
      paceRefusal = null;
      return letter;
    },
  };
}

/** Of two readings that travel together the one of the later period, and in it the one with the higher usage. */
function telling(one: Reading | null, other: Reading): Reading {
  if (one === null) return other;
  if ((one.period ?? '') !== (other.period ?? ''))
    return (one.period ?? '') > (other.period ?? '') ? one : other;
  const higher = (one.usage ?? -1) > (other.usage ?? -1) ? one : other;
  return { ...higher, quota: other.quota ?? one.quota };
}

/**
 * The `Ledger` seam: the shared account of one token. Engines implement it with atomic operations
 * on the store's own clock, which only add and compare. `README.md` explains the contract.
 *
 *   sent + held + others <= limit,   limit = min(quota header, --quota) + overage
 *
 * holds after every operation unless a probe is out. Operations may be repeated: settling a permit
 * that is not held changes nothing, and taking a held one answers `granted` again.
 */
import type { NewOutcome } from '../core/outcome.js';
import {
  count,
  flag,
  inOrder,
  list,
  moment,
  nullOr,
  number,
  type ObjectOf,
  object,
  text,
  word,
} from '../core/shapes.js';

/** The usage headers of one answer, dated by the service's clock. */
export interface Reading {
  readonly quota: number | null;
  readonly usage: number | null;
  /** The period that the answer names (`periodNamed`). */
  readonly period: string | null;
  /** The answer's `Date` in milliseconds, if it has one. */
  readonly date?: number | null;
}

/** `maybe_billed`: billed or perhaps billed, without a usable answer. */
export type SettledAs = 'billed' | 'free' | 'maybe_billed';

export interface Settlement {
  readonly permit: string;
  readonly as: SettledAs;
  /** As in {@link Reading}, for a dated answer. */
  readonly period?: string | null;
  /** Set if the answer's own header shows a usage beyond the quota. */
  readonly isBeyond?: true;
}

export interface PermitRequest {
  /** Unique over all workers and time. */
  readonly permit: string;
  /** The outcome key (`outcome-key.ts`) that this worker claims. */
  readonly key: string;
  /** Set by `ownOf` for a key of the service's own domain. */
  readonly own?: string | undefined;
}

/**
 * A request outside of any run. With `own` it is a look, which reads quota and usage: on a free
 * permit once that domain is proven free, until then on an ordinary one within the quota, in a
 * quiet moment, `RULES.looksADay` times a day. With `key` it is a check that a person ordered,
 * which may exceed the limit once in `RULES.checkEveryMs`.
 */
export interface LookRequest {
  readonly permit: string;
  readonly own: string | null;
  readonly key: string | null;
  /** The caller's `--quota`. */
  readonly quotaCap: number | null;
}

/** Returns the name of an own domain in an account, with the service for which it is proven. */
export function ownOf(service: string, ownDomain: string): string {
  return `${service} ${ownDomain}`;
}

/** The highest state this process has seen, by which a store notices that it went back in time. */
export interface SeenState extends Pick<LedgerState, 'epoch' | 'version' | 'period' | 'others'> {
  /** Our requests, with those in flight. */
  readonly spent: number;
}

/** Applies only to the version of the pace that was judged. `rate` null lifts the pace. */
export interface PaceChange extends Pick<PaceState, 'rate' | 'burst' | 'floorMs'> {
  readonly ifVersion: number;
}

/** The account's period, its end, and the period of today, by the store's clock. */
export interface Turn {
  readonly period: string;
  readonly endsAt: number;
  readonly today: string;
}

export interface ExchangeRequest {
  readonly account: string;
  /** The owner of the permits and claims; the call counts as its heartbeat. */
  readonly worker: string;
  /** The run whose caps and policy apply to `take`. */
  readonly run: string | null;
  readonly seen: SeenState | null;
  readonly settle: readonly Settlement[];
  readonly reading: Reading | null;
  /** True if a trusted address gave a usable answer since the last call. */
  readonly isConfirmed: boolean;
  /** True if the service refused for quota since the last call: the account closes. */
  readonly refusedForQuota: boolean;
  readonly pace: PaceChange | null;
  readonly take: readonly PermitRequest[];
  readonly look: LookRequest | null;
  /** How long a permit may be held before it counts as sent: the total time-out plus 10 s. */
  readonly permitMs: number;
  /** null for an account whose period never ends. */
  readonly turn: Turn | null;
  /** How far the usage header lags, and how long a ledger that went back rests. Default 60,000. */
  readonly usageLagMs: number;
}

/**
 * `granted`: send after `waitMs`; `isFree`: the service has proven not to bill it. `lost`: another
 * worker has the claim now. `attempts_exhausted`: the run was billed, or maybe billed, twice for
 * the key without a usable answer. `denied`: not now; the state says why. `queued`: free permits go
 * one by one.
 */
export type PermitAnswer =
  | { readonly permit: string; readonly answer: 'granted'; readonly waitMs: number; readonly isFree: boolean }
  | { readonly permit: string; readonly answer: 'lost' | 'attempts_exhausted' | 'denied' | 'queued' };

const PACE_STATE = {
  version: number,
  /** Requests per second; null when unpaced. */
  rate: nullOr(count),
  burst: count,
  /** How long no process may send, by Retry-After; 0 without one. */
  floorMs: number,
  /** Billed requests settled in the store's last full second, and in the current one so far. */
  acceptedLastSecond: count,
  acceptedThisSecond: count,
};
export type PaceState = ObjectOf<typeof PACE_STATE>;

const RUN_SPENDING = {
  /** `halted` by `RunStore.halt`, `paused` until `RunStore.resume`: neither gets a permit. */
  status: word('alive', 'paused', 'halted', 'dead', 'cancelled'),
  /** Of the run key, with held ones, as all counts but `overageBilled`. */
  requests: count,
  /** Requests that were overage when they were settled. */
  overageRequests: count,
  /** 0 without a cap. */
  held: count,
  /** Held requests that may be overage; 0 without `maxOverageRequests`. */
  overageInFlight: count,
  /** Of this run alone. */
  overageBilled: number,
  maxRequests: nullOr(count),
  maxOverageRequests: nullOr(count),
};
export type RunSpending = ObjectOf<typeof RUN_SPENDING>;

/** Requests of the period at the end of a day (`YYYY-MM-DD`), without those in flight. */
const DAY_USE = { day: text, used: number };
export type DayUse = ObjectOf<typeof DAY_USE>;

/**
 * The account after the operation. Times are by the store's clock; null means unknown, never or
 * without. Engines answer with the values in this order.
 */
export const LEDGER_STATE = {
  /** The store's clock, milliseconds. */
  now: moment,
  epoch: text,
  version: number,
  period: nullOr(text),
  /** How far the service's clock is behind the store's; negative if it is ahead. */
  behindMs: number,
  /** Set if an answer named a new period against the store's clock: the next request goes alone. */
  isTurnUnconfirmed: flag,
  /** When one request beyond the limit may ask for the next period or a late reset. */
  asksAt: nullOr(moment),
  sent: count,
  held: count,
  /** Permits in flight beyond the limit, which show whether it was raised (0 or 1). */
  probes: count,
  freeOut: count,
  others: count,
  /** Requests of the period that were proven free, outside of all other counts. */
  free: count,
  /** The own domain that was last asked for. */
  own: inOrder({
    /** Its name by `ownOf`. */
    of: nullOr(text),
    isProven: flag,
    /** Requests for it that count in `sent` and are given back with the proof. */
    booked: count,
    /** Rises of the usage between looks since the last proof, without other requests of ours. */
    rises: count,
  }),
  /** When a person last ordered a request beyond the limit; 0 for never. */
  checkedAt: number,
  quota: nullOr(count),
  usage: nullOr(count),
  /** The last one of the period; `usage` is the highest. */
  lastUsage: nullOr(count),
  /** When the last useful answer was noted; 0 for never, or when a run has just opened. */
  confirmedAt: number,
  /** When the service last answered a request of any worker. */
  answeredAt: nullOr(moment),
  /** Use of the period by UTC days of the store's clock, oldest first; the last is the current. */
  days: list(object(DAY_USE)),
  /** When the service last refused for quota; null when the account is open. */
  closedAt: nullOr(moment),
  nextProbeAt: moment,
  /** Spending rests until then because the ledger went back in time; 0 otherwise. */
  restsUntil: moment,
  /** The service has served a request at or beyond the quota: it bills overage. */
  servesOverage: flag,
  isPaused: flag,
  /** The smallest `--quota` of the account's live runs. */
  quotaCap: nullOr(count),
  /** Their smallest overage, as a number of requests. */
  overage: count,
  pace: inOrder(PACE_STATE),
  /** The asking run; null if the request named none, or an unknown one. */
  run: nullOr(inOrder(RUN_SPENDING)),
};
export type LedgerState = ObjectOf<typeof LEDGER_STATE>;

export interface ExchangeAnswer {
  readonly permits: readonly PermitAnswer[];
  readonly look: PermitAnswer | null;
  /** The store's date of the answers that it kept. */
  readonly recordedAt: number | null;
  readonly state: LedgerState;
}

/** The spending of an account in another ledger. */
export interface Spending extends Pick<Reading, 'quota' | 'period'> {
  /** Our requests, those in flight included. */
  readonly sent: number;
  readonly others: number;
}

export interface Ledger {
  /** Keeps answers, settles, applies the reading, grants: one atomic step, in this order. */
  exchange(request: ExchangeRequest, outcomes?: readonly NewOutcome[]): Promise<ExchangeAnswer>;
  /**
   * Returns the account unchanged, with expired permits counted as sent; `epoch` is empty for a new
   * account. With `run`, live or not, also what that run spent of its caps.
   */
  show(account: string, run?: string): Promise<LedgerState>;
  /** Begins a run: the next request goes alone, a probe is due. `rate` undefined keeps the pace. */
  open(account: string, pace: { rate: number | null | undefined; burst: number }): Promise<LedgerState>;
  /** Corrects the account to the usage and quota of the service's own pages. Reopens it. */
  observe(account: string, seen: { usage?: number; quota?: number }): Promise<LedgerState>;
  /**
   * Raises the account to what another ledger spent in the same period: the larger sum counts, and
   * the other quota if none is known. A later period opens.
   */
  raise(account: string, spending: Spending): Promise<LedgerState>;
  /** Returns the names of all accounts, in no order. */
  accounts(): Promise<string[]>;
  /** Forgets the account, and permits that are out. */
  reset(account: string): Promise<void>;
}

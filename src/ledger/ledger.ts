/**
 * The `Ledger` seam: the shared account of one token. Engines implement it; they only add and
 * compare, each operation atomic and on the store's own clock. The contract, and why it is so:
 * `README.md`.
 *
 *   sent + held + others <= limit,   limit = min(quota header, --quota) + overage
 *
 * holds after every operation unless a probe is out. Requests may be repeated: settling a permit
 * that is not held changes nothing, and taking one that is held answers `granted` again.
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
  /** `periodNamed` by the answer. */
  readonly period: string | null;
  /** The answer's `Date` in milliseconds, if it has one. */
  readonly date?: number | null;
}

/** `maybe_billed`: billed or perhaps billed, and it brought no usable answer. */
export type SettledAs = 'billed' | 'free' | 'maybe_billed';

export interface Settlement {
  readonly permit: string;
  readonly as: SettledAs;
  /** As in {@link Reading}, if there was a dated answer. */
  readonly period?: string | null;
  /** Set if the answer's own header shows a usage beyond the quota. */
  readonly isBeyond?: true;
}

export interface PermitRequest {
  /** Unique over all workers and time. */
  readonly permit: string;
  /** The outcome key (`outcome-key.ts`) that this worker claims. */
  readonly key: string;
  /** `ownOf` service and own domain, for a key of that domain. */
  readonly own?: string | undefined;
}

/**
 * A request outside of any run. With `own` it is a look, which reads quota and usage: on a free
 * permit where that domain is proven free, else on an ordinary one within the quota, in a quiet
 * moment, `RULES.looksADay` times. With `key` it is a check that a person ordered: it may go beyond
 * the limit, once in `RULES.checkEveryMs`.
 */
export interface LookRequest {
  readonly permit: string;
  readonly own: string | null;
  readonly key: string | null;
  /** `--quota` of who asks. */
  readonly quotaCap: number | null;
}

/** Returns the name of an own domain in an account: its proof belongs to the service, too. */
export function ownOf(service: string, ownDomain: string): string {
  return `${service} ${ownDomain}`;
}

/** The highest state this process has seen: lets the store notice that it went back in time. */
export interface SeenState extends Pick<LedgerState, 'epoch' | 'version' | 'period' | 'others'> {
  /** Our requests, those in flight included, taken as spent. */
  readonly spent: number;
}

/** Applied only while the pace has the version that was judged. `rate` null lifts the pace. */
export interface PaceChange extends Pick<PaceState, 'rate' | 'burst' | 'floorMs'> {
  readonly ifVersion: number;
}

/** The account's period, when it ends, and the one of today; all by the store's clock. */
export interface Turn {
  readonly period: string;
  readonly endsAt: number;
  readonly today: string;
}

export interface ExchangeRequest {
  readonly account: string;
  /** Whose permits and claims these are; the call counts as this worker's heartbeat. */
  readonly worker: string;
  /** The run whose caps and policy apply, where permits are taken. */
  readonly run: string | null;
  readonly seen: SeenState | null;
  readonly settle: readonly Settlement[];
  readonly reading: Reading | null;
  /** A trusted address gave a usable answer since the last call. */
  readonly isConfirmed: boolean;
  /** The service refused for quota since the last call: the account closes. */
  readonly refusedForQuota: boolean;
  readonly pace: PaceChange | null;
  readonly take: readonly PermitRequest[];
  readonly look: LookRequest | null;
  /** How long a permit may be held before it counts as sent: the total time-out + 10 s. */
  readonly permitMs: number;
  /** Null where the account has no period that ends. */
  readonly turn: Turn | null;
  /** How far the usage header lags; how long a ledger that went back rests. Default 60,000. */
  readonly usageLagMs: number;
}

/**
 * `granted`: send after `waitMs`; `isFree`: the service is proven not to bill it. `lost`: the claim
 * belongs to another worker now. `attempts_exhausted`: within this run the key was billed or maybe
 * billed twice without a usable answer. `denied`: not now; the state says why. `queued`: free
 * permits go one by one.
 */
export type PermitAnswer =
  | {
      readonly permit: string;
      readonly answer: 'granted';
      readonly waitMs: number;
      readonly isFree: boolean;
    }
  | { readonly permit: string; readonly answer: 'lost' | 'attempts_exhausted' | 'denied' | 'queued' };

const PACE_STATE = {
  version: number,
  /** Requests per second; null when unpaced. */
  rate: nullOr(count),
  burst: count,
  /** For so long no process sends, as Retry-After asks; 0 without one. */
  floorMs: number,
  /** Billed requests settled in the store's last full second, and in the current one so far. */
  acceptedLastSecond: count,
  acceptedThisSecond: count,
};
export type PaceState = ObjectOf<typeof PACE_STATE>;

const RUN_SPENDING = {
  /**
   * `halted`: its workers stopped asking (`RunStore.halt`); no grants until that is cleared.
   * `paused`: no grants until `RunStore.resume`.
   */
  status: word('alive', 'paused', 'halted', 'dead', 'cancelled'),
  /** Of the run key, as all but `overageBilled`; held ones included. */
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
 * The account after the operation. Times are by the store's clock; null stands for unknown, never
 * or without. Engines answer with the values in this order.
 */
export const LEDGER_STATE = {
  /** The store's clock, milliseconds. */
  now: moment,
  epoch: text,
  version: number,
  period: nullOr(text),
  /** How far the service's clock is behind the store's; negative where it is ahead. */
  behindMs: number,
  /** One answer says, against the store's clock, that a period has begun: the next goes alone. */
  isTurnUnconfirmed: flag,
  /** From when on one request beyond the limit may ask for the next period or a late reset. */
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
    /** `ownOf` it. */
    of: nullOr(text),
    isProven: flag,
    /** Requests for it that count in `sent` and are given back with the proof. */
    booked: count,
    /** How often since the last proof the usage rose between two looks, without others of ours. */
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
  /** The smallest `--quota` of the live runs of the account. */
  quotaCap: nullOr(count),
  /** Their smallest overage, as a number of requests. */
  overage: count,
  pace: inOrder(PACE_STATE),
  /** The asking run, null when the request named none or it is unknown. */
  run: nullOr(inOrder(RUN_SPENDING)),
};
export type LedgerState = ObjectOf<typeof LEDGER_STATE>;

export interface ExchangeAnswer {
  readonly permits: readonly PermitAnswer[];
  readonly look: PermitAnswer | null;
  /** The store's date of the answers that were kept, if any. */
  readonly recordedAt: number | null;
  readonly state: LedgerState;
}

/** The account as another ledger has it. */
export interface Spending extends Pick<Reading, 'quota' | 'period'> {
  /** Our requests, those in flight included. */
  readonly sent: number;
  readonly others: number;
}

export interface Ledger {
  /**
   * Keep these answers as `OutcomeStore.record` does, settle these, apply this reading, grant up to
   * these: one atomic step, in this order.
   */
  exchange(request: ExchangeRequest, outcomes?: readonly NewOutcome[]): Promise<ExchangeAnswer>;
  /**
   * The account without changing anything, expired permits counted as sent; `epoch` is empty where
   * there is none. With `run`, live or not, also what that run spent of its own caps.
   */
  show(account: string, run?: string): Promise<LedgerState>;
  /**
   * A run begins to spend: the next request goes alone, a probe is due at once. `rate` undefined
   * leaves the pace as it is.
   */
  open(account: string, pace: { rate: number | null | undefined; burst: number }): Promise<LedgerState>;
  /** A person corrects the account: usage and quota as the service's own pages show. Reopens it. */
  observe(account: string, seen: { usage?: number; quota?: number }): Promise<LedgerState>;
  /**
   * Sees that an account counts at least what another ledger spent in the same period: the larger
   * sum holds, and the quota where none is known. A later period opens.
   */
  raise(account: string, spending: Spending): Promise<LedgerState>;
  /** The names of all accounts, in no order. */
  accounts(): Promise<string[]>;
  /** Forgets the account. Permits that are out are forgotten too. */
  reset(account: string): Promise<void>;
}

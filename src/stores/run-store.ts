/**
 * The `RunStore` seam: what the engine knows of runs, so that workers elsewhere know whether
 * somebody still waits for an answer, and the run knows how far its workers are. Engines implement
 * it, each call atomic and on the store's own clock.
 */

import type { Freshness } from '../core/outcome.js';
import { RULES } from '../ledger/rules.js';
import type { AllowNsfw } from '../lookup/protocol.js';

/** The settings of a run for workers; written once when it starts. */
export interface RunSettings {
  /** The service's base URL without credentials, query, version or trailing slash. */
  readonly service: string;
  readonly account: string;
  readonly allowNsfw: AllowNsfw;
  /** Its 404s are believed though the address never gave a good answer; absent: no. */
  readonly allowUnknown?: boolean;
  readonly maxAgeMs: number;
  readonly maxAgeMissingMs: number;
  readonly refresh: boolean;
  /** `paid` if the user said so; decides whether a request beyond the quota could cost money. */
  readonly plan: 'free' | 'paid' | 'unsaid';
  /** `--quota`; null: the header alone. */
  readonly quotaCap: number | null;
  /** Overage as a number of requests, from budget and price. */
  readonly overage: number;
  /** Requests per second that the pace may grow to; absent or null: no ceiling. */
  readonly maxRate?: number | null;
  /** `month`, `none`, or the day of the month (1 to 28) on which the billing period begins. */
  readonly period: 'month' | 'none' | number;
  /** Statuses that are not billed besides 401, 403 and 429; `5xx` stands for 500 to 599. */
  readonly freeStatuses: readonly string[];
  readonly maxRequests: number | null;
  readonly maxOverageRequests: number | null;
  /** Total time-out of one request. */
  readonly timeoutMs: number;
  /** The process that waits for the answers (`process-identity.ts`); absent: unknown. */
  readonly process?: string;
}

interface NewRun {
  readonly id: string;
  /** Hash of the input's content and of the settings that choose identifiers. */
  readonly key: string;
  /** For people: host and file name. */
  readonly label: string;
  readonly settings: RunSettings;
}

export interface RunRecord extends NewRun {
  /** Store's clock: when it started; freshness is judged at this moment. */
  readonly asOf: number;
  /** Start of the key's first run since one completed: `--refresh` counts from here. */
  readonly keyStartedAt: number;
  readonly beatAt: number;
  readonly status: RunStatus;
  /** It is paused alone; false once it has ended. All spending may be paused besides. */
  readonly isPaused: boolean;
  /** Why it stopped, for people; null while it runs or when it completed. */
  readonly reason: string | null;
  /** How many rows and distinct identifiers it has; null until known. */
  readonly rows: number | null;
  readonly identifiers: number | null;
  readonly tally: Tally;
  /** Permits taken and not given back, by the ledger: billed, perhaps billed, or in flight. */
  readonly spent: number;
  /** Requests that the ledger counted as overage when they were settled. */
  readonly overageBilled: number;
  /** Earlier starts of the command left failures that still hold (`LookupFailure.isFinal`). */
  readonly hasEarlierFailures: boolean;
  /**
   * Earlier starts of the same file that stopped and that this one continues. Set by `list`, which
   * does not list them.
   */
  readonly earlier?: EarlierStarts;
}

interface EarlierStarts {
  readonly starts: number;
  readonly billed: number;
  /** Sum of `unreportedOf`. */
  readonly unreported: number;
  readonly overage: number;
}

/** `running` while the process is at it; a `running` run with an old heartbeat is dead. */
export type RunStatus = 'running' | 'completed' | 'stopped' | 'cancelled';

/** The work of workers for a run, summed over finished chunks and partial reports. */
export interface Tally {
  readonly matched: number;
  readonly notFound: number;
  readonly failed: number;
  /** Answers that the store had already. */
  readonly stored: number;
  /** Requests sent, and those of them that were or may have been billed. */
  readonly requests: number;
  readonly billed: number;
}

export const NO_TALLY: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

/** Billed, or perhaps, but unreported: workers were killed. Only for runs without workers. */
export function unreportedOf({ spent, tally }: Pick<RunRecord, 'spent' | 'tally'>): number {
  return Math.max(0, spent - tally.billed);
}

/** A lookup that this run does not ask for again. */
export interface LookupFailure {
  readonly key: string;
  readonly reason: string;
  readonly billed: boolean;
  /** It is left to the next run of the same command, and does not count as failed. */
  readonly isDeferred?: boolean;
  /** Paid for, and asking again is no use: later starts do not ask either, until one completes. */
  readonly isFinal?: boolean;
}

/**
 * Why workers stopped asking for a run: the first report wins and stays until `clearHalt`.
 * `useless`: what comes back is of no use and was or may have been billed, so that asking again
 * would cost again. `doubtful`: all is asked, and of some lookups two requests may have been billed
 * whose answers nobody has.
 */
export interface RunHalt {
  readonly why: 'credentials' | 'limit' | 'throttled' | 'unreachable' | 'useless' | 'lost' | 'doubtful';
  readonly sentence: string;
}

export interface RunProgress {
  /** How many chunks of `finishChunk` have been counted. */
  readonly chunks: number;
  readonly tally: Tally;
  readonly halt: RunHalt | null;
  readonly isCancelled: boolean;
  /** It may not spend: it is paused, or all spending is. */
  readonly isPaused: boolean;
  /** It is paused alone: its chunks make way for those of other runs. */
  readonly isPausedAlone: boolean;
}

export interface RunStore {
  start(run: NewRun): Promise<RunRecord>;
  get(id: string): Promise<RunRecord | null>;
  /** Newest first, at most `limit`; a file that was started again after it stopped is one entry. */
  list(limit: number): Promise<RunRecord[]>;
  /** Renews the heartbeat and gives the workers' progress: the one call a waiting run repeats. */
  heartbeat(id: string): Promise<RunProgress>;
  setSize(id: string, size: { rows: number; identifiers: number }): Promise<void>;
  /** The sum so far of the reporter `part`; a tally adds up all. An earlier sum changes nothing. */
  addTally(id: string, part: string, sum: Tally): Promise<void>;
  /** Counts a chunk as finished, once, however often it is reported. */
  finishChunk(id: string, chunk: number): Promise<void>;
  /** Records failed lookups; counts each key once. A later report of a key replaces the earlier. */
  fail(id: string, failures: readonly LookupFailure[]): Promise<void>;
  /** In the order of the keys, final ones of earlier starts included; null where there is none. */
  failures(id: string, keys: readonly string[]): Promise<(LookupFailure | null)[]>;
  halt(id: string, halt: RunHalt): Promise<void>;
  clearHalt(id: string): Promise<void>;
  /** `completed` forgets the key: caps and `--refresh` begin anew. Failures go some days later. */
  end(id: string, status: 'completed' | 'stopped', reason: string | null): Promise<void>;
  /** Revokes a run: nothing else is sent for it. False when there is no such run. */
  cancel(id: string): Promise<boolean>;
  /** Stops or allows the requests of one run. False: there is no such run, or it has ended. */
  setPaused(id: string, isPaused: boolean): Promise<boolean>;
}

/** Whether a run completed and the service knew nothing. False if the run used stored answers. */
export function foundNothing({ status, identifiers, tally }: RunRecord): boolean {
  const isAsked = identifiers !== null && identifiers > 0 && tally.stored === 0;
  return status === 'completed' && isAsked && tally.matched === 0 && tally.notFound + tally.failed > 0;
}

/** Whether a run is alive, by its heartbeat. `now` is the store's clock. */
export function isAlive({ status, beatAt }: Pick<RunRecord, 'status' | 'beatAt'>, now: number): boolean {
  return status === 'running' && now - beatAt < RULES.runDeadAfterMs && beatAt - now <= RULES.runBeatAheadMs;
}

/** Answered or failed lookups of a run, by its workers' reports. */
export function answeredOf({ tally }: Pick<RunRecord, 'tally'>): number {
  return tally.matched + tally.notFound + tally.failed + tally.stored;
}

/**
 * The live runs that a live run is queued behind: it has sent nothing yet, and they began earlier
 * on the same account and have lookups left. Empty: it does not wait for others. `now`: by the
 * store's clock. Pure.
 */
export function runsBefore(run: RunRecord, runs: readonly RunRecord[], now: number): RunRecord[] {
  const hasLeft = (each: RunRecord) => each.identifiers === null || answeredOf(each) < each.identifiers;
  if (run.tally.requests > 0 || run.isPaused || !hasLeft(run) || !isAlive(run, now)) return [];
  const { account, service } = run.settings;
  return runs.filter(
    (each) =>
      each.id !== run.id &&
      each.asOf <= run.asOf &&
      !each.isPaused &&
      each.settings.account === account &&
      each.settings.service === service &&
      isAlive(each, now) &&
      hasLeft(each),
  );
}

/** `queued behind customers.csv and 2 others`, for people; null: behind none. */
export function queuedText(before: readonly Pick<RunRecord, 'label'>[]): string | null {
  const [first, ...others] = before;
  if (first === undefined) return null;
  const name = first.label.replace(/^.*?: /s, '');
  const more = others.length === 0 ? '' : ` and ${others.length} other${others.length === 1 ? '' : 's'}`;
  return `queued behind ${name}${more}`;
}

/** How a run judges the age of stored answers: at its start, in every pass. */
export function freshnessOf(run: Pick<RunRecord, 'asOf' | 'keyStartedAt' | 'settings'>): Freshness {
  return {
    asOf: run.asOf,
    maxAgeMs: run.settings.maxAgeMs,
    maxAgeMissingMs: run.settings.maxAgeMissingMs,
    notBefore: run.settings.refresh ? run.keyStartedAt : 0,
  };
}

/** What the engine knows of runs (`RunStore`), in shapes, judgements and words. */
import { createHash } from 'node:crypto';
import type { AllowNsfw } from '../../brand-api/protocol.js';
import { momentText } from '../../core/figures.js';
import type { Freshness } from '../../core/outcome.js';
import { isProcessGone } from '../../core/process-identity.js';
import {
  count,
  flag,
  list,
  moment,
  nullOr,
  number,
  type ObjectOf,
  object,
  optional,
  type Shaped,
  text,
  word,
} from '../../core/shapes.js';
import { visibleLine } from '../../core/terminal-text.js';
import { RULES } from '../../ledger/rules.js';
import { type FailureReason, runHaltShape, runStopShape } from './run-reasons.js';

/** The settings of a run for workers; written once when it starts. */
export const runSettingsShape = object({
  /** Base URL without credentials, query, version or trailing slash. */
  service: text,
  account: text,
  allowNsfw: word<AllowNsfw>('unset', 'true', 'false'),
  /** Its 404s are believed though the address gave it no good answer (`--min-match 0`). */
  allowUnknown: flag,
  maxAgeMs: count,
  maxAgeMissingMs: count,
  refresh: flag,
  /** `paid` if the user gave it; decides whether a request beyond the quota could cost money. */
  plan: word('free', 'paid', 'unspecified'),
  /** `--quota`; null: the header alone. */
  quotaCap: nullOr(count),
  /** Overage as a number of requests, from budget and price. */
  overage: count,
  /** Requests per second that the pace may grow to; null: no ceiling. */
  maxRate: nullOr(count),
  /** `month`, `none`, or the day of the month (1 to 28) on which the billing period begins. */
  period: (value: unknown) => (typeof value === 'number' ? count(value) : word('month', 'none')(value)),
  /** Statuses that are not billed besides 401, 403 and 429; `5xx` stands for 500 to 599. */
  freeStatuses: list(text),
  maxRequests: nullOr(count),
  maxOverageRequests: nullOr(count),
  timeoutMs: count,
  /** The service's own domain: rows of it are free once that is proven. null: unknown. */
  ownDomain: nullOr(text),
  /** The process that waits for the answers (`process-identity.ts`); absent: unknown. */
  process: optional(text),
  /** `user@host` of a command or a program, or a name of the dashboard; absent: unknown. */
  startedBy: optional(text),
  /** Absolute path of its complete result on its host; absent: in an inbox, or not a file. */
  output: optional(text),
});
export type RunSettings = Shaped<typeof runSettingsShape>;

const ORDER = { by: text, at: moment };
/** A pause or cancel. `by`: `user@host`, or a name of the dashboard. `at`: the store's clock. */
const orderShape = object(ORDER);
export type Order = Shaped<typeof orderShape>;

export const ordersShape = object({ cancelled: nullOr(orderShape), paused: nullOr(orderShape) });
export type Orders = Shaped<typeof ordersShape>;

/**
 * Whose a run is. A cancel ends one `job`: a file of an inbox, a tick of a schedule, by default the
 * run itself. A pause holds all runs of an `owner`, now and later: the job of a file, a schedule
 * (`scheduleOwner`), by default the key of the run.
 */
const OWNER = { job: text, owner: text };
export type RunOwner = ObjectOf<typeof OWNER>;

/** For people: the host of a file and its name; `host` null for a schedule. */
export const labelShape = object({ host: nullOr(text), name: text });
export type Label = Shaped<typeof labelShape>;

export const PAUSE = {
  ...ORDER,
  owner: text,
  label: labelShape,
  /** The run that a person named, if any. */
  run: nullOr(text),
};
export type Pause = ObjectOf<typeof PAUSE>;

/** The pause of all spending of an engine. */
export const ALL_SPENDING = { owner: '*', label: { host: null, name: 'all spending' }, run: null } as const;

export function isOfAll({ owner }: Pick<Pause, 'owner'>): boolean {
  return owner === ALL_SPENDING.owner;
}

/** A cancel of a job; kept for 90 days. */
export const cancelShape = object({ ...ORDER, job: text });
export type Cancel = Shaped<typeof cancelShape>;

/** The work of workers for a run, summed over finished chunks and partial reports. */
const tally = object({
  matched: count,
  notFound: count,
  failed: count,
  /** Answers that the store had already. */
  stored: count,
  requests: count,
  /** Requests that were or may have been billed. */
  billed: count,
});
export type Tally = Shaped<typeof tally>;

export const NO_TALLY: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

/**
 * The key of all runs of a name and account on a day (UTC): they share caps, and no completion
 * begins them anew. `now`: by the store's clock.
 */
export function keyOfDay(name: string, { service, account }: RunSettings, now: number): string {
  const whose = createHash('sha256')
    .update(JSON.stringify([name, service, account]))
    .digest('hex');
  return `day:${new Date(now).toISOString().slice(0, 10)}:${whose.slice(0, 20)}`;
}

const NEW_RUN = {
  /** Made by the caller: a job's record names it before the run begins. */
  id: text,
  /** Hash of the input's content and of the settings that choose identifiers. */
  key: text,
  label: labelShape,
  settings: runSettingsShape,
};

/** `job` and `owner`: see {@link RunOwner}. */
export type NewRun = ObjectOf<typeof NEW_RUN> & Partial<RunOwner>;

export const RUN_RECORD = {
  ...NEW_RUN,
  ...OWNER,
  /** Start by the store's clock, at which freshness is judged. */
  asOf: moment,
  /** Start of the key's first run since one completed: `--refresh` counts from here. */
  keyStartedAt: moment,
  heartbeatAt: moment,
  /** `running` while the process is at it; a `running` run with an old heartbeat is dead. */
  status: word('running', 'completed', 'stopped', 'cancelled'),
  /** The pause of its owner; null once it completed or was cancelled. */
  paused: nullOr(orderShape),
  cancelled: nullOr(orderShape),
  /** End by the store's clock; requests may still be in flight. */
  endedAt: nullOr(moment),
  /** Why it stopped; null while it runs or when it completed. */
  stop: nullOr(runStopShape),
  rows: nullOr(count),
  /** Distinct ones; null until known. */
  identifiers: nullOr(count),
  tally,
  /** Permits taken and not given back, by the ledger: billed, perhaps billed, or in flight. */
  spent: number,
  /** Requests that the ledger counted as overage when they were settled. */
  overageBilled: number,
  /** Earlier starts of the command left failures that still hold (`LookupFailure.isFinal`). */
  hasEarlierFailures: flag,
  /** Stopped earlier starts of the same file, which this one continues; set by `list`. */
  earlier: optional(
    object({
      starts: count,
      matched: count,
      notFound: count,
      billed: count,
      unreported: count,
      overage: count,
      tookMs: count,
    }),
  ),
};
export type RunRecord = ObjectOf<typeof RUN_RECORD>;

export const RUN_PROGRESS = {
  /** How many chunks of `finishChunk` have been counted. */
  chunks: count,
  tally,
  halt: nullOr(runHaltShape),
  isCancelled: flag,
  /** True if it is paused, or all spending is. */
  isPaused: flag,
  /** True if it is paused itself: its chunks make way for those of other runs. */
  isPausedAlone: flag,
};
export type RunProgress = ObjectOf<typeof RUN_PROGRESS>;

/** Requests billed, or perhaps, that no worker reported: it was killed, or they are in flight. */
export function unreportedOf({ spent, tally }: Pick<RunRecord, 'spent' | 'tally'>): number {
  return Math.max(0, spent - tally.billed);
}

/** True if an ended run may have requests in flight. `now`: by the store's clock. */
export function mayBeInFlight({ endedAt, settings }: Pick<RunRecord, 'endedAt' | 'settings'>, now: number) {
  const { process, timeoutMs } = settings;
  if (endedAt === null || (process !== undefined && isProcessGone(process))) return false;
  return now - endedAt < timeoutMs + RULES.permitMarginMs;
}

/** A lookup that this run does not ask for again. */
export interface LookupFailure {
  readonly key: string;
  readonly reason: FailureReason;
  readonly billed: boolean;
  /** True if the next run of the command asks for it; it does not count as failed. */
  readonly isDeferred?: boolean;
  /** True if it was paid for and cannot change: later starts do not ask until one completes. */
  readonly isFinal?: boolean;
}

/** `ended`: it is too late for an order. */
export const orderEndShape = word('done', 'ended', 'unknown');
export type OrderEnd = Shaped<typeof orderEndShape>;

/** The owner of a schedule's runs; `key`, that of its results, stays when it is changed. */
export const scheduleOwner = (key: string): string => `schedule:${key}`;
/** The owner of the runs of an agent's server: its files and lookups. */
export const agentOwner = (name: string): string => `agent:${name}`;
export const isScheduleOwner = (owner: string): boolean => owner.startsWith(scheduleOwner(''));

/** True if a run stopped because a person must decide about its rest. */
export function isHeld({ status, stop }: Pick<RunRecord, 'status' | 'stop'>): boolean {
  return status === 'stopped' && stop?.type === 'halted' && stop.halt.why === 'unmatched';
}

/** True if a run completed and the service knew nothing. False if the run used stored answers. */
export function foundNothing({ status, identifiers, tally }: RunRecord): boolean {
  const isAsked = identifiers !== null && identifiers > 0 && tally.stored === 0;
  return status === 'completed' && isAsked && tally.matched === 0 && tally.notFound + tally.failed > 0;
}

/** True if a run is alive, by its heartbeat. `now` is the store's clock. */
export function isAlive({ status, heartbeatAt }: Pick<RunRecord, 'status' | 'heartbeatAt'>, now: number) {
  const ageMs = now - heartbeatAt;
  return status === 'running' && ageMs < RULES.runDeadAfterMs && -ageMs <= RULES.runHeartbeatAheadMs;
}

/** Answered or failed lookups of a run, by its workers' reports. */
export function answeredOf({ tally }: Pick<RunRecord, 'tally'>): number {
  return tally.matched + tally.notFound + tally.failed + tally.stored;
}

/**
 * Returns the live runs that a live run is queued behind: begun earlier on the same account, with
 * lookups left. Empty unless it has sent nothing yet. `now`: by the store's clock. Pure.
 */
export function runsBefore(run: RunRecord, runs: readonly RunRecord[], now: number): RunRecord[] {
  const hasLeft = (each: RunRecord) => each.identifiers === null || answeredOf(each) < each.identifiers;
  if (run.tally.requests > 0 || run.paused !== null || !hasLeft(run) || !isAlive(run, now)) return [];
  const { account, service } = run.settings;
  return runs.filter(
    (each) =>
      each.id !== run.id &&
      each.asOf <= run.asOf &&
      each.paused === null &&
      each.settings.account === account &&
      each.settings.service === service &&
      isAlive(each, now) &&
      hasLeft(each),
  );
}

/** `paused by ada@office since 14 Jan 2026, 09:30 UTC`. */
export function pausedText(order: Order): string {
  return `paused ${sinceText(order)}`;
}

/** `it is paused by ...`, or `all spending is paused by ...`. */
export function pauseText(pause: Pause): string {
  return `${isOfAll(pause) ? pause.label.name : 'it'} is ${pausedText(pause)}`;
}

/** True for the pause of a file or a command. */
export function isOfFile(pause: Pick<Pause, 'owner'>): boolean {
  return !isScheduleOwner(pause.owner) && !isOfAll(pause);
}

/** The command that ends a pause, in backticks. `name`: of what it holds, where it has no run. */
export function resumeCommand(pause: Pause, name = pause.label.name): string {
  return isOfAll(pause) ? '`brand-enrich resume`' : `\`brand-enrich resume ${pause.run ?? name}\``;
}

/** `by ada@office since 14 Jan 2026, 09:30 UTC`. */
export function sinceText({ by, at }: Order): string {
  return `by ${visibleLine(by)} since ${momentText(new Date(at).toISOString())}`;
}

/** `cancelled by ada@office on 14 Jan 2026, 09:30 UTC`. */
export function cancelledText({ by, at }: Order): string {
  return `cancelled by ${visibleLine(by)} on ${momentText(new Date(at).toISOString())}`;
}

/** `etl-1: customers.csv`. */
export function labelText({ host, name }: Label): string {
  return host === null ? name : `${host}: ${name}`;
}

/** `queued behind customers.csv and 2 others`, or null. */
export function queuedText(before: readonly Pick<RunRecord, 'label'>[]): string | null {
  const [first, ...others] = before;
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` and ${others.length} other${others.length === 1 ? '' : 's'}`;
  return `queued behind ${first.label.name}${more}`;
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

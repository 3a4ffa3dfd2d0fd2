/** The records of the `RunStore`: their shapes, questions about them, and words for people. */
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

/** A run's settings for its workers, written once at its start. */
export const runSettingsShape = object({
  /** Base URL without credentials, query, version or trailing slash. */
  service: text,
  account: text,
  allowNsfw: word<AllowNsfw>('unset', 'true', 'false'),
  /** True to believe 404s before the address has given a good answer (`--min-match 0`). */
  allowUnknown: flag,
  maxAgeMs: count,
  maxAgeMissingMs: count,
  refresh: flag,
  /** Decides whether requests beyond the quota could cost money. */
  plan: word('free', 'paid', 'unspecified'),
  /** `--quota`; null to use the service's header alone. */
  quotaCap: nullOr(count),
  /** Requests that the overage budget pays for. */
  overage: count,
  /** Most requests per second; null for no ceiling. */
  maxRate: nullOr(count),
  /** `month`, `none`, or the day of the month (1 to 28) on which the billing period begins. */
  period: (value: unknown) => (typeof value === 'number' ? count(value) : word('month', 'none')(value)),
  /** Statuses that are not billed besides 401, 403 and 429; `5xx` stands for 500 to 599. */
  freeStatuses: list(text),
  maxRequests: nullOr(count),
  maxOverageRequests: nullOr(count),
  timeoutMs: count,
  /** The service's own domain, free to ask for once that is proven; null while unknown. */
  ownDomain: nullOr(text),
  /** The process that waits for the answers (`process-identity.ts`), if known. */
  process: optional(text),
  /** `user@host` of a command or a program, or a person's name from the dashboard, if known. */
  startedBy: optional(text),
  /** Absolute path of the complete result on its host; absent for an inbox or without a file. */
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
 * What orders apply to. A cancel ends one `job`: a file of an inbox, a tick of a schedule, or by
 * default the run itself. A pause holds all present and later runs of an `owner`: a file's job, a
 * schedule (`scheduleOwner`), or by default the key of the run.
 */
const OWNER = { job: text, owner: text };
export type RunOwner = ObjectOf<typeof OWNER>;

/** A file's host and name, for people. `host` is null for a schedule. */
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

/** The pause that stops all spending on an engine. */
export const ALL_SPENDING = { owner: '*', label: { host: null, name: 'all spending' }, run: null } as const;

export function isOfAll({ owner }: Pick<Pause, 'owner'>): boolean {
  return owner === ALL_SPENDING.owner;
}

/** A job's cancel, kept for 90 days. */
export const cancelShape = object({ ...ORDER, job: text });
export type Cancel = Shaped<typeof cancelShape>;

/** Counts of a run's work so far, as its workers report it. */
const tally = object({
  matched: count,
  notFound: count,
  failed: count,
  /** Answers that were in the store before. */
  stored: count,
  requests: count,
  /** Requests that were or may have been billed. */
  billed: count,
});
export type Tally = Shaped<typeof tally>;

export const NO_TALLY: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

/**
 * Returns the key that all runs of a name and account share on a day (UTC), and with it their caps,
 * even after one of them completes. `now`: by the store's clock.
 */
export function keyOfDay(name: string, { service, account }: RunSettings, now: number): string {
  const whose = createHash('sha256')
    .update(JSON.stringify([name, service, account]))
    .digest('hex');
  return `day:${new Date(now).toISOString().slice(0, 10)}:${whose.slice(0, 20)}`;
}

const NEW_RUN = {
  /** The caller makes it, because a job's record names it before the run begins. */
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
  /** Start by the store's clock, for judging the freshness of answers. */
  asOf: moment,
  /** Start of the key's first run since one completed: `--refresh` counts from here. */
  keyStartedAt: moment,
  heartbeatAt: moment,
  /** A run that is `running` with an old heartbeat is dead. */
  status: word('running', 'completed', 'stopped', 'cancelled'),
  /** The pause of the run's owner; null once the run completed or was cancelled. */
  paused: nullOr(orderShape),
  cancelled: nullOr(orderShape),
  /** End by the store's clock. Requests may still be in flight then. */
  endedAt: nullOr(moment),
  /** Why the run stopped; null if it runs or completed. */
  stop: nullOr(runStopShape),
  rows: nullOr(count),
  /** Number of distinct identifiers; null until known. */
  identifiers: nullOr(count),
  tally,
  /** Permits that the ledger has not taken back: billed, perhaps billed, or in flight. */
  spent: number,
  /** Requests that the ledger settled as overage. */
  overageBilled: number,
  /** True if final failures of earlier starts hold for this run (`LookupFailure.isFinal`). */
  hasEarlierFailures: flag,
  /** Sums of earlier, stopped starts of the same file, which this run continues; set by `list`. */
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
  /** Number of finished chunks. */
  chunks: count,
  tally,
  halt: nullOr(runHaltShape),
  isCancelled: flag,
  /** True if the run or all spending is paused. */
  isPaused: flag,
  /** True if the run itself is paused, so that its chunks make way for other runs. */
  isPausedAlone: flag,
};
export type RunProgress = ObjectOf<typeof RUN_PROGRESS>;

/** Returns the number of perhaps billed requests that no worker reported: in flight, or lost. */
export function unreportedOf({ spent, tally }: Pick<RunRecord, 'spent' | 'tally'>): number {
  return Math.max(0, spent - tally.billed);
}

/** True if an ended run may still have requests in flight. `now`: by the store's clock. */
export function mayBeInFlight({ endedAt, settings }: Pick<RunRecord, 'endedAt' | 'settings'>, now: number) {
  const { process, timeoutMs } = settings;
  if (endedAt === null || (process !== undefined && isProcessGone(process))) return false;
  return now - endedAt < timeoutMs + RULES.permitMarginMs;
}

/** A lookup that a run does not repeat. */
export interface LookupFailure {
  readonly key: string;
  readonly reason: FailureReason;
  readonly billed: boolean;
  /** True if the lookup does not count as failed: the next run of the command asks again. */
  readonly isDeferred?: boolean;
  /** True for a paid failure that cannot change: no later start asks again until one completes. */
  readonly isFinal?: boolean;
}

/** The result of an order; `ended` if it came too late. */
export const orderEndShape = word('done', 'ended', 'unknown');
export type OrderEnd = Shaped<typeof orderEndShape>;

/** Returns the owner of a schedule's runs. `key` names its results, whatever changes in it. */
export const scheduleOwner = (key: string): string => `schedule:${key}`;
/** Returns the owner of all runs of an agent's server. */
export const agentOwner = (name: string): string => `agent:${name}`;
export const isScheduleOwner = (owner: string): boolean => owner.startsWith(scheduleOwner(''));

/** True if a run stopped because a person must decide about its rest. */
export function isHeld({ status, stop }: Pick<RunRecord, 'status' | 'stop'>): boolean {
  return status === 'stopped' && stop?.type === 'halted' && stop.halt.why === 'unmatched';
}

/** True if a run completed without a match. False if it used stored answers. */
export function foundNothing({ status, identifiers, tally }: RunRecord): boolean {
  const isAsked = identifiers !== null && identifiers > 0 && tally.stored === 0;
  return status === 'completed' && isAsked && tally.matched === 0 && tally.notFound + tally.failed > 0;
}

/** True if a run is alive, by its heartbeat. `now`: by the store's clock. */
export function isAlive({ status, heartbeatAt }: Pick<RunRecord, 'status' | 'heartbeatAt'>, now: number) {
  const ageMs = now - heartbeatAt;
  return status === 'running' && ageMs < RULES.runDeadAfterMs && -ageMs <= RULES.runHeartbeatAheadMs;
}

/** Returns the number of a run's answered and failed lookups, as its workers report them. */
export function answeredOf({ tally }: Pick<RunRecord, 'tally'>): number {
  return tally.matched + tally.notFound + tally.failed + tally.stored;
}

/**
 * Returns the live runs that a run is queued behind: started earlier on the same account, with
 * lookups left. Empty once the run has sent a request. `now`: by the store's clock. Pure.
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

/** Returns `paused by ada@office since 14 Jan 2026, 09:30 UTC`. */
export function pausedText(order: Order): string {
  return `paused ${sinceText(order)}`;
}

/** Returns `it is paused by ...`, or `all spending is paused by ...`. */
export function pauseText(pause: Pause): string {
  return `${isOfAll(pause) ? pause.label.name : 'it'} is ${pausedText(pause)}`;
}

/** True for the pause of a file or a command. */
export function isOfFile(pause: Pick<Pause, 'owner'>): boolean {
  return !isScheduleOwner(pause.owner) && !isOfAll(pause);
}

/** Returns the command that ends a pause, in backticks. `name`: used if the pause has no run. */
export function resumeCommand(pause: Pause, name = pause.label.name): string {
  return isOfAll(pause) ? '`brand-enrich resume`' : `\`brand-enrich resume ${pause.run ?? name}\``;
}

/** Returns `by ada@office since 14 Jan 2026, 09:30 UTC`. */
export function sinceText({ by, at }: Order): string {
  return `by ${visibleLine(by)} since ${momentText(new Date(at).toISOString())}`;
}

/** Returns `cancelled by ada@office on 14 Jan 2026, 09:30 UTC`. */
export function cancelledText({ by, at }: Order): string {
  return `cancelled by ${visibleLine(by)} on ${momentText(new Date(at).toISOString())}`;
}

/** Returns a label like `etl-1: customers.csv`. */
export function labelText({ host, name }: Label): string {
  return host === null ? name : `${host}: ${name}`;
}

/** Returns `queued behind customers.csv and 2 others`; null for an empty list. */
export function queuedText(before: readonly Pick<RunRecord, 'label'>[]): string | null {
  const [first, ...others] = before;
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` and ${others.length} other${others.length === 1 ? '' : 's'}`;
  return `queued behind ${first.label.name}${more}`;
}

/** Returns the ages of answers that a run accepts, the same in each pass: as of its start. */
export function freshnessOf(run: Pick<RunRecord, 'asOf' | 'keyStartedAt' | 'settings'>): Freshness {
  return {
    asOf: run.asOf,
    maxAgeMs: run.settings.maxAgeMs,
    maxAgeMissingMs: run.settings.maxAgeMissingMs,
    notBefore: run.settings.refresh ? run.keyStartedAt : 0,
  };
}

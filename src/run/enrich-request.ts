/** The request and surroundings of a run, and its events; `enrich-file.ts` performs it. */
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { requestsFor } from '../core/decimal.js';
import type { Log } from '../core/log.js';
import type { Phrase } from '../core/phrase.js';
import type { Engine } from '../engine/engine.js';
import type { RunHalt } from '../engine/stores/run-reasons.js';
import type { Pause, RunProgress, RunRecord, RunSettings } from '../engine/stores/run-store.js';
import { READING_KEYS } from '../input/input.js';
import type { Table } from '../input/read-table.js';
import type { LedgerState } from '../ledger/ledger.js';
import { type openingPace, REMOTE_RATE } from '../ledger/pace.js';
import { keyOfConditions } from '../settings/column-value.js';
import type { Settings } from '../settings/settings.js';
import type { WorkerListener } from '../worker/asked.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { OutcomeCollector } from './lookups/collect-outcomes.js';
import type { SpendingQuestion } from './lookups/spending.js';
import type { Scan, ScanRequest } from './scan/scan.js';

export interface EnrichRequest extends ScanRequest {
  readonly settings: Settings;
  readonly stdout: NodeJS.WritableStream | null;
  readonly runSettings: RunSettings;
  readonly pace: ReturnType<typeof openingPace>;
  /** The reader of the report's reason and next step. */
  readonly reader: 'terminal' | 'inbox' | 'page' | 'program';
}

type RunWorker =
  /** The run starts and stops its own worker. */
  | { readonly type: 'own'; readonly open: (listener: WorkerListener) => LookupWorker }
  | ({ readonly type: 'shared' } & SharedWorker);

/** One worker for all files that a process has under way; the process starts and stops it. */
export interface SharedWorker {
  readonly worker: LookupWorker;
  /** Notifies `listener` of chunks and answers of all files until the returned function runs. */
  readonly listen: (listener: WorkerListener) => () => void;
}

export interface EnrichRuntime {
  readonly engine: Engine;
  readonly queueName: string;
  /** Null if workers elsewhere do the lookups. */
  readonly worker: RunWorker | null;
  /** The job of a file or tick, whose run ends when paused. Absent for a command, which waits. */
  readonly job?: Pick<RunRecord, 'id' | 'job' | 'owner'> & { readonly startedBy?: string | undefined };
  /** The key that caps are counted under; default: `runKey` of command and content. */
  readonly key?: string;
  /** True if the run opens its account in the ledger, asked just before; default true. */
  readonly opensAccount?: () => boolean;
  /** The input, if it is open already. The run closes it in any case. */
  readonly table?: Table | null;
  /** Called before the file is read and before results are written; returns what to call after. */
  readonly beginReading?: () => Promise<() => Promise<void>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops new requests; the run waits for those in flight and writes the results so far. */
  readonly stop: AbortSignal;
  readonly emit: Emit;
  readonly graceMs: () => number;
  /** Asks before spending; false ends the run. Default: agrees, but not to the rest of a trial. */
  readonly confirm?: (question: SpendingQuestion) => Promise<boolean>;
  /** Asks a person whether to resume a paused command; default: no. */
  readonly resumes?: (pause: Pause) => Promise<boolean>;
  /** Asks a person whether a held run continues; absent without anybody to ask. */
  readonly asks?: (question: string) => Promise<boolean>;
  /** The inbox or schedule that the file belongs to, if any. */
  readonly series?: string;
}

/** An event of a run, as facts; its readers put them into words. */
export type RunEvent =
  | { readonly type: 'reading' | 'writing'; readonly rows: number }
  /** The possible cost of the next lookups, before any of them; with the result of a trial. */
  | { readonly type: 'estimated'; readonly question: SpendingQuestion }
  | ({ readonly type: 'progress' } & EnrichProgress)
  | { readonly type: 'matched'; readonly identifier: string }
  | { readonly type: 'parked'; readonly halt: RunHalt; readonly ledger: LedgerState | null }
  /** Anything else for people. `isWarning`: shown even with `--quiet`. */
  | { readonly type: 'notice'; readonly text: Phrase; readonly isWarning?: true };

/** Receives an event; never throws, never blocks. */
export type Emit = (event: RunEvent) => void;

export interface EnrichProgress {
  readonly record: Pick<RunRecord, 'id' | 'settings'>;
  readonly isParked: boolean;
  /** Distinct identifiers wanted, and those that have an answer or failed. */
  readonly wanted: number;
  readonly answered: number;
  readonly run: RunProgress | null;
  readonly ledger: LedgerState | null;
  readonly inFlight: number;
  /** Why the service is unavailable; null while it answers. */
  readonly outage: string | null;
  /** `queued behind customers.csv`, until the first request is sent; then null. */
  readonly queued: string | null;
}

/** A run that has begun. */
export interface ActiveRun {
  readonly request: EnrichRequest;
  readonly runtime: EnrichRuntime;
  readonly run: RunRecord;
  readonly scan: Scan;
  readonly collector: OutcomeCollector;
}

/** Names that runs and workers must agree on without talking. */
export interface AccountNames {
  /** The account's name in the ledger: `--account`, else derived from service and token. */
  readonly account: string;
  /** The base URL, which identifies the service. */
  readonly service: string;
  /** Made of service and token, so that only workers with the same token get the chunks. */
  readonly queueName: string;
}

/** The service of a run, and whose account pays. */
export interface RunService extends AccountNames {
  readonly isLoopback: boolean;
  /** The service's own brand, for free requests; null when unknown. */
  readonly ownDomain: string | null;
}

export function runSettingsOf(
  settings: Settings,
  { service, account, isLoopback, ownDomain }: Omit<RunService, 'queueName'>,
): RunSettings {
  const { maxCost, overageBudget, overagePrice } = settings;
  return {
    service,
    account,
    allowNsfw: settings.allowNsfw,
    allowUnknown: settings.minMatch === 0,
    maxAgeMs: settings.maxAgeMs,
    maxAgeMissingMs: settings.maxAgeMissingMs,
    refresh: settings.refresh,
    plan: settings.plan ?? 'unspecified',
    quotaCap: settings.quota,
    overage: settings.plan === 'paid' ? requestsFor(overageBudget, overagePrice) : 0,
    period: settings.period,
    freeStatuses: settings.freeStatuses,
    maxRequests: settings.maxRequests,
    maxOverageRequests: maxCost === null ? null : requestsFor(maxCost, overagePrice),
    timeoutMs: settings.timeoutMs,
    ownDomain,
    maxRate: (settings.rate ?? (isLoopback ? 0 : REMOTE_RATE)) || null,
  };
}

/** Returns 32 hex digits, the same for the same command and content (`Input.contentHash`). */
export function runKey(
  contentHash: string,
  { settings, runSettings }: Pick<EnrichRequest, 'settings' | 'runSettings'>,
): string {
  const { columns: requested, kind, waterfall, where } = settings;
  const { service, allowNsfw, refresh } = runSettings;
  // Settings that choose identifiers or the meaning of answers, and whether the run refreshes them.
  const rows = where.length > 0 && { where: keyOfConditions(where) };
  const anew = refresh && { refresh };
  const reading = Object.fromEntries(READING_KEYS.map((key) => [key, settings[key]]));
  const chosen = { ...reading, requested, kind, waterfall, service, allowNsfw, ...rows, ...anew };
  const ordered = Object.entries(chosen).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(contentHash).update(JSON.stringify(ordered)).digest('hex').slice(0, 32);
}

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
  /** For whom the report says why the run stopped and what to do next. */
  readonly reader: 'terminal' | 'inbox' | 'page' | 'program';
}

type RunWorker =
  /** For this run alone, which starts and stops it. */
  | { readonly type: 'own'; readonly open: (listener: WorkerListener) => LookupWorker }
  | ({ readonly type: 'shared' } & SharedWorker);

/** One worker for all files that a process has under way; the process starts and stops it. */
export interface SharedWorker {
  readonly worker: LookupWorker;
  /** Notifies `listener` of chunks and answers of all files until the returned function runs. */
  readonly listen: (listener: WorkerListener) => () => void;
}

export interface EnrichRuntime {
  /** One of this process, or that of another process which does the lookups. */
  readonly engine: Engine;
  readonly queueName: string;
  /** null: workers elsewhere do the lookups. */
  readonly worker: RunWorker | null;
  /** The job of a file or tick; a pause ends its run. Absent: its own job, which waits. */
  readonly job?: Pick<RunRecord, 'id' | 'job' | 'owner'> & { readonly startedBy?: string | undefined };
  /** Under which its caps are counted; absent: that of its command and content (`runKey`). */
  readonly key?: string;
  /** Whether this run opens the account in the ledger, asked just before; default: it does. */
  readonly opensAccount?: () => boolean;
  /** The input, where it is open already; absent or null: it is opened by its name, and closed. */
  readonly table?: Table | null;
  /** Called before reading the file and before writing results; what it returns, after that. */
  readonly beginReading?: () => Promise<() => Promise<void>>;
  readonly clock: Clock;
  readonly log: Log;
  /** No new requests; waits for those in flight, and writes the results so far. */
  readonly stop: AbortSignal;
  readonly emit: Emit;
  readonly graceMs: () => number;
  /** Asks before spending; false ends the run. Absent: only the rest after a trial is refused. */
  readonly confirm?: (question: SpendingQuestion) => Promise<boolean>;
  /** Asks a person whether a paused command may go on; false, or absent: it may not. */
  readonly resumes?: (pause: Pause) => Promise<boolean>;
  /** Asks a person whether a held run continues; absent: nobody can be asked anything. */
  readonly asks?: (question: string) => Promise<boolean>;
  /** The inbox or the schedule of its file; absent: a file of its own. */
  readonly series?: string;
}

/** What a run tells while it is under way, in facts: its readers make the words. */
export type RunEvent =
  | { readonly type: 'reading' | 'writing'; readonly rows: number }
  /** What the next lookups may cost, before anything is sent or asked; after a trial its result. */
  | { readonly type: 'estimated'; readonly question: SpendingQuestion }
  | ({ readonly type: 'progress' } & EnrichProgress)
  | { readonly type: 'matched'; readonly identifier: string }
  | { readonly type: 'parked'; readonly halt: RunHalt; readonly ledger: LedgerState | null }
  /** Whatever else people should know. `isWarning`: shown even with `--quiet`. */
  | { readonly type: 'notice'; readonly text: Phrase; readonly isWarning?: true };

/** Never throws, and does not wait for anybody. */
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
  /** In the ledger: `--account`, else made of service and token without revealing the token. */
  readonly account: string;
  /** Identity of the service: its base URL. */
  readonly service: string;
  /** Chunks of one token go to workers that hold it, never to others. */
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

/** 32 hex digits, same for the same command and content. `contentHash`: `Input.contentHash`. */
export function runKey(
  contentHash: string,
  { settings, runSettings }: Pick<EnrichRequest, 'settings' | 'runSettings'>,
): string {
  const { columns: requested, kind, waterfall, where } = settings;
  const { service, allowNsfw, refresh } = runSettings;
  // The settings that choose identifiers, or the meaning of their answers. A refresh is not over
  // when a run without it is.
  const rows = where.length > 0 && { where: keyOfConditions(where) };
  const anew = refresh && { refresh };
  const reading = Object.fromEntries(READING_KEYS.map((key) => [key, settings[key]]));
  const chosen = { ...reading, requested, kind, waterfall, service, allowNsfw, ...rows, ...anew };
  const ordered = Object.entries(chosen).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(contentHash).update(JSON.stringify(ordered)).digest('hex').slice(0, 32);
}

/**
 * What a run is asked to do, what it may touch, and what it comes to. Only types; `enrich-file.ts` does it.
 */
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import type { TableFormat } from '../core/table.js';
import type { Engine } from '../engine/engine.js';
import type { LedgerState } from '../ledger/ledger.js';
import type { RunProgress, RunRecord, RunSettings } from '../stores/run-store.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { WorkerListener } from '../worker/worker-listener.js';
import type { SpendingEstimate } from './lookups/spending.js';
import type { LookupsEnd } from './lookups/sweep.js';
import type { OutputNames } from './output/output-names.js';
import type { OutputPlan } from './output/output-plan.js';
import type { Written } from './output/write-output.js';
import type { RunFacts } from './report/run-summary.js';
import type { OpenedTable, TableRequest } from './scan/open-table.js';
import type { Scan } from './scan/scan.js';

/** What one run is asked to do. Settings as the table of settings has them. */
export interface EnrichRequest extends TableRequest {
  readonly stdout: NodeJS.WritableStream | null;
  readonly scan: TableRequest['scan'] & { readonly waterfall: boolean };
  readonly output: {
    readonly path: string | null;
    readonly format: TableFormat | null;
    readonly fields: readonly string[] | null;
    readonly isSorted: boolean;
    readonly escapeFormulas: OutputPlan['escapeFormulas'];
    readonly errors: string | null;
    readonly report: string | null;
  };
  readonly settings: RunSettings;
  readonly overagePrice: string;
  /** Pace to begin with; see `openingPace`. */
  readonly pace: { readonly rate: number | null | undefined; readonly burst: number };
  readonly onLimit: 'stop' | 'wait';
  readonly ownDomain: string | null;
  /** Failed lookups that are too many, as a number or a share of the identifiers; null: no limit. */
  readonly maxErrors: { readonly count: number } | { readonly percent: number } | null;
  /** Where spools live while the run does. */
  readonly stateFolder: string;
}

/** The lookup worker of a run in its own process. */
type RunWorker =
  /** For this run alone, which starts and stops it. */
  | { readonly type: 'own'; readonly open: (listener: WorkerListener) => LookupWorker }
  | ({ readonly type: 'shared' } & SharedWorker);

/** One worker for all files that a process has under way; the process starts and stops it. */
export interface SharedWorker {
  readonly worker: LookupWorker;
  /** Tells `listener` of every chunk and answer, whichever file it is for, until the returned function is called. */
  readonly listen: (listener: WorkerListener) => () => void;
}

export interface EnrichSurroundings {
  /** One of this process, or that of another process which does the lookups. */
  readonly engine: Engine;
  readonly queueName: string;
  /** null: workers elsewhere do the lookups. */
  readonly worker: RunWorker | null;
  /** Whether this run opens the account in the ledger, asked when it is about to; default: it does. */
  readonly opensAccount?: () => boolean;
  /** The input, where it is open already; absent or null: it is opened by its name, and closed. */
  readonly table?: OpenedTable | null;
  readonly clock: Clock;
  readonly log: Log;
  /** No new requests; what is in flight is waited for, and what is there is written. */
  readonly stop: AbortSignal;
  readonly onProgress: (progress: EnrichProgress) => void;
  /** Sentences for people, as they become true. */
  /** `isWarning`: to be said even where little is. */
  readonly onNotice: (notice: string, isWarning?: true) => void;
  /** How long requests in flight are waited for once `stop` is aborted. */
  readonly graceMs: () => number;
  /** Asked before money is spent; false ends the run before it. */
  readonly confirm: (estimate: SpendingEstimate) => Promise<boolean>;
}

export interface EnrichProgress {
  /** null while the file is read. */
  readonly runId: string | null;
  readonly phase: 'reading' | 'asking' | 'parked' | 'writing';
  readonly rows: number;
  /** Distinct identifiers wanted, and those that have an answer or failed. */
  readonly wanted: number;
  readonly answered: number;
  readonly run: RunProgress | null;
  readonly ledger: LedgerState | null;
  readonly inFlight: number;
  /** What the service does instead of answering; null while it answers. */
  readonly trouble: string | null;
}

export interface EnrichResult {
  readonly run: RunRecord;
  readonly end: LookupsEnd;
  readonly isComplete: boolean;
  readonly scan: Scan;
  readonly facts: RunFacts;
  readonly written: Written;
  readonly names: OutputNames;
  readonly progress: RunProgress | null;
  readonly ledger: LedgerState | null;
  readonly inputWarnings: readonly string[];
  readonly inputName: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** From start to end, however the clock was set meanwhile. */
  readonly tookMs: number;
}

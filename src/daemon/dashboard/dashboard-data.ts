/**
 * What the dashboard shows, as plain data. The sections render it.
 */
import type { EngineKind } from '../../engine/engine.js';
import type { LedgerState } from '../../ledger/ledger.js';
import type { BudgetState, Projection } from '../../ledger/projection.js';
import type { OutcomeStats } from '../../stores/outcome-store.js';
import type { RunRecord } from '../../stores/run-store.js';
import type { ScheduleState } from '../schedules/schedule-book.js';

/** Times are milliseconds since 1970. */
export interface DashboardData {
  /** When it was gathered, by this machine's clock, and by the engine's, which dates runs. */
  readonly at: number;
  readonly storeNow: number;
  readonly engine: EngineKind;
  /** Where the engine is, without credentials. */
  readonly address: string;
  /** null, and what hangs on it, where the settings name no account. */
  readonly account: string | null;
  readonly ledger: LedgerState | null;
  /** Requests that fit into the period: quota and overage; null while unknown. */
  readonly limit: number | null;
  readonly projection: Projection | null;
  /** null unless the plan is paid. */
  readonly budget: BudgetState | null;
  /** Chunks of up to 50 identifiers: `waiting`, `active`, `delayed`. */
  readonly queue: Readonly<Record<string, number>> | null;
  readonly answers: OutcomeStats;
  /** Newest first. */
  readonly runs: readonly RunRecord[];
  readonly schedules: readonly ScheduleState[];
  readonly inboxes: readonly ShownInbox[];
}

/** A watched folder and what waits in it. */
export interface ShownInbox {
  /** Absolute. */
  readonly folder: string;
  /** Why no file is taken from it; null: files are. */
  readonly closed: string | null;
  /** Longest waiting first; null when the folder cannot be read. */
  readonly waiting: readonly WaitingFile[] | null;
}

export interface WaitingFile {
  readonly file: string;
  /** Its folder below `waiting/`. */
  readonly folder: string;
  /** 0 when nobody noted it. */
  readonly since: number;
  /** One sentence. */
  readonly reason: string;
}

/** The newest data that there are, and whether they are old. */
export interface DashboardView {
  /** Name of the machine that shows the page. */
  readonly host: string;
  readonly now: number;
  /** null: the engine has not answered yet. */
  readonly data: DashboardData | null;
  /** When somebody who looked first got no answer from the engine, which may have been unavailable for longer; null while it answers. */
  readonly awayNoticedAt: number | null;
  /** Why the service is taken to be unavailable; null while it answers, and where nobody here asks it. */
  readonly serviceTrouble: string | null;
  /** Brands and quota are made up. */
  readonly isSample: boolean;
  /** This process is stopping. */
  readonly isStopping: boolean;
}

/** What a run tells while it is under way, in one stream, in facts: its readers make the words. */
import type { Phrase } from '../core/phrase.js';
import type { RunHalt } from '../engine/stores/run-reasons.js';
import type { RunProgress, RunRecord } from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import type { SpendingQuestion } from './lookups/spending.js';

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

/**
 * How a run stands: what its record says, and what can be concluded from its heartbeat and its account. Pure.
 */
import type { LedgerState } from '../../ledger/ledger.js';
import { isAlive, type RunRecord } from '../../stores/run-store.js';

/**
 * `running`: at work. `held`: alive, and nothing may be spent. `dead`: says it runs, and nobody has heard of it. The others as
 * the record has them.
 */
export type Standing = 'running' | 'held' | 'dead' | 'finished' | 'stopped' | 'cancelled';

/** What holds the spending of an account. */
export type Hold = 'paused' | 'closed' | 'used up';
/** What holds a run: its account, or its own `--max-requests`. */
export type RunHold = Hold | 'capped';

/** Identifiers of a run by what became of them. */
export interface RunParts {
  readonly matched: number;
  readonly notFound: number;
  readonly failed: number;
  /** Answered from the store, without a request. */
  readonly stored: number;
  readonly left: number;
  /** The sum of them; 0 while nobody knows how many there are. */
  readonly whole: number;
}

export function holdOf(
  ledger: Pick<LedgerState, 'isPaused' | 'closedAt' | 'sent' | 'others'> | null,
  limit: number | null,
): Hold | null {
  if (ledger === null) return null;
  if (ledger.isPaused) return 'paused';
  if (ledger.closedAt !== null) return 'closed';
  return limit !== null && ledger.sent + ledger.others >= limit ? 'used up' : null;
}

/** What holds a run that has identifiers left; null: nothing. `hold`: of its own account. */
export function runHoldOf(run: RunRecord, hold: Hold | null): RunHold | null {
  if (run.identifiers !== null && partsOf(run).left === 0) return null;
  if (hold !== null) return hold;
  const { maxRequests } = run.settings;
  return maxRequests !== null && run.tally.requests >= maxRequests ? 'capped' : null;
}

/** `storeNow`: by the clock that dates heartbeats. `hold`: of the run. */
export function standingOf(run: RunRecord, storeNow: number, hold: RunHold | null): Standing {
  switch (run.status) {
    case 'completed':
      return 'finished';
    case 'stopped':
    case 'cancelled':
      return run.status;
    case 'running': {
      if (!isAlive(run, storeNow)) return 'dead';
      return hold === null ? 'running' : 'held';
    }
  }
}

/**
 * Counts never go below nothing: a chunk that was done twice is counted twice. What a finished run did not have to ask for
 * was stored.
 */
export function partsOf({ tally, identifiers, status }: RunRecord): RunParts {
  const { matched, notFound, failed } = tally;
  const answered = matched + notFound + failed + tally.stored;
  const rest = Math.max(0, (identifiers ?? 0) - answered);
  const isFinished = status === 'completed';
  return {
    matched,
    notFound,
    failed,
    stored: tally.stored + (isFinished ? rest : 0),
    left: isFinished ? 0 : rest,
    whole: identifiers === null ? 0 : answered + rest,
  };
}

/** Those that are alive first, then the newest; at most `count`. */
export function runsToShow(
  runs: readonly RunRecord[],
  isAlive: (run: RunRecord) => boolean,
  count: number,
): RunRecord[] {
  const alive = runs.filter(isAlive);
  const others = runs.filter((run) => !isAlive(run));
  return [...alive, ...others].slice(0, Math.max(count, alive.length));
}

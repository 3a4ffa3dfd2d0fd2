/** The one judge of runs, by record, heartbeat, process and account. Pure. */
import type { RunStop } from '../../engine/stores/run-reasons.js';
import {
  answeredOf,
  foundNothing,
  isAlive,
  isHeld,
  mayBeInFlight,
  type Order,
  queuedText,
  type RunRecord,
  runsBefore,
  unreportedOf,
} from '../../engine/stores/run-store.js';
import { type Hold, holdOf } from '../../ledger/policy.js';

/** `held`: alive, may not spend. `dead`: recorded as running, and is not. Others: as recorded. */
export type Standing = 'running' | 'held' | 'dead' | 'finished' | 'stopped' | 'cancelled';

/** What a run is for people. */
export type RunState = Exclude<Standing, 'held'> | 'paused' | 'waiting' | 'nothing matched';

/** Why a run may not spend: it is paused, its account, or its own `--max-requests`. */
export type RunHold = Hold | 'capped';

/** What runs are judged by. */
export interface Evidence {
  readonly runs: readonly RunRecord[];
  /** The clock that dates heartbeats. */
  readonly storeNow: number;
  /** Runs whose process is known to have ended, on this machine. */
  readonly gone: ReadonlySet<string>;
  /** The account of this process; null: none is set. */
  readonly account: string | null;
  readonly ledger: Parameters<typeof holdOf>[0] | null;
  /** The other accounts of runs that are alive, by name: why each may not spend. */
  readonly otherHolds: ReadonlyMap<string, Hold | null>;
}

type RunWhy =
  | { readonly type: 'queued'; readonly behind: string }
  /** `goesOn`: when it is resumed, without a new start of the command. */
  | { readonly type: 'paused'; readonly order: Order; readonly goesOn: boolean }
  /** Dead: process or heartbeat ended. `goesOn`: another process takes its job over. */
  | { readonly type: 'gone' | 'silent'; readonly goesOn: boolean }
  | { readonly type: 'cancelled'; readonly order: Order }
  | { readonly type: 'held'; readonly hold: RunHold }
  | { readonly type: 'nothing matched' }
  | { readonly type: 'stopped'; readonly stop: RunStop };

export interface JudgedRun {
  readonly run: RunRecord;
  readonly standing: Standing;
  readonly state: RunState;
  /** null: there is nothing to say. */
  readonly why: RunWhy | null;
  /** Requests that are sent and not reported: they are awaited, or at least their permits are. */
  readonly inFlight: number;
  /** Requests that may have been billed and whose answers are lost: their worker ended. */
  readonly unreported: number;
}

/** Those that are at work first, else in the order of the evidence. */
export function judgeRuns(evidence: Evidence): JudgedRun[] {
  const { runs, storeNow, gone, account, ledger, otherHolds } = evidence;
  const own = ledger && holdOf(ledger);
  const there = runs.filter(({ id }) => !gone.has(id));
  const judged = runs.map((run): JudgedRun => {
    const { account: its } = run.settings;
    // A pause holds every account of the engine.
    const held = its === account || own === 'paused' ? own : (otherHolds.get(its) ?? null);
    const isGone = gone.has(run.id);
    const mayHold = runHoldOf(run, held);
    const standing = standingOf(run, storeNow, mayHold, isGone);
    const behind = standing === 'running' ? queuedText(runsBefore(run, there, storeNow)) : null;
    const isInFlight = isAtWork({ standing }) || mayBeInFlight(run, storeNow);
    const missing = unreportedOf(run);
    return {
      run,
      standing,
      state: stateOf(run, standing),
      why: behind === null ? whyOf(run, standing, mayHold, isGone) : { type: 'queued', behind },
      inFlight: isInFlight ? missing : 0,
      unreported: isInFlight ? 0 : missing,
    };
  });
  return judged.sort((one, other) => Number(isAtWork(other)) - Number(isAtWork(one)));
}

function stateOf(run: RunRecord, standing: Standing): RunState {
  if (run.paused !== null && (standing === 'held' || standing === 'stopped')) return 'paused';
  if (standing === 'held' || isHeld(run)) return 'waiting';
  return foundNothing(run) ? 'nothing matched' : standing;
}

function whyOf(run: RunRecord, standing: Standing, hold: RunHold | null, isGone: boolean): RunWhy | null {
  // A command whose process has ended is started anew.
  const isCommand = run.job === run.id;
  // One that works with nothing left to ask for is not held by a pause.
  if (run.paused !== null && standing !== 'running')
    return { type: 'paused', order: run.paused, goesOn: standing === 'held' || !isCommand };
  if (standing === 'dead') return { type: isGone ? 'gone' : 'silent', goesOn: !isCommand };
  if (run.cancelled !== null) return { type: 'cancelled', order: run.cancelled };
  if (standing === 'held' && hold !== null) return { type: 'held', hold };
  if (run.stop !== null) return { type: 'stopped', stop: run.stop };
  return foundNothing(run) ? { type: 'nothing matched' } : null;
}

/** Answers without a match that are worth a word while the run continues. */
const MISSES_AT_LEAST = 20;

/** Whether a run is at work and has found nothing in its first answers. */
export function findsNothing({ run, standing }: Pick<JudgedRun, 'run' | 'standing'>): boolean {
  const { matched, stored, notFound } = partsOf(run);
  return standing === 'running' && matched + stored === 0 && notFound >= MISSES_AT_LEAST;
}

/** Whether a process is working on the run. */
export function isAtWork({ standing }: Pick<JudgedRun, 'standing'>): boolean {
  return standing === 'running' || standing === 'held';
}

/** Why a run with identifiers left may not spend; null: it may. `hold`: of its own account. */
function runHoldOf(run: RunRecord, hold: Hold | null): RunHold | null {
  if (run.identifiers !== null && partsOf(run).left === 0) return null;
  if (run.paused !== null) return 'paused';
  if (hold !== null) return hold;
  const { maxRequests } = run.settings;
  return maxRequests !== null && run.tally.requests >= maxRequests ? 'capped' : null;
}

/** `storeNow`: by the clock that dates heartbeats. `hold`: of the run. */
function standingOf(run: RunRecord, storeNow: number, hold: RunHold | null, isGone = false): Standing {
  if (run.status === 'completed') return 'finished';
  if (run.status !== 'running') return run.status;
  if (isGone || !isAlive(run, storeNow)) return 'dead';
  return hold === null ? 'running' : 'held';
}

/**
 * Identifiers by outcome; `whole`: the sum, 0 while unknown. No count is negative. A chunk that an
 * engine lost, or has again after a failover, is done twice and finds what it had asked for stored:
 * that is not a second identifier. In a finished run, identifiers without a request were stored.
 * What earlier starts of the same file bought is found stored, and counts by its outcome.
 */
export function partsOf(run: Pick<RunRecord, 'tally' | 'identifiers' | 'status' | 'earlier'>) {
  const { tally, identifiers, earlier } = run;
  const { failed } = tally;
  const twice = Math.max(0, answeredOf(run) - (identifiers ?? Number.POSITIVE_INFINITY));
  const isFinished = run.status === 'completed';
  const reported = Math.max(0, tally.stored - twice);
  const answered = tally.matched + tally.notFound + failed + reported;
  const rest = Math.max(0, (identifiers ?? 0) - answered);
  const found = reported + (isFinished ? rest : 0);
  const matchedBefore = Math.min(earlier?.matched ?? 0, found);
  const missingBefore = Math.min(earlier?.notFound ?? 0, found - matchedBefore);
  return {
    matched: tally.matched + matchedBefore,
    notFound: tally.notFound + missingBefore,
    failed,
    stored: found - matchedBefore - missingBefore,
    left: isFinished ? 0 : rest,
    whole: identifiers === null ? 0 : answered + rest,
  };
}

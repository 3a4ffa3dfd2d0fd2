/** Judges runs by record, heartbeat, process and account. Pure. */
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

/** `held`: alive, may not spend. `dead`: recorded as running, not alive. Others: as recorded. */
export type Standing = 'running' | 'held' | 'dead' | 'finished' | 'stopped' | 'cancelled';

/** The state of a run, for people. */
export type RunState = Exclude<Standing, 'held'> | 'paused' | 'waiting' | 'nothing matched';

/** Why a run may not spend: a pause, its account, or its own `--max-requests`. */
export type RunHold = Hold | 'capped';

/** The facts that runs are judged by. */
export interface Evidence {
  readonly runs: readonly RunRecord[];
  /** The time by the clock that dates heartbeats, in milliseconds. */
  readonly storeNow: number;
  /** Runs whose process is known to have ended, on this machine. */
  readonly gone: ReadonlySet<string>;
  /** The account of this process; null if none is set. */
  readonly account: string | null;
  readonly ledger: Parameters<typeof holdOf>[0] | null;
  /** Why other accounts of live runs may not spend, by their names. */
  readonly otherHolds: ReadonlyMap<string, Hold | null>;
}

type RunWhy =
  | { readonly type: 'queued'; readonly behind: string }
  /** `continues`: to resume it is enough; the command need not be started again. */
  | { readonly type: 'paused'; readonly order: Order; readonly continues: boolean }
  /** The process or the heartbeat ended. `continues`: another process takes the job over. */
  | { readonly type: 'gone' | 'silent'; readonly continues: boolean }
  | { readonly type: 'cancelled'; readonly order: Order }
  | { readonly type: 'held'; readonly hold: RunHold }
  | { readonly type: 'nothing matched' }
  | { readonly type: 'stopped'; readonly stop: RunStop };

export interface JudgedRun {
  readonly run: RunRecord;
  readonly standing: Standing;
  readonly state: RunState;
  readonly why: RunWhy | null;
  /** Requests sent and not reported, whose answers or permits are still awaited. */
  readonly inFlight: number;
  /** Requests that may have been billed; their worker ended and their answers are lost. */
  readonly unreported: number;
}

/** Judges all runs. Runs at work come first; otherwise the order of the evidence stays. */
export function judgeRuns(evidence: Evidence): JudgedRun[] {
  const { runs, storeNow, gone, account, ledger, otherHolds } = evidence;
  const ownHold = ledger && holdOf(ledger);
  const notGone = runs.filter(({ id }) => !gone.has(id));
  const judged = runs.map((run): JudgedRun => {
    const payer = run.settings.account;
    // A pause holds every account of the engine.
    const isOwn = payer === account || ownHold === 'paused';
    const isGone = gone.has(run.id);
    const hold = runHoldOf(run, isOwn ? ownHold : (otherHolds.get(payer) ?? null));
    const standing = standingOf(run, storeNow, hold, isGone);
    const behind = standing === 'running' ? queuedText(runsBefore(run, notGone, storeNow)) : null;
    const isInFlight = isAtWork({ standing }) || mayBeInFlight(run, storeNow);
    const unreported = unreportedOf(run);
    return {
      run,
      standing,
      state: stateOf(run, standing),
      why: behind === null ? whyOf(run, standing, hold, isGone) : { type: 'queued', behind },
      inFlight: isInFlight ? unreported : 0,
      unreported: isInFlight ? 0 : unreported,
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
  // A command whose process has ended needs a new start.
  const isCommand = run.job === run.id;
  // A pause does not hold a run with nothing left to look up.
  if (run.paused !== null && standing !== 'running')
    return { type: 'paused', order: run.paused, continues: standing === 'held' || !isCommand };
  if (standing === 'dead') return { type: isGone ? 'gone' : 'silent', continues: !isCommand };
  if (run.cancelled !== null) return { type: 'cancelled', order: run.cancelled };
  if (standing === 'held' && hold !== null) return { type: 'held', hold };
  if (run.stop !== null) return { type: 'stopped', stop: run.stop };
  return foundNothing(run) ? { type: 'nothing matched' } : null;
}

/** Answers without any match that are worth a warning while the run continues. */
const MISSES_AT_LEAST = 20;

/** True if a run is at work and has found nothing in its first answers. */
export function findsNothing({ run, standing }: Pick<JudgedRun, 'run' | 'standing'>): boolean {
  const { matched, stored, notFound } = countsOf(run);
  return standing === 'running' && matched + stored === 0 && notFound >= MISSES_AT_LEAST;
}

/** True if a process is working on the run. */
export function isAtWork({ standing }: Pick<JudgedRun, 'standing'>): boolean {
  return standing === 'running' || standing === 'held';
}

/** Returns why a run with identifiers left may not spend, or null. `hold`: that of its account. */
function runHoldOf(run: RunRecord, hold: Hold | null): RunHold | null {
  if (run.identifiers !== null && countsOf(run).left === 0) return null;
  if (run.paused !== null) return 'paused';
  if (hold !== null) return hold;
  const { maxRequests } = run.settings;
  return maxRequests !== null && run.tally.requests >= maxRequests ? 'capped' : null;
}

function standingOf(run: RunRecord, storeNow: number, hold: RunHold | null, isGone: boolean): Standing {
  if (run.status === 'completed') return 'finished';
  if (run.status !== 'running') return run.status;
  if (isGone || !isAlive(run, storeNow)) return 'dead';
  return hold === null ? 'running' : 'held';
}

/**
 * Counts a run's identifiers by outcome; `total` is 0 while unknown. Leaves out repeats: a chunk
 * that runs twice finds its own answers stored. In a finished run, identifiers not counted so far
 * were stored. Answers that earlier starts bought count as matched or not found, not as stored.
 */
export function countsOf(run: Pick<RunRecord, 'tally' | 'identifiers' | 'status' | 'earlier'>) {
  const { tally, identifiers, earlier } = run;
  const { failed } = tally;
  const repeats = Math.max(0, answeredOf(run) - (identifiers ?? Number.POSITIVE_INFINITY));
  const isFinished = run.status === 'completed';
  const reported = Math.max(0, tally.stored - repeats);
  const answered = tally.matched + tally.notFound + failed + reported;
  const rest = Math.max(0, (identifiers ?? 0) - answered);
  const stored = reported + (isFinished ? rest : 0);
  const matchedBefore = Math.min(earlier?.matched ?? 0, stored);
  const missingBefore = Math.min(earlier?.notFound ?? 0, stored - matchedBefore);
  return {
    matched: tally.matched + matchedBefore,
    notFound: tally.notFound + missingBefore,
    failed,
    stored: stored - matchedBefore - missingBefore,
    left: isFinished ? 0 : rest,
    total: identifiers === null ? 0 : answered + rest,
  };
}

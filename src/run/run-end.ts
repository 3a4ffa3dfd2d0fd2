/** The end of a run's lookups, and its exit code. Pure. */
import { BrandEnrichError, EXIT, type ExitCode, isOfStop, worstExit } from '../core/errors.js';
import { hasNoMatch, type StatusCounts, type StopCode } from '../core/outcome.js';
import type { RunHalt, RunStop } from '../engine/stores/run-reasons.js';

/** A failure while a stopped run was winding up. */
export interface StopFault {
  readonly exitCode: ExitCode;
  readonly sentence: string;
}

/** `finished`: each wanted identifier is answered or failed. `paused`: its job can be resumed. */
export type LookupsEnd =
  | { readonly type: 'finished' | 'cancelled' | 'paused' | 'declined' | 'too_many_failures' }
  | { readonly type: 'stopped'; readonly fault?: StopFault | null }
  | { readonly type: 'halted'; readonly halt: RunHalt };

const EXIT_OF_END: Record<Exclude<LookupsEnd['type'], 'halted'>, ExitCode> = {
  finished: EXIT.done,
  stopped: EXIT.interrupted,
  cancelled: EXIT.interrupted,
  paused: EXIT.limit,
  declined: EXIT.done,
  too_many_failures: EXIT.tooManyErrors,
};

const EXIT_OF_HALT: Record<RunHalt['why'], ExitCode> = {
  credentials: EXIT.credentials,
  limit: EXIT.limit,
  throttled: EXIT.limit,
  doubtful: EXIT.limit,
  unreachable: EXIT.ioError,
  lost: EXIT.ioError,
  useless: EXIT.ioError,
  unmatched: EXIT.limit,
};

/** Returns why a run with deferred rows stopped, in one word for programs. */
export function stopCodeOf(end: LookupsEnd): StopCode {
  if (end.type === 'halted') return end.halt.why === 'unmatched' ? 'min-match' : end.halt.why;
  if (end.type === 'too_many_failures') return 'max-errors';
  return end.type === 'stopped' || end.type === 'finished' ? 'interrupted' : end.type;
}

/** Returns why the run ended early, as the engine stores it; null if nothing stopped it. */
export function stopOf(end: LookupsEnd): RunStop | null {
  if (end.type === 'finished') return null;
  return end.type === 'halted' ? end : { type: end.type };
}

/** Returns the fault of an error after `stop`; null for the stop itself or a lost engine. */
export function faultAfter(error: unknown, stop: AbortSignal): StopFault | null {
  if (isOfStop(error, stop)) return null;
  if (!(error instanceof BrandEnrichError))
    return { exitCode: EXIT.ioError, sentence: 'this is a bug; please report it with its line in the log' };
  return error.code === 'engine-unreachable' ? null : { exitCode: error.exitCode, sentence: error.message };
}

/** Returns the exit code. `isStrict`: invalid rows, or no match at all, count as failures. */
export function exitCodeOf(
  { end, written }: { readonly end: LookupsEnd; readonly written: { readonly counts: StatusCounts } },
  isStrict: boolean,
): ExitCode {
  const { counts } = written;
  const hasFailed = counts.failed > 0 || (isStrict && (counts.invalid > 0 || hasNoMatch(counts)));
  return worstExit([
    end.type === 'halted' ? EXIT_OF_HALT[end.halt.why] : EXIT_OF_END[end.type],
    (end.type === 'stopped' && end.fault?.exitCode) || EXIT.done,
    hasFailed ? EXIT.someFailed : EXIT.done,
  ]);
}

/** How a run's lookups ended, and what follows: the words in its rows and its exit code. Pure. */
import { EXIT, type ExitCode, worstExit } from '../core/errors.js';
import { hasNoMatch, type StatusCounts } from '../core/outcome.js';
import type { RunHalt } from '../stores/run-store.js';

/**
 * `finished`: every wanted identifier is answered or failed. `declined`: ended after its trial.
 * Halted as `useless`: none counts.
 */
export type LookupsEnd =
  | { readonly type: 'finished' | 'stopped' | 'cancelled' | 'declined' | 'too_many_failures' }
  | { readonly type: 'halted'; readonly halt: RunHalt };

const ENDS: Record<Exclude<LookupsEnd['type'], 'halted'>, { exitCode: ExitCode; whyDeferred: string }> = {
  finished: { exitCode: EXIT.done, whyDeferred: '' },
  stopped: { exitCode: EXIT.interrupted, whyDeferred: 'not looked up: the run was stopped' },
  cancelled: { exitCode: EXIT.interrupted, whyDeferred: 'not looked up: the run was cancelled' },
  declined: { exitCode: EXIT.done, whyDeferred: 'not looked up: the run ended after its trial' },
  too_many_failures: {
    exitCode: EXIT.tooManyErrors,
    whyDeferred: 'not looked up: more lookups failed than --max-errors allows',
  },
};

const EXIT_OF_HALT: Record<RunHalt['why'], ExitCode> = {
  credentials: EXIT.credentials,
  limit: EXIT.limit,
  throttled: EXIT.limit,
  doubtful: EXIT.limit,
  unreachable: EXIT.ioError,
  lost: EXIT.ioError,
  useless: EXIT.ioError,
};

/** Why what has no answer was not asked, as its rows say it; empty when nothing stopped the run. */
export function whyDeferred(end: LookupsEnd): string {
  return end.type === 'halted' ? `not looked up: ${end.halt.sentence}` : ENDS[end.type].whyDeferred;
}

/** `isStrict`: invalid rows count as failed, and so does a whole run without a match. */
export function exitCodeOf(
  { end, written }: { readonly end: LookupsEnd; readonly written: { readonly counts: StatusCounts } },
  isStrict: boolean,
): ExitCode {
  const { counts } = written;
  const hasFailed = counts.failed > 0 || (isStrict && (counts.invalid > 0 || hasNoMatch(counts)));
  return worstExit([
    end.type === 'halted' ? EXIT_OF_HALT[end.halt.why] : ENDS[end.type].exitCode,
    hasFailed ? EXIT.someFailed : EXIT.done,
  ]);
}

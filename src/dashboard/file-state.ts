/** The one judge of the state of a file: every page and document shows what it says. Pure. */
import type { FoundFile } from '../jobs/find-files.js';
import { CANCELLED } from '../jobs/job-folder.js';
import { countsOf, type JudgedRun, type RunState } from '../run/facts/judge-runs.js';
import type { Mark } from '../run/report/kit/parts.js';

/**
 * `draft`: not started. `queued`: waits only for its turn. `reading`: its run has not begun.
 * `starting`: its run has sent nothing yet. `tried`: a person must approve its first answers.
 * `failed`: not by a cancel.
 */
export type FileState =
  | RunState
  | 'draft'
  | 'queued'
  | 'reading'
  | 'starting'
  | 'tried'
  | 'failed'
  | 'unknown';

export const MARKS: Readonly<Record<FileState, Mark>> = {
  draft: ['Not started', 'calm'],
  queued: ['Starting', 'calm'],
  reading: ['Reading', 'calm'],
  starting: ['Starting', 'calm'],
  running: ['Running', 'good'],
  paused: ['Paused', 'warn'],
  waiting: ['Waiting', 'warn'],
  tried: ['Tried', 'warn'],
  'nothing matched': ['Nothing matched', 'warn'],
  dead: ['Dead', 'bad'],
  finished: ['Finished', 'calm'],
  stopped: ['Stopped', 'warn'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'calm'],
  unknown: ['Unknown', 'warn'],
};

/** Judges by place, then by run, as a run ends before its file moves. `isPaused`: by a person. */
export function judgeFile(
  file: Pick<FoundFile, 'place' | 'waitsFor'> & { readonly reason: { readonly code?: string | undefined } },
  run: JudgedRun | null,
  isPaused: boolean,
): FileState {
  switch (file.place) {
    case 'drafts':
      return 'draft';
    case 'failed':
      return file.reason.code === CANCELLED || run?.state === 'cancelled' ? 'cancelled' : 'failed';
    case 'done':
      return run?.state === 'nothing matched' ? run.state : 'finished';
    case 'waiting':
      if (file.waitsFor === 'again' || (file.waitsFor === 'paused' && !isPaused)) return 'queued';
      if (isPaused || run?.state === 'paused') return 'paused';
      return file.waitsFor === 'tried' ? 'tried' : 'waiting';
    case 'processing':
      if (run === null) return isPaused ? 'paused' : 'reading';
      // A file at its own cap is about to move to `waiting/`, together with its results.
      return run.why?.type === 'held' && run.why.hold === 'capped' ? 'running' : judgeRun(run);
  }
}

/** Judges a run whose file is at work or not here. */
export function judgeRun({ run, state, standing, why }: JudgedRun): FileState {
  const isStarting =
    standing === 'running' &&
    why === null &&
    run.tally.requests === 0 &&
    (run.identifiers === null || countsOf(run).left > 0);
  return isStarting ? 'starting' : state;
}

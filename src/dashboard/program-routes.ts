/** For programs: a run and its files as JSON. */
import { runDocument } from '../app/account-status.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import type { FoundFile, JobFile } from '../jobs/find-files.js';
import { isJobId } from '../jobs/job-folder.js';
import type { Document } from '../run/documents.js';
import { isAtWork, type JudgedRun } from '../run/facts/judge-runs.js';
import { downloadPath } from './file-page.js';
import { type FileState, judgeFile, judgeRun } from './file-state.js';
import { answerText, type GatedApp } from './gate.js';
import type { FileLook, RunLook } from './look-at-run.js';
import { filePath } from './plain-pages.js';

export const runDocumentPath = (id: string) => `/runs/${id}.json`;

/** Adds the document of a run to an app behind the gate, before pages with the same paths. */
export function addRunDocuments(app: GatedApp, readRun: RunReader): void {
  app.get('/runs/:name{.+\\.json}', async (context) => {
    const run = await readRun(context.req.param('name').slice(0, -'.json'.length));
    if (run === 'unavailable')
      return answerText(context, 'the engine does not answer; ask again later', 503, 'engine-unreachable');
    if (run === null)
      return answerText(context, 'no such run: it was forgotten, or its files moved', 404, 'not-found');
    context.header('content-security-policy', "default-src 'none'");
    return context.json({ version: DOCUMENT_VERSION, ...run });
  });
}

/** Reads a run by its id, or by that of its job; null for an unknown id. */
export type RunReader = (id: string) => Promise<Document<'run'> | null | 'unavailable'>;

export function createRunReader(
  lookAtRun: RunLook,
  lookAtFile: (id: string) => Promise<FileLook>,
): RunReader {
  async function lookAt(id: string): Promise<FileLook> {
    if (isJobId(id)) return lookAtFile(id);
    const run = await lookAtRun(id);
    const job = run === null || run === 'unavailable' ? '' : run.shown.run.job;
    const seen = isJobId(job) ? await lookAtFile(job) : null;
    // The files of a job are those of its latest run.
    return seen?.file?.runId === id ? seen : { file: null, run };
  }

  return async (id) => {
    const { file, run: seen } = await lookAt(id);
    if (seen === 'unavailable') return seen;
    const shown = seen?.shown ?? null;
    if (file === null && shown === null) return null;
    const inbox = seen?.view.data?.inboxes.find(({ jobs }) => jobs.includes(shown?.run.job ?? ''));
    const closed = (shown !== null && !isAtWork(shown) && inbox?.closed) || null;
    return programRun(id, file, shown, closed);
  };
}

/**
 * Returns a run for programs. `file`: null without one in the inboxes here. `shown`: null before
 * the first run. `closed`: why its file cannot be moved, or null. Pure.
 */
export function programRun(
  id: string,
  file: FoundFile | null,
  shown: JudgedRun | null,
  closed: string | null = null,
): Document<'run'> {
  const isTaken = file?.place === 'processing';
  const linkTo = (type: JobFile['type']) => {
    const linked = isTaken ? undefined : file?.files.find((each) => each.type === type);
    return file && linked ? downloadPath(file.id, linked.name) : null;
  };
  const run = shown && runDocument(shown);
  return {
    id,
    state: stateOf(file, shown),
    isEnded: file === null ? shown !== null && !isAtWork(shown) : !isTaken && file.place !== 'waiting',
    file: file?.file ?? null,
    reason: (!isTaken && file?.reason.headline) || (closed ?? run?.reason ?? null),
    run,
    links: {
      run: runDocumentPath(id),
      page: file === null ? `/runs/${run?.id ?? id}` : filePath(file.id),
      output: linkTo('output'),
      partial: linkTo('partial'),
      errors: linkTo('errors'),
      report: linkTo('report'),
      reportPage: linkTo('page'),
    },
  };
}

/** The states that programs know by another name. */
const PROGRAM_STATES = {
  reading: 'running',
  starting: 'running',
  draft: 'waiting',
  tried: 'waiting',
  'nothing matched': 'finished',
  unknown: 'finished',
} as const satisfies Partial<Record<FileState, Document<'run'>['state']>>;

function stateOf(file: FoundFile | null, shown: JudgedRun | null): Document<'run'>['state'] {
  // The file moves when its run has ended.
  if (file?.place === 'processing' && (shown === null || !isAtWork(shown))) return 'running';
  const isPaused = shown?.state === 'paused';
  const state =
    file === null ? (shown === null ? 'unknown' : judgeRun(shown)) : judgeFile(file, shown, isPaused);
  if (state === 'queued' && (shown !== null || file?.waitsFor === 'paused')) return 'waiting';
  return PROGRAM_STATES[state as keyof typeof PROGRAM_STATES] ?? state;
}

/** For programs: one request sends and starts a file, and its run is read as JSON. */
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { runDocument } from '../app/account-status.js';
import { BrandEnrichError, FailFileError, NeverStartError, usageProblem } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import type { OrderStores } from '../jobs/file-orders.js';
import type { FoundFile, JobFile } from '../jobs/find-files.js';
import { isSideFile, sideFileOf, uploadName } from '../jobs/inbox-file.js';
import { isJobId } from '../jobs/job-folder.js';
import { choiceOf } from '../jobs/plan-upload.js';
import { discard, startFile } from '../jobs/start-file.js';
import type { Document } from '../run/documents.js';
import { isAtWork, type JudgedRun } from '../run/facts/judge-runs.js';
import { answerError, FORGED, mayAct } from './actions.js';
import { downloadPath } from './file-page.js';
import { type FileState, judgeFile, judgeRun } from './file-state.js';
import { answerText, type GatedApp } from './gate.js';
import type { FileLook, RunLook } from './look-at-run.js';
import { filePath } from './plain-pages.js';
import type { UploadParts } from './upload-routes.js';

export interface ProgramRoutes extends UploadParts {
  readonly engine: OrderStores;
  readonly readRun: RunReader;
  readonly log: Log;
}

/** What a request says that is not a setting of the file. */
const OF_THE_REQUEST = ['start', 'inbox', 'name'];

const runPath = (id: string) => `/runs/${id}.json`;

/** Adds them to an app behind the gate, before pages with the same paths. */
export function addProgramRoutes(app: GatedApp, parts: ProgramRoutes): void {
  const { engine, uploads, plans, readRun, log } = parts;
  /** Nothing is received for a name or settings that cannot be. */
  async function receiveAndStart(context: Context, sentBy: string) {
    const { searchParams } = new URL(context.req.url);
    const inbox = Number(searchParams.get('inbox') ?? 0);
    const given = searchParams.get('name') ?? '';
    for (const key of OF_THE_REQUEST) searchParams.delete(key);
    const name = uploadName(given);
    if (given.trim() === '' || !isSideFile(sideFileOf(name))) {
      const what = 'the name of the file has no ending of a table';
      const todo = 'set name in the address to one that ends with .csv, .jsonl, .xlsx or the like';
      throw new NeverStartError(usageProblem(what, given || 'name', todo));
    }
    const length = context.req.header('content-length');
    const asked = { inbox, name, sentBy, length: length === undefined ? null : Number(length) };
    await uploads.check(inbox, name, asked.length);
    const values = [...new Set(searchParams.keys())].map((key) => {
      const [first, ...others] = searchParams.getAll(key);
      return [key, others.length > 0 ? [first, ...others] : first];
    });
    await plans.check(uploads.roots[inbox] ?? '', Object.fromEntries(values));
    const { incoming } = context.env as unknown as HttpBindings;
    const upload = await uploads.receive(asked, incoming as IncomingMessage);
    const { id, root, folder, file, size: bytes } = upload;
    const start = { settings: choiceOf(searchParams), by: sentBy };
    await startFile(engine, root, folder, Date.now(), start).catch(async (error: unknown) => {
      await discard(upload).catch(() => undefined);
      if (!(error instanceof FailFileError)) throw error;
      const words = { what: 'the file cannot be stored now', todo: 'look at the inbox, then send it again' };
      throw new FailFileError({ ...error.detail, ...words });
    });
    return { id, file, bytes };
  }

  app.post('/uploads', async (context, next) => {
    const start = context.req.queries('start')?.join() ?? '0';
    if (start === '0') return next();
    const session = context.get('session');
    if (!mayAct(context, session, context.req.header('x-form-token') ?? null))
      return answerText(context, FORGED, 403, 'form-foreign');
    try {
      if (start !== '1')
        throw new NeverStartError(
          usageProblem('start can only be 1 or 0', `start=${start}`, 'start=1 starts the file'),
        );
      const { id, file, bytes } = await receiveAndStart(context, session.user);
      const by = { by: session.user, address: getConnInfo(context).remote.address };
      log.info({ ...by, file, bytes, job: id }, 'a file was sent and started by a program');
      const links = { run: runPath(id), page: filePath(id) };
      const document: Document<'upload'> = { id, file, links };
      context.header('location', runPath(id));
      return context.json({ version: DOCUMENT_VERSION, ...document }, 201);
    } catch (error) {
      const { incoming } = context.env as unknown as HttpBindings;
      if (!(error instanceof BrandEnrichError)) {
        // The sender has gone and does not read this.
        if (incoming.destroyed)
          return answerText(context, 'the file did not arrive whole', 400, 'input-changed');
        throw error;
      }
      return answerError(context, error);
    }
  });

  app.get('/runs/:name{.+\\.json}', async (context) => {
    const run = await readRun(context.req.param('name').slice(0, -'.json'.length));
    if (run === 'unavailable')
      return answerText(context, 'the engine does not answer; ask again later', 503, 'engine-unreachable');
    if (run === null)
      return answerText(
        context,
        'there is no such run: it was forgotten, or its files moved',
        404,
        'not-found',
      );
    context.header('content-security-policy', "default-src 'none'");
    return context.json({ version: DOCUMENT_VERSION, ...run });
  });
}

/** Reads a run by its id, or that of its job. null: there is none. */
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
      run: runPath(id),
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

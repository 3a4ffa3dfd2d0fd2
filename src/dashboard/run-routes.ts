/** The routes of runs and of the files in inboxes: pages, parts, downloads. */
import { basename, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { countOf, sentenceOf } from '../core/figures.js';
import { withinDeadline } from '../core/lifecycle.js';
import {
  createStartedFinder,
  type EndedJob,
  failedId,
  findFailed,
  JOB_PLACES,
  type JobAddress,
  openJobFile,
  readJob,
} from '../jobs/ended-jobs.js';
import type { FileCaps } from '../jobs/file-caps.js';
import { placeOf } from '../jobs/inbox-file.js';
import { newerSettings, newJobId } from '../jobs/job-folder.js';
import type { UploadPlans } from '../jobs/plan-upload.js';
import { dismiss, tryAgain } from '../jobs/try-again.js';
import { REPORT_POLICY } from '../run/report/render-page.js';
import { type Action, RefusedAction } from './actions.js';
import { type GatedApp, sendPage, type Viewer } from './gate.js';
import type { DashboardView } from './gather-dashboard.js';
import { AGAIN_PATH, DISMISS_PATH, jobPath, renderJob } from './job-page.js';
import type { RunView } from './look-at-run.js';
import { type Page, renderNotice, runPath } from './plain-pages.js';
import { type MoneyTerms, renderRun, renderRunParts } from './run-page.js';
import { renderStarted, startedPath } from './started-page.js';
import { costText } from './upload-start.js';

export interface RunRoutes {
  readonly look: () => Promise<Pick<DashboardView, 'data'>>;
  readonly lookAtRun: (id: string) => Promise<RunView | null | 'unavailable'>;
  /** The watched folders; their numbers are in addresses. */
  readonly inboxes: readonly string[];
  readonly caps: Pick<FileCaps, 'read'>;
  readonly terms: MoneyTerms;
  readonly now: () => number;
}

const NO_RUN = [
  'There is no such run',
  'The engine may have forgotten it: runs are kept for some days.',
] as const;
const NO_FILE = [
  'There is no such file',
  'It was moved or removed, or its inbox is no longer watched.',
] as const;
const NO_RESULT = [
  'There is no result to download',
  'The run has not ended, its files were moved or removed, or its inbox is no longer watched.',
] as const;
const NO_ANSWER = ['The engine does not answer', 'Reload this page later: nothing is lost.'] as const;

const IN_TURN = 'It is started as soon as there is room for it.';
const IS_READ = 'Its file is being read.';

/** Adds them to an app behind the gate. */
export function addRunRoutes(
  app: GatedApp,
  viewerOf: (context: Context) => Promise<Viewer>,
  { look, lookAtRun, inboxes, caps, terms, now }: RunRoutes,
): void {
  const refuse = (context: Context, [title, line]: readonly [string, string], status: 404 | 503) =>
    sendPage(context, renderNotice(title, line), status);

  /** Answers with what `show` makes of the run that an address names. */
  const showRun = (path: string, show: (context: Context, seen: RunView) => Promise<Page>) =>
    app.get(path, async (context) => {
      const seen = await lookAtRun(context.req.param('id') ?? '');
      if (seen === null) return refuse(context, NO_RUN, 404);
      if (seen === 'unavailable') return refuse(context, NO_ANSWER, 503);
      return sendPage(context, await show(context, seen));
    });
  showRun('/runs/:id', async (context, seen) => renderRun(seen, await viewerOf(context), terms));
  showRun('/runs/:id/parts', async (context, seen) => {
    const viewer = { ...context.get('session'), notice: null };
    return { html: renderRunParts(seen, viewer, terms), policy: "default-src 'none'" };
  });
  // A stopped run has a partial file.
  app.get('/runs/:id/result', async (context) => {
    const seen = await lookAtRun(context.req.param('id'));
    const job = seen === null || seen === 'unavailable' ? null : seen.job;
    const file = job?.files.find(({ type }) => type === 'output' || type === 'partial');
    if (job === null || file === undefined) return refuse(context, NO_RESULT, 404);
    return context.redirect(`${jobPath(job)}${encodeURIComponent(file.name)}`);
  });
  const findStarted = createStartedFinder(inboxes);
  app.get('/started/:job', async (context) => {
    const id = context.req.param('job');
    const after = context.req.query('after');
    const { data } = await look();
    const runs = (data?.runs ?? []).filter((run) => run.job === id && run.id !== after);
    const [run] = runs.sort((a, b) => b.asOf - a.asOf);
    if (run !== undefined) return context.redirect(runPath(run.id), 303);
    const started = await findStarted(id);
    if (started === null) return refuse(context, NO_FILE, 404);
    const showStarted = (root: string, file: string, line: string) => {
      const closed = data?.inboxes.find(({ folder }) => folder === root)?.closed ?? null;
      const why = closed === null ? line : `The inbox takes no files: ${closed}`;
      return sendPage(context, renderStarted(file, why));
    };
    if (started.place === 'processing') return showStarted(started.root, started.file, IS_READ);
    const { job } = started;
    // It was faster than the data of the page.
    if (job.runId !== null && job.runId !== after) return context.redirect(runPath(job.runId), 303);
    const isPaused = data?.pauses.some(({ owner }) => owner === id) === true;
    const isNext = job.waitsFor === 'again' || (job.waitsFor === 'paused' && !isPaused);
    if (!isNext) return context.redirect(jobPath(job), 303);
    return showStarted(job.root, job.file ?? '', IN_TURN);
  });
  app.get('/inboxes/:inbox/:place/:folder/', async (context) => {
    const job = await findJob(inboxes, context.req.param());
    if (job === null) return refuse(context, NO_FILE, 404);
    const shown = { job, caps: await caps.read(job), currency: terms.currency };
    return sendPage(context, renderJob(shown, await viewerOf(context), now()));
  });
  app.get('/inboxes/:inbox/:place/:folder/:name', async (context) => {
    const { name } = context.req.param();
    const job = await findJob(inboxes, context.req.param());
    const file = job?.files.find((each) => each.name === name);
    const opened = job && file ? await openJobFile(job, file) : null;
    if (file === undefined || opened === null) return refuse(context, NO_FILE, 404);
    const { handle, size } = opened;
    const isPage = file.type === 'page';
    context.header('content-type', isPage ? 'text/html; charset=utf-8' : contentTypeOf(name));
    context.header('content-length', String(size));
    // Others may have written it: no script runs, and it sends nothing.
    if (isPage) context.header('content-security-policy', REPORT_POLICY);
    else context.header('content-disposition', attachmentOf(name));
    if (context.req.method === 'HEAD' || size === 0) {
      await handle.close();
      return context.body(null);
    }
    // No more than was announced, should it grow.
    const bytes = handle.createReadStream({ start: 0, end: size - 1, highWaterMark: 262_144 });
    return context.body(Readable.toWeb(bytes) as ReadableStream);
  });
}

/** What an address names, among what there is. */
export async function findJob(
  inboxes: readonly string[],
  { inbox, place, folder }: Readonly<Record<keyof JobAddress, string>>,
): Promise<EndedJob | null> {
  const known = JOB_PLACES.find((each) => each === place);
  if (!/^\d{1,4}$/.test(inbox) || known === undefined) return null;
  return readJob(inboxes, { inbox: Number(inbox), place: known, folder });
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.tab': 'text/tab-separated-values',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.ndjson': 'application/jsonl',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.parquet': 'application/vnd.apache.parquet',
  '.gz': 'application/gzip',
  '.zip': 'application/zip',
};

/** The media type of a file to download; the last ending counts. Pure. */
export function contentTypeOf(name: string): string {
  return CONTENT_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream';
}

/**
 * A `content-disposition` for a file of any name: RFC 6266, its name in UTF-8 as RFC 8187 has it,
 * and in ASCII for old browsers. Pure.
 */
export function attachmentOf(name: string): string {
  // Direction marks would show another ending than the file has.
  const safe = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/gu, '_');
  const ascii = safe.replace(/[^\x20-\x7e]|["%]/gu, '_');
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** How long the question waits for the plan of its file. */
const PLAN_PATIENCE_MS = 3_000;

/** "Try again" and "Dismiss" for failed files. */
export function failedActions(inboxes: readonly string[], plans: Pick<UploadPlans, 'plan'>): Action[] {
  async function find(fields: URLSearchParams) {
    const folder = fields.get('folder') ?? '';
    const job = await findJob(inboxes, { inbox: fields.get('inbox') ?? '', place: 'failed', folder });
    if (job !== null) return job;
    const what = 'this file is no longer among the failed ones';
    throw new RefusedAction('not-found', what, folder, 'reload the page');
  }
  /** What it would cost as things are now. */
  async function costLine({ inbox, folder }: EndedJob): Promise<string> {
    const upload = await findFailed(inboxes, failedId(inbox, folder));
    const newer = upload && (await newerSettings(placeOf(join(upload.root, 'inbox'), upload)));
    if (newer) return `${basename(newer)} in the inbox counts: what it costs at most is not known yet.`;
    const made = upload && (await withinDeadline(plans.plan(upload, {}), PLAN_PATIENCE_MS));
    if (!made) return 'What it costs at most is not known yet.';
    const { found, refusal } = made;
    if (found === null) return sentenceOf(`It cannot be planned: ${refusal.what}: ${refusal.subject}`);
    const { plan, settings } = found;
    return `Now ${countOf(plan.rows.total, 'row')}: ${costText(plan, settings.maxRequests)}.`;
  }
  return [
    {
      path: AGAIN_PATH,
      async ask({ fields }) {
        const job = await find(fields);
        return {
          title: `Try ${job.file ?? job.folder} again?`,
          lines: [
            await costLine(job),
            'The file is taken as soon as there is room for it, and its earlier results are removed.',
            'Stored answers cost nothing. Every other identifier needs a request, which can cost ' +
              'money up to the budget.',
          ],
          yes: 'Try again',
        };
      },
      async carryOut({ user: by, fields }) {
        const { root, folder } = await find(fields);
        const job = newJobId();
        const file = await tryAgain(root, join(root, 'failed', folder), Date.now(), { job, by });
        return { path: startedPath(job), sentence: `${file} is tried again`, subject: file };
      },
    },
    {
      path: DISMISS_PATH,
      async carryOut({ fields }) {
        const { root, folder } = await find(fields);
        const file = await dismiss(join(root, 'failed', folder));
        const sentence = `${file} is put away; it stays in ${root}/failed`;
        return { path: '/', sentence, subject: file };
      },
    },
  ];
}

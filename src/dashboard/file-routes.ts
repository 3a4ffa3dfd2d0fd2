/** The routes of files and runs: pages, parts, downloads. */
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { withinDeadline } from '../core/lifecycle.js';
import { type FileFinder, openJobFile, readRowCounts } from '../jobs/find-files.js';
import { hasGoOn, isJobId, isUndecided } from '../jobs/job-folder.js';
import { choiceOf, type UploadPlans } from '../jobs/plan-upload.js';
import type { FileCaps } from '../jobs/start-file.js';
import { REPORT_POLICY } from '../run/report/render-page.js';
import { PATIENCE_MS } from './file-actions.js';
import { downloadPath, type FileView, fileBody, nameOf } from './file-page.js';
import { type GatedApp, type GatedContext, sendLive, sendPage } from './gate.js';
import type { DashboardView } from './gather-dashboard.js';
import { type FileLook, isRunBehind, type RunLook } from './look-at-run.js';
import { filePath, renderNotice, runPath } from './plain-pages.js';
import { type ResultRows, rowsAsked } from './result-rows.js';
import type { MoneyTerms } from './run-page.js';
import { READ } from './upload-choices.js';

export interface FileRoutes {
  readonly look: () => Promise<Pick<DashboardView, 'data'>>;
  readonly lookAtRun: RunLook;
  readonly lookAtFile: (id: string) => Promise<FileLook>;
  readonly finder: Pick<FileFinder, 'find' | 'findDraft'>;
  readonly plans: UploadPlans;
  readonly caps: Pick<FileCaps, 'read'>;
  readonly terms: MoneyTerms;
  readonly results: ResultRows;
  readonly now: () => number;
}

const REFUSALS = {
  run: ['There is no such run', 'The engine may have forgotten it: runs are kept for some days.'],
  file: ['There is no such file', 'It was discarded, moved or removed, or its inbox is no longer watched.'],
  engine: ['The engine does not answer', 'Reload this page later: nothing is lost.'],
} as const;

/** Adds the routes to an app behind the gate. */
export function addFileRoutes(
  app: GatedApp,
  { look, lookAtRun, lookAtFile, finder, plans, caps, terms, results, now }: FileRoutes,
): void {
  function refuse(context: Context, why: keyof typeof REFUSALS) {
    const [title, line] = REFUSALS[why];
    return sendPage(context, renderNotice(title, line), why === 'engine' ? 503 : 404);
  }
  const nothing = { run: null, caps: null, closed: null, isPaused: false, result: null, draft: null };

  async function seeFile(id: string, query: URLSearchParams): Promise<FileView | 'file' | 'engine'> {
    const draft = await finder.findDraft(id);
    if (draft !== null && (draft.place === 'drafts' || query.has(READ))) {
      const choice = choiceOf(query);
      const plan = (await withinDeadline(plans.plan(draft, choice), PATIENCE_MS)) ?? null;
      return { ...nothing, file: draft, draft: { draft, choice, plan }, now: now() };
    }
    const seen = await lookAtFile(id);
    const { file, run } = seen;
    if (file === null) return 'file';
    // The page of a file that waits or has ended does not need its run.
    if (run === 'unavailable' && file.place === 'processing') return 'engine';
    const { data } = await look();
    const asked = rowsAsked(query);
    const rows = await results.read(file, asked.status);
    return {
      file,
      draft: null,
      result: rows === null ? null : { rows, asked, counts: await readRowCounts(file) },
      run: run === 'unavailable' || isRunBehind(seen) ? null : run,
      caps: hasGoOn(file.waitsFor) || isUndecided(file.waitsFor) ? await caps.read(file) : null,
      closed: data?.inboxes.find(({ folder }) => folder === file.root)?.closed ?? null,
      isPaused: data?.pauses.some(({ owner }) => owner === id) === true,
      now: now(),
    };
  }

  function show(context: GatedContext, seen: FileView | 'file' | 'engine') {
    if (typeof seen === 'string') return refuse(context, seen);
    const { draft } = seen;
    // A renewed form would lose what a person typed.
    const renewed = draft === null ? undefined : draft.plan === null ? 1 : null;
    const title = `${nameOf(seen)}: brand-enrich`;
    return sendLive(context, title, (viewer) => fileBody(seen, viewer, terms), renewed);
  }

  app.get('/files/:id', async (context) =>
    show(context, await seeFile(context.req.param('id'), new URL(context.req.url).searchParams)),
  );
  app.get('/runs/:id', async (context) => {
    const { id } = context.req.param();
    if (isJobId(id)) return context.redirect(filePath(id));
    const run = await lookAtRun(id);
    if (run === null) return refuse(context, 'run');
    if (run === 'unavailable') return refuse(context, 'engine');
    const { job } = run.shown.run;
    // The page of the file shows its run too.
    if ((await finder.find(job)) !== null) return context.redirect(filePath(job));
    return show(context, { ...nothing, file: null, run, now: now() });
  });
  // A stopped run has a partial file.
  app.get('/runs/:id/result', async (context) => {
    const { id } = context.req.param();
    const seen = await lookAtRun(id);
    const job = seen === null || seen === 'unavailable' ? null : seen.job;
    const file = job?.files.find(({ type }) => type === 'output' || type === 'partial');
    // Without a file here, the page of the run says where the files are.
    return context.redirect(job && file ? downloadPath(job.id, file.name) : runPath(id));
  });
  app.get('/files/:id/:name', async (context) => {
    const { id, name } = context.req.param();
    const found = await finder.find(id);
    const file = found?.place === 'processing' ? undefined : found?.files.find((each) => each.name === name);
    const opened = found && file && (await openJobFile(found, file));
    if (!opened) return refuse(context, 'file');
    const { handle, size } = opened;
    const isPage = file?.type === 'page';
    context.header('content-type', isPage ? 'text/html; charset=utf-8' : 'application/octet-stream');
    context.header('content-length', String(size));
    // Others may have written this page: no script runs, and nothing is sent.
    if (isPage) context.header('content-security-policy', REPORT_POLICY);
    else context.header('content-disposition', attachmentOf(name));
    if (context.req.method === 'HEAD' || size === 0) {
      await handle.close();
      return context.body(null);
    }
    // A growing file must not exceed the announced length.
    const bytes = handle.createReadStream({ start: 0, end: size - 1, highWaterMark: 262_144 });
    return context.body(Readable.toWeb(bytes) as ReadableStream);
  });
}

/** Returns a `content-disposition` for any name: RFC 6266 with RFC 8187, ASCII for old browsers. */
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

/** One address for the enriched file of a run, wherever its job is. */
import type { GatedApp } from './gate.js';
import { sendPage } from './gate.js';
import { jobPath } from './job-page.js';
import type { RunView } from './look-at-run.js';
import { renderNotice } from './plain-pages.js';

const NO_RESULT = [
  'There is no result to download',
  'The run has not ended, its files were moved or removed, or its inbox is no longer watched.',
] as const;

/** Adds it to an app behind the gate. A stopped run has a partial file. */
export function addResultRoute(
  app: GatedApp,
  lookAtRun: (id: string) => Promise<RunView | null | 'unavailable'>,
): void {
  app.get('/runs/:id/result', async (context) => {
    const seen = await lookAtRun(context.req.param('id') ?? '');
    const job = seen === null || seen === 'unavailable' ? null : seen.job;
    const file = job?.files.find(({ type }) => type === 'output' || type === 'partial');
    if (job === null || file === undefined) return sendPage(context, renderNotice(...NO_RESULT), 404);
    return context.redirect(`${jobPath(job)}${encodeURIComponent(file.name)}`);
  });
}

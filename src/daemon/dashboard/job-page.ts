/** Files of inboxes that ended: the section of failed ones, and the page of one job. Pure. */
import { countOf, sizeText } from '../../core/figures.js';
import { card, html, type Markup } from '../../run/report/markup.js';
import {
  type EndedJob,
  type FailedFile,
  failedId,
  type JobFile,
  type JobPlace,
} from '../inbox/ended-jobs.js';
import { isSideFile, sideFileOf } from '../inbox/inbox-file.js';
import { actionButton, type Forms } from './actions.js';
import type { Viewer } from './gate.js';
import type { DashboardData } from './gather-dashboard.js';
import { ICON, noticeBanner, type Page, page, runPath, timeText } from './plain-pages.js';
import { uploadPath } from './upload-choices.js';

/** The page of a job; its files are below it, so that links among them work. */
export function jobPath(inbox: number, place: JobPlace, folder: string): string {
  return `/inboxes/${inbox}/${place}/${encodeURIComponent(folder)}/`;
}

/** Where the form of "Try again" is posted. */
export const AGAIN_PATH = '/failed/again';

export function failedSection({ inboxes, failed, at }: DashboardData, viewer: Forms): Markup {
  const shown = inboxes.map(({ folder }, index) => {
    const { count, files } = failed[index] ?? { count: 0, files: [] };
    const older = count - files.length;
    return (
      count > 0 &&
      html`<p class="muted">${countOf(count, 'file')} in <code>${folder}/failed</code></p>
<ul class="things">${files.map((file) => failedItem(file, index, at, viewer))}</ul>
${older > 0 && html`<p class="note">${countOf(older, 'older file')} not shown.</p>`}
`
    );
  });
  const none = html`<p class="empty">No file has failed.</p>`;
  return card('failed', 'Failed files', shown.some(Boolean) ? shown : none, { isPart: true });
}

function failedItem(
  { file, folder, failedAt, reason }: FailedFile,
  inbox: number,
  now: number,
  viewer: Forms,
): Markup {
  const [first = '', ...rest] = reason.split('\n');
  const more = rest.join('\n').trim();
  const isTried = file !== null && againButton(inbox, folder, file, viewer, '/');
  return html`<li><p class="run-head"><strong class="run-name"><bdi>${file ?? folder}</bdi></strong>${failedAt > 0 && html`<span class="run-when">${timeText(failedAt, now)}</span>`}</p>
<p class="why">${first || 'The reason is unknown.'}</p>
${more !== '' && html`<details id="${`why-${inbox}-${folder}`}"><summary>Details</summary><p class="reason">${more}</p></details>`}
<div class="doings">${isTried} ${file !== null && readLink(inbox, folder, file)} <a href="${jobPath(inbox, 'failed', folder)}">Files<span class="unseen"> of ${file ?? folder}</span></a></div></li>
`;
}

function againButton(inbox: number, folder: string, file: string, viewer: Forms, back: string): Markup {
  const label = html`Try again<span class="unseen"> ${file}</span>`;
  return actionButton(viewer, AGAIN_PATH, label, { inbox: String(inbox), folder, back });
}

/** To the page where column, kind, sheet or header are chosen. */
function readLink(inbox: number, folder: string, file: string): Markup | false {
  const path = uploadPath({ id: failedId(inbox, folder) });
  return (
    isSideFile(sideFileOf(file)) &&
    html`<a href="${path}">Read it differently<span class="unseen">: ${file}</span></a>`
  );
}

const PLACES: Readonly<Record<JobPlace, string>> = {
  done: 'Finished',
  failed: 'Failed',
  waiting: 'First stopped',
};

/** `now`: this machine's clock, which dates folders. */
export function renderJob(inbox: number, job: EndedJob, viewer: Omit<Viewer, 'user'>, now: number): Page {
  const { place, folder, file, endedAt, reason, runId } = job;
  const name = file ?? folder;
  const path = jobPath(inbox, place, folder);
  const body = html`<header>
<p class="top"><span class="eyebrow">File of the inbox <bdi>${job.root}</bdi></span><span class="ways"><a href="/">Back to the dashboard</a></span></p>
<div class="title"><h1><bdi>${name}</bdi></h1></div>
<p class="headline">${PLACES[place]}${endedAt > 0 && html` ${timeText(endedAt, now)}`}.${runId !== null && html` <a href="${runPath(runId)}">Show the run</a>`}</p>
${noticeBanner(viewer.notice)}
</header>
<main>
${reason !== '' && card('reason', 'Reason', html`<p class="reason">${reason}</p>`)}
${card(
  'files',
  'Files',
  html`<p class="muted">In <code>${job.root}/${place}/${folder}</code></p>
${fileList(inbox, job)}
${place === 'failed' && file !== null && html`<div class="doings">${againButton(inbox, folder, file, viewer, path)} ${readLink(inbox, folder, file)}</div>`}`,
)}
</main>`;
  return page(`${name}: brand-enrich`, ICON, body, []);
}

const TYPES: Readonly<Record<JobFile['type'], string>> = {
  page: 'Report',
  output: 'Enriched rows',
  partial: 'Enriched rows (partial)',
  errors: 'Rows without an answer',
  report: 'Report as JSON',
  original: 'Original',
  reason: 'Reason',
  other: 'Other file',
};

/** The files of a job to download; the report opens in the browser. */
export function fileList(inbox: number, { place, folder, files }: EndedJob): Markup {
  if (files.length === 0) return html`<p class="empty">Its folder has no files.</p>`;
  const path = jobPath(inbox, place, folder);
  return html`<ul class="things">${files.map(
    ({ name, type, size }) =>
      html`<li><a href="${`${path}${encodeURIComponent(name)}`}"${type !== 'page' && html` download`}>${TYPES[type]}</a> <span class="muted"><bdi>${name}</bdi>, ${sizeText(size)}</span></li>
`,
  )}</ul>`;
}

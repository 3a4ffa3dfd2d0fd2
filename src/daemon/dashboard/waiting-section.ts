/**
 * The watched folders, and the files that wait in them for quota, budget or the service.
 */
import { countOf } from '../../core/figures.js';
import { html, type Markup } from '../../run/report/markup.js';
import type { DashboardData, ShownInbox, WaitingFile } from './dashboard-data.js';
import { spanText } from './moment-words.js';

/** Of each folder: thousands of waiting files would bury the page. */
const SHOWN = 20;

export function waitingSection({ inboxes, at }: DashboardData): Markup {
  return html`<section class="card" aria-labelledby="waiting" data-part="waiting">
<h2 id="waiting">Waiting files</h2>
${
  inboxes.length === 0
    ? html`<p class="empty">No folder is watched. With <code>--inbox DIR</code> files that are dropped into <code>DIR/inbox</code> are enriched.</p>`
    : inboxes.map((inbox) => inboxPart(inbox, at))
}
</section>`;
}

function inboxPart(inbox: ShownInbox, now: number): Markup {
  const { folder, closed } = inbox;
  const shown = waitingPart(inbox, now);
  return closed === null
    ? shown
    : html`<p class="why"><strong>${folder} is closed: no file is taken.</strong> ${closed}</p>${shown}`;
}

function waitingPart({ folder, waiting }: ShownInbox, now: number): Markup {
  if (waiting === null) {
    return html`<p class="why">${folder} cannot be read at the moment.</p>`;
  }
  if (waiting.length === 0) {
    return html`<p class="empty">Nothing waits. Drop a file into <code>${folder}/inbox</code>; its results come to <code>${folder}/done</code>.</p>`;
  }
  const shown = waiting.slice(0, SHOWN);
  return html`<p class="muted">${countOf(waiting.length, 'file waits', 'files wait')} in <code>${folder}/waiting</code></p>
<ul class="things">${shown.map((file) => fileItem(file, now))}</ul>
${shown.length < waiting.length && html`<p class="note">${countOf(waiting.length - shown.length, 'younger one')} left out.</p>`}`;
}

function fileItem({ file, folder, since, reason }: WaitingFile, now: number): Markup {
  return html`<li><p class="run-head"><strong class="run-name"><bdi>${file}</bdi></strong>${since > 0 && html`<span class="run-when">for ${spanText(now - since)}</span>`}</p>
<p class="why">${reason}</p>
<p class="note run-id"><code>waiting/${folder}</code></p></li>
`;
}

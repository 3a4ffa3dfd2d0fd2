/**
 * What waits: files in watched folders, schedules, and the queue with the stored answers.
 */
import { agoText, countOf, countText, momentText, spanText, weekdayText } from '../../core/figures.js';
import { html, type Markup } from '../../run/report/markup.js';
import type { ScheduleState } from '../schedules/schedule-book.js';
import type { DashboardData, ShownInbox, WaitingFile } from './dashboard-data.js';

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

export function schedulesSection({ schedules, at }: DashboardData): Markup {
  return html`<section class="card" aria-labelledby="schedules" data-part="schedules">
<h2 id="schedules">Schedules</h2>
${
  schedules.length === 0
    ? html`<p class="empty">No schedules. <code>brand-enrich schedule add nightly --cron '0 2 * * *' -- run customers.csv</code> runs a file every night at two.</p>`
    : html`<ul class="things">${schedules.map((each) => scheduleItem(each, at))}</ul>`
}
</section>`;
}

function scheduleItem(state: ScheduleState, now: number): Markup {
  const { name, cron, tz, host, line, catchesUp } = state.schedule;
  const mark = markOf(state);
  return html`<li><p class="run-head"><strong class="run-name"><bdi>${name}</bdi></strong><span class="state ${mark.tone}">${mark.label}</span></p>
<dl class="facts">
<div><dt>Next</dt><dd>${nextText(state, now)}</dd></div>
<div><dt>Last</dt><dd>${lastText(state, now)}</dd></div>
${passedLine(state, now)}
</dl>
${state.isHostAway && html`<p class="why">Its machine ${host} is offline: no run starts until <code>brand-enrich up</code> or <code>schedule serve</code> runs there.</p>`}
<p class="note run-id"><code>${line}</code> · <code>${cron}</code> ${tz} · on ${host}${catchesUp && ' · missed ones run on return'}</p></li>
`;
}

function markOf({ isRunning, isHostAway, ended }: ScheduleState): { label: string; tone: string } {
  if (isRunning) return { label: 'Running', tone: 'good' };
  if (isHostAway) return { label: 'Host offline', tone: 'bad' };
  if (ended === null) return { label: 'Not run yet', tone: 'calm' };
  if (ended.exitCode === 0) return { label: 'Well', tone: 'good' };
  return { label: `Exit code ${ended.exitCode}`, tone: 'warn' };
}

function nextText({ nextAt, schedule }: ScheduleState, now: number): string {
  if (nextAt === null) return 'not known until its machine is online';
  const when = `${weekdayText(nextAt, schedule.tz)} ${schedule.tz}`;
  return nextAt >= now ? `${when}, in ${spanText(nextAt - now)}` : `was due ${when}`;
}

function lastText({ ended }: ScheduleState, now: number): Markup | string {
  if (ended === null) return 'none yet';
  const took = spanText(ended.endedAt - ended.startedAt);
  return html`${agoText(ended.startedAt, now)}, took ${took}: ${ended.sentence}`;
}

/** Only what came after the last run is news. */
function passedLine({ passed, ended, schedule }: ScheduleState, now: number): Markup | false {
  if (passed === null || passed.at <= (ended?.startedAt ?? 0)) return false;
  const at = passed.dueAt ?? passed.at;
  const words = passed.why === 'skipped' ? 'the previous run was still going' : 'its machine was offline';
  return html`<div><dt>${passed.why === 'skipped' ? 'Skipped' : 'Missed'}</dt><dd>${weekdayText(at, schedule.tz)}, ${agoText(at, now)}: ${words}</dd></div>`;
}

/** Where Bull Board is mounted. */
export const QUEUE_PATH = '/queue';

export function queueSection({ queue, answers, ledger }: DashboardData): Markup {
  const pace = ledger?.pace.rate ?? null;
  return html`<div class="pair">
<section class="card" aria-labelledby="queue" data-part="queue">
<h2 id="queue">Queue</h2>
${
  queue === null
    ? html`<p class="empty">Shown once an account is named.</p>`
    : html`<dl>
<div><dt>Chunks waiting</dt><dd>${countText(queue.waiting ?? 0)}</dd></div>
<div><dt>In work</dt><dd>${countText(queue.active ?? 0)}</dd></div>
<div><dt>Parked until later</dt><dd>${countText(queue.delayed ?? 0)}</dd></div>
<div><dt>Pace of all workers</dt><dd>${pace === null ? 'unpaced' : `${pace.toFixed(1)} a second`}</dd></div>
</dl>`
}
<p class="note">A chunk holds up to 50 identifiers. <a href="${QUEUE_PATH}/">Look into the queue</a></p>
</section>
<section class="card" aria-labelledby="answers" data-part="answers">
<h2 id="answers">Stored answers</h2>
${
  answers.oldestFetchedAt === null || answers.newestFetchedAt === null
    ? html`<p class="empty">None yet. Paid answers are kept, and not bought twice.</p>`
    : html`<dl>
<div><dt>Matched</dt><dd>${countText(answers.matched)}</dd></div>
<div><dt>Not found</dt><dd>${countText(answers.notFound)}</dd></div>
<div><dt>Oldest</dt><dd>${momentText(new Date(answers.oldestFetchedAt).toISOString())}</dd></div>
<div><dt>Newest</dt><dd>${momentText(new Date(answers.newestFetchedAt).toISOString())}</dd></div>
</dl>`
}
</section>
</div>`;
}

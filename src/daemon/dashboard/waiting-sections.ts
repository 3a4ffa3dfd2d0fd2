/** Waiting files in inboxes, schedules, and the queue with the stored answers. */
import { withOptionNames } from '../../config/option-names.js';
import { agoText, countOf, countText, momentText, spanText, weekdayText } from '../../core/figures.js';
import { card, facts, html, type Mark, type Markup } from '../../run/report/markup.js';
import type { EndedRun, ScheduleState } from '../schedules/schedule-book.js';
import { actionButton, type Forms } from './actions.js';
import type { DashboardData, ShownInbox, WaitingFile } from './gather-dashboard.js';
import { jobPath } from './job-page.js';
import { runPath, timeText } from './plain-pages.js';
import { runNowPath } from './schedule-actions.js';

/** Of each folder: thousands of waiting files would bury the page. */
const SHOWN = 20;

export function waitingSection({ inboxes, at }: DashboardData): Markup {
  const none = html`<p class="empty">No inbox. With <code>--inbox DIR</code>, files dropped into <code>DIR/inbox</code> are enriched.</p>`;
  const shown = inboxes.length === 0 ? none : inboxes.map((inbox, index) => inboxPart(inbox, index, at));
  return card('waiting', 'Waiting files', shown, { isPart: true });
}

function inboxPart(
  { folder, closed, waiting, queued, inProgress }: ShownInbox,
  index: number,
  now: number,
): Markup {
  return html`${closed !== null && html`<p class="why"><strong>${folder} is closed: it takes no files.</strong> ${withOptionNames(closed)}</p>`}${closed === null && queued.length > 0 && queuedPart(queued, inProgress)}${waitingPart(folder, index, waiting, now)}`;
}

function queuedPart(queued: readonly string[], inProgress: readonly string[]): Markup {
  const shown = (names: readonly string[]) =>
    names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${countOf(names.length - 3, 'other')}` : '');
  const behind = inProgress.length === 0 ? 'Not taken yet' : `Queued behind ${shown(inProgress)}`;
  return html`<p class="why">${behind}: ${shown(queued)}.</p>`;
}

function waitingPart(folder: string, index: number, waiting: ShownInbox['waiting'], now: number): Markup {
  if (waiting === null) return html`<p class="why">${folder} cannot be read at the moment.</p>`;
  if (waiting.length === 0) {
    return html`<p class="empty">No files are waiting. Drop a file into <code>${folder}/inbox</code>; its results appear in <code>${folder}/done</code>.</p>`;
  }
  const younger = waiting.length - SHOWN;
  return html`<p class="muted">${countOf(waiting.length, 'file waits', 'files wait')} in <code>${folder}/waiting</code></p>
<ul class="things">${waiting.slice(0, SHOWN).map((file) => fileItem(file, index, now))}</ul>
${younger > 0 && html`<p class="note">${countOf(younger, 'more file')} not shown.</p>`}`;
}

function fileItem({ file, folder, since, reason }: WaitingFile, inbox: number, now: number): Markup {
  return html`<li><p class="run-head"><strong class="run-name"><bdi>${file}</bdi></strong>${since > 0 && html`<span class="run-when">for ${timeText(since, now, spanText(now - since))}</span>`}</p>
<p class="why">${reason}</p>
<p class="note run-id"><a href="${jobPath(inbox, 'waiting', folder)}">Files<span class="unseen"> of ${file}</span></a> in <code>waiting/${folder}</code></p></li>
`;
}

export function schedulesSection({ schedules, at }: DashboardData, viewer: Forms): Markup {
  const shown =
    schedules.length === 0
      ? html`<p class="empty">No schedules. <code>brand-enrich schedule add nightly --cron '0 2 * * *' -- run customers.csv</code> runs a file every night at two.</p>`
      : html`<ul class="things">${schedules.map((each) => scheduleItem(each, at, viewer))}</ul>`;
  return card('schedules', 'Schedules', shown, { isPart: true });
}

function scheduleItem(state: ScheduleState, now: number, viewer: Forms): Markup {
  const { name, cron, tz, host, line, catchesUp } = state.schedule;
  const canRun = !state.isRunning && !state.isHostAway;
  const [label, tone] = markOf(state);
  const rows = facts(
    [['Next', nextText(state, now)], ['Last', lastText(state, now)], passedTick(state, now)],
    'facts',
  );
  return html`<li><p class="run-head"><strong class="run-name"><bdi>${name}</bdi></strong><span class="state ${tone}">${label}</span></p>
${rows}
${state.isHostAway && html`<p class="why">Its machine ${host} is offline: no run starts until <code>brand-enrich up</code> or <code>schedule serve</code> runs there.</p>`}
<p class="note run-id"><code>${line}</code> · <code>${cron}</code> ${tz} · on ${host}${catchesUp && ' · catches up on missed runs'}</p>
${canRun && actionButton(viewer, runNowPath(name), 'Run now')}
${state.runs.length > 0 && historyOf(state, now)}</li>
`;
}

function historyOf({ runs, schedule: { name, tz } }: ScheduleState, now: number): Markup {
  const row = (run: EndedRun) => {
    const [label, tone] = resultOf(run);
    const moment = weekdayText(run.startedAt, tz);
    const when = run.runId === undefined ? moment : html`<a href="${runPath(run.runId)}">${moment}</a>`;
    return html`<tr><th scope="row">${when}<span class="meaning">${agoText(run.startedAt, now)}${run.dueAt === null && ', by hand'}</span></th><td><span class="state ${tone}">${label}</span><span class="meaning">${run.sentence}</span></td><td class="number">${spanText(run.endedAt - run.startedAt)}</td><td class="number">${run.billed === undefined ? '–' : countText(run.billed)}</td></tr>
`;
  };
  return html`<details id="history-${name}"><summary>Last ${countOf(runs.length, 'run')}</summary>
<table class="history"><thead><tr><th scope="col">Started</th><th scope="col">Result</th><th scope="col" class="number">Took</th><th scope="col" class="number">Billed</th></tr></thead>
<tbody>${runs.map(row)}</tbody></table></details>`;
}

function markOf({ isRunning, isHostAway, ended }: ScheduleState): Mark {
  if (isRunning) return ['Running', 'good'];
  if (isHostAway) return ['Host offline', 'bad'];
  if (ended === null) return ['Not run yet', 'calm'];
  return resultOf(ended);
}

function resultOf({ exitCode }: EndedRun): Mark {
  return exitCode === 0 ? ['Finished', 'good'] : [`Exit code ${exitCode}`, 'warn'];
}

function nextText({ nextAt, schedule }: ScheduleState, now: number): string {
  if (nextAt === null) return 'unknown until its machine is online';
  const when = `${weekdayText(nextAt, schedule.tz)} ${schedule.tz}`;
  return nextAt >= now ? `${when}, in ${spanText(nextAt - now)}` : `was due ${when}`;
}

function lastText({ ended }: ScheduleState, now: number): string {
  if (ended === null) return 'none yet';
  const took = spanText(ended.endedAt - ended.startedAt);
  return `${agoText(ended.startedAt, now)}, took ${took}: ${ended.sentence}`;
}

/** Only events after the last run are shown. */
function passedTick({ passed, ended, schedule }: ScheduleState, now: number) {
  if (passed === null || passed.at <= (ended?.startedAt ?? 0)) return null;
  const at = passed.dueAt ?? passed.at;
  const when = `${weekdayText(at, schedule.tz)}, ${agoText(at, now)}`;
  return passed.why === 'skipped'
    ? (['Skipped', `${when}: the previous run was still running`] as const)
    : (['Missed', `${when}: its machine was offline`] as const);
}

/** Where Bull Board is mounted. */
export const QUEUE_PATH = '/queue';

export function queueSection({ queue, workers, outcomes: answers, ledger, at }: DashboardData): Markup {
  const pace = ledger?.pace.rate ?? null;
  const { oldestFetchedAt: oldest, newestFetchedAt: newest } = answers;
  const moment = (at: number) => momentText(new Date(at).toISOString());
  const counts = queue
    ? facts([
        ['Chunks waiting', countText(queue.waiting ?? 0)],
        ['In progress', countText(queue.active ?? 0)],
        ['Parked until later', countText(queue.delayed ?? 0)],
        ['Pace of all workers', pace === null ? 'unpaced' : `${pace.toFixed(1)} a second`],
      ])
    : html`<p class="empty">Shown when an account is set.</p>`;
  const stored =
    oldest === null || newest === null
      ? html`<p class="empty">None yet. Paid answers are stored and not bought twice.</p>`
      : facts([
          ['Matched', countText(answers.matched)],
          ['Not found', countText(answers.notFound)],
          ['Oldest', moment(oldest)],
          ['Newest', moment(newest)],
        ]);
  const note = html`<p class="note">A chunk holds up to 50 identifiers. <a href="${QUEUE_PATH}/">Show the queue</a></p>`;
  return html`<div class="pair">
${card('queue', 'Queue', [counts, queue && workersPart(workers, at), '\n', note], { isPart: true })}
${card('answers', 'Stored answers', stored, { isPart: true })}
</div>`;
}

function workersPart(workers: DashboardData['workers'], now: number): Markup {
  if (workers === null) {
    return html`<p class="note">The workers are unknown: the server of the engine does not list its sessions.</p>`;
  }
  const shown = workers.map(
    ({ host, pid, since }) => html`<li><bdi>${host}</bdi>, process ${pid}, for ${spanText(now - since)}</li>`,
  );
  return html`<h3>${countOf(workers.length, 'worker')}</h3>
${workers.length === 0 ? html`<p class="why">Nothing is looked up until <code>brand-enrich up</code>, <code>run</code> or <code>worker</code> is started.</p>` : html`<ul class="workers">${shown}</ul>`}`;
}

/**
 * Schedules: when each is due next, what its last run came to, and whether its machine is there.
 */
import { html, type Markup } from '../../run/report/markup.js';
import type { ScheduleState } from '../schedules/schedule-book.js';
import type { DashboardData } from './dashboard-data.js';
import { agoText, spanText, weekdayText } from './moment-words.js';

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
${state.isHostAway && html`<p class="why">Its machine ${host} is away: nobody takes its times until <code>brand-enrich up</code> or <code>schedule serve</code> runs there.</p>`}
<p class="note run-id"><code>${line}</code> · <code>${cron}</code> ${tz} · on ${host}${catchesUp && ' · missed ones run on return'}</p></li>
`;
}

function markOf({ isRunning, isHostAway, ended }: ScheduleState): { label: string; tone: string } {
  if (isRunning) return { label: 'Running', tone: 'good' };
  if (isHostAway) return { label: 'Host away', tone: 'bad' };
  if (ended === null) return { label: 'Not run yet', tone: 'calm' };
  if (ended.exitCode === 0) return { label: 'Well', tone: 'good' };
  return { label: `Exit code ${ended.exitCode}`, tone: 'warn' };
}

function nextText({ nextAt, schedule }: ScheduleState, now: number): string {
  if (nextAt === null) return 'not known before its machine is there';
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
  const words =
    passed.why === 'skipped' ? 'the run before was still going' : 'nobody was there in time to run it';
  return html`<div><dt>${passed.why === 'skipped' ? 'Skipped' : 'Missed'}</dt><dd>${weekdayText(at, schedule.tz)}, ${agoText(at, now)}: ${words}</dd></div>`;
}

/**
 * The top of the page: one word, one sentence, what hinders the work, and the figures that people look for first.
 */
import { agoText, clockText, countOf, countText, dayText, shareText } from '../../core/figures.js';
import { spentOf } from '../../ledger/policy.js';
import { html, type Markup } from '../../run/report/markup.js';
import type { DashboardData, DashboardView } from './dashboard-data.js';
import { type Hold, holdOf, judgeRuns, type ShownRun } from './runs-section.js';

export interface Verdict {
  readonly label: string;
  /** `calm`: neither good nor bad. */
  readonly tone: 'good' | 'warn' | 'bad' | 'calm';
}

/** What hinders most, in one or two words. */
export function verdictOf({ data, awayNoticedAt, serviceTrouble, isStopping }: DashboardView): Verdict {
  if (isStopping) return { label: 'Stopping', tone: 'warn' };
  if (awayNoticedAt !== null) return { label: 'Engine unavailable', tone: 'bad' };
  if (data === null) return { label: 'Starting', tone: 'calm' };
  const hold = holdOf(data.ledger, data.limit);
  if (hold === 'paused') return { label: 'Paused', tone: 'warn' };
  if (hold === 'closed') return { label: 'Account closed', tone: 'bad' };
  if (hold === 'used up') return { label: 'Limit used up', tone: 'bad' };
  if (serviceTrouble !== null) return { label: 'Service unavailable', tone: 'warn' };
  if (judgeRuns(data).some(isAlive)) return { label: 'Working', tone: 'good' };
  return { label: 'Idle', tone: 'calm' };
}

/** What goes on, in one sentence. */
export function headlineOf(data: DashboardData): string {
  const runs = judgeRuns(data);
  const alive = runs.filter(isAlive).length;
  const gone = runs.filter(({ standing }) => standing === 'dead').length;
  const waiting = waitingCount(data);
  const parts = [alive === 0 ? 'No run is going' : countOf(alive, 'run is going', 'runs are going')];
  if (gone > 0) parts.push(countOf(gone, 'run is gone', 'runs are gone'));
  if (waiting > 0) parts.push(countOf(waiting, 'file waits', 'files wait'));
  const left = leftOf(data);
  if (left !== null)
    parts.push(left === 0 ? 'no request is left' : `${countOf(left, 'request is', 'requests are')} left`);
  const last = parts.pop();
  return `${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`}.`;
}

export function banners(view: DashboardView): Markup {
  return html`<div data-part="banners">${bannersOf(view).map(
    ({ tone, text }) => html`<p class="banner ${tone}">${text}</p>`,
  )}</div>`;
}

interface Banner {
  readonly tone: 'warn' | 'bad';
  readonly text: string;
}

function bannersOf(view: DashboardView): Banner[] {
  const { data, awayNoticedAt, serviceTrouble, isStopping, isSample, now } = view;
  const found: Banner[] = [];
  if (isSample) {
    found.push({
      tone: 'warn',
      text: 'Sample data: brands, scores and quota come from the built-in catalogue, and nothing is spent.',
    });
  }
  if (isStopping) {
    found.push({ tone: 'warn', text: 'This process is stopping: requests in flight are waited for.' });
  }
  if (awayNoticedAt !== null) {
    const known =
      data === null
        ? ''
        : ` The figures below are from ${clockText(data.at)}, ${agoText(data.at, now)}; nothing is spent meanwhile.`;
    found.push({
      tone: 'bad',
      text: `No answer from the engine since ${clockText(awayNoticedAt)}, ${agoText(awayNoticedAt, now)}.${known}`,
    });
  }
  if (serviceTrouble !== null) {
    found.push({
      tone: 'warn',
      text: `The service is not answering properly: ${serviceTrouble}. It is asked one request at a time, and work resumes when it answers.`,
    });
  }
  const hold = data === null ? null : holdOf(data.ledger, data.limit);
  if (data !== null && hold !== null) found.push(holdBanner(hold, data));
  return found;
}

function holdBanner(hold: Hold, { ledger, projection, storeNow }: DashboardData): Banner {
  const renews = projection === null ? '' : ` The next period begins on ${dayText(projection.endsOn)}.`;
  switch (hold) {
    case 'paused':
      return { tone: 'warn', text: 'Paused: nothing is spent until brand-enrich resume.' };
    case 'closed':
      return {
        tone: 'bad',
        text: `The service refuses further requests: its quota is reached, first said ${agoText(ledger?.closedAt ?? storeNow, storeNow)}. It is asked again automatically.${renews}`,
      };
    case 'used up':
      return {
        tone: 'bad',
        text: `Quota and budget are used up. Work resumes when the quota or the budget is raised.${renews}`,
      };
  }
}

export function keyFigures(data: DashboardData): Markup {
  const { limit, ledger, projection, answers, runs } = data;
  const left = leftOf(data);
  const alive = judgeRuns(data).filter(isAlive).length;
  const stored = answers.matched + answers.notFound;
  const waiting = waitingCount(data);
  const used = ledger === null ? null : spentOf(ledger);
  return html`<dl class="key" aria-label="Key figures" data-part="key">
<div><dt>Runs going</dt><dd>${countText(alive)}<span class="below">${runs.length === 0 ? 'none yet' : `of the last ${countText(runs.length)}`}</span></dd></div>
<div><dt>Requests left</dt><dd>${left === null ? '–' : countText(left)}<span class="below">${limit === null || used === null ? 'no quota known' : `of ${countText(limit)}, ${shareText(used, limit) || '0 %'} used`}</span></dd></div>
<div><dt>Expected</dt><dd>${projection === null ? '–' : countText(projection.projected.total)}<span class="below">${projection === null ? 'too early to say' : `requests by ${dayText(projection.endsOn)}`}</span></dd></div>
<div><dt>Waiting files</dt><dd>${countText(waiting)}<span class="below">${data.inboxes.length === 0 ? 'no folder watched' : `in ${countOf(data.inboxes.length, 'folder')}`}</span></dd></div>
<div><dt>Stored answers</dt><dd>${countText(stored)}<span class="below">${countText(answers.notFound)} not found</span></dd></div>
</dl>`;
}

function isAlive({ standing }: ShownRun): boolean {
  return standing === 'running' || standing === 'held';
}

function leftOf({ ledger, limit }: DashboardData): number | null {
  if (ledger === null || limit === null) return null;
  return Math.max(0, limit - ledger.sent - ledger.held - ledger.others);
}

function waitingCount({ inboxes }: DashboardData): number {
  return inboxes.reduce((sum, { waiting }) => sum + (waiting?.length ?? 0), 0);
}

/** The top of the page: one word, one sentence, what hinders the work, and the main figures. */

import { agoText, clockText, countOf, countText, dayText, shareText, spanText } from '../../core/figures.js';
import { judgeAccount } from '../../facts/judge-account.js';
import { isAtWork, judgeRuns } from '../../facts/judge-runs.js';
import { type Hold, holdOf, inFlightOf, roomOf, seesRaisedQuota } from '../../ledger/policy.js';
import { type KeyFigure, KeyFigures, type Mark } from '../../pages/parts.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';

const HOLD_MARKS: Readonly<Record<Hold, Mark>> = {
  paused: ['Paused', 'warn'],
  closed: ['Quota reached', 'bad'],
  'used up': ['Limit used up', 'bad'],
};

/** The main obstacle, in one or two words. */
export function verdictOf({ data, outageNoticedAt, serviceOutage, isStopping }: DashboardView): Mark {
  if (isStopping) return ['Stopping', 'warn'];
  if (outageNoticedAt !== null) return ['Engine unavailable', 'bad'];
  if (data === null) return ['Starting', 'calm'];
  const hold = data.ledger && holdOf(data.ledger);
  if (hold !== null) return HOLD_MARKS[hold];
  if (serviceOutage !== null) return ['Service unavailable', 'warn'];
  if (silenceOf(data)?.isLong) return ['No answers', 'warn'];
  return judgeRuns(data).some(isAtWork) ? ['Working', 'good'] : ['Idle', 'calm'];
}

/** From then on a silent service is worth a warning. */
const SILENT_MS = 30_000;

/**
 * How long the service has been silent; null while nothing is asked. An answer from before the run
 * that asks says nothing: then it is the time since that began, and `hasAnswered` is false.
 */
export function silenceOf(data: DashboardData) {
  const { ledger, storeNow, account } = data;
  const asking = judgeRuns(data).filter(
    ({ run, standing }) => standing === 'running' && run.settings.account === account,
  );
  if (ledger === null || inFlightOf(ledger) === 0 || asking.length === 0) return null;
  const startedAt = Math.min(...asking.map(({ run }) => run.asOf));
  const answeredAt = ledger.answeredAt ?? 0;
  const ms = Math.max(0, storeNow - Math.max(answeredAt, startedAt));
  return { ms, hasAnswered: answeredAt >= startedAt, isLong: ms >= SILENT_MS };
}

/** The current work, in one sentence. */
export function headlineOf(data: DashboardData): string {
  const runs = judgeRuns(data);
  const alive = runs.filter(isAtWork).length;
  const gone = runs.filter(({ standing }) => standing === 'dead').length;
  const waiting = waitingCount(data);
  const parts = [alive === 0 ? 'No run is active' : countOf(alive, 'run is active', 'runs are active')];
  if (gone > 0) parts.push(countOf(gone, 'run is dead', 'runs are dead'));
  if (waiting > 0) parts.push(countOf(waiting, 'file waits', 'files wait'));
  const left = data.ledger && roomOf(data.ledger);
  if (left !== null)
    parts.push(left === 0 ? 'no request is left' : `${countOf(left, 'request is', 'requests are')} left`);
  const last = parts.pop();
  const sentence = `${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`}.`;
  const silence = silenceOf(data);
  if (silence === null || (!silence.hasAnswered && !silence.isLong)) return sentence;
  const { ms, hasAnswered } = silence;
  return `${sentence} ${hasAnswered ? `Last answer ${agoText(0, ms)}` : `No answer for ${spanText(ms)}`}.`;
}

export function Banners({ view }: { view: DashboardView }) {
  const { data, outageNoticedAt, serviceOutage, isStopping, isSample, now } = view;
  const moment = (at: number) => `${clockText(at)}, ${agoText(at, now)}`;
  const known = data && ` The figures below are from ${moment(data.at)}; nothing is spent meanwhile.`;
  const hold = data?.ledger ? holdOf(data.ledger) : null;
  return (
    <div data-part="banners">
      {isSample && (
        <p class="banner warn">
          Sample data: brands, scores and quota come from the built-in catalogue, and nothing is spent.
        </p>
      )}
      {isStopping && <p class="banner warn">This process is stopping: waiting for requests in flight.</p>}
      {outageNoticedAt !== null && (
        <p class="banner bad">
          No answer from the engine since {moment(outageNoticedAt)}.{known}
        </p>
      )}
      {serviceOutage !== null && (
        <p class="banner warn">
          The service is unavailable: {serviceOutage}. One request at a time checks it; work resumes when it
          answers.
        </p>
      )}
      {serviceOutage === null && data && <SilenceBanner data={data} />}
      {data && hold && <p class={`banner ${HOLD_MARKS[hold][1]}`}>{holdText(hold, data)}</p>}
    </div>
  );
}

function SilenceBanner({ data }: { data: DashboardData }) {
  const silence = silenceOf(data);
  if (!silence?.isLong) return null;
  const { ms, hasAnswered } = silence;
  const what = hasAnswered ? `last answered ${agoText(0, ms)}` : `has not answered for ${spanText(ms)}`;
  return (
    <p class="banner warn">
      The service {what}; {countOf(data.ledger ? inFlightOf(data.ledger) : 0, 'request')} in flight. Requests
      without an answer end after the time set as <code>timeout</code> and count as used.
    </p>
  );
}

function holdText(hold: Hold, { ledger, projection, storeNow, plan }: DashboardData): string {
  const renews = projection === null ? '' : ` The next period begins on ${dayText(projection.endsOn)}.`;
  switch (hold) {
    case 'paused':
      return 'Spending is paused for all runs; “Resume spending” on the dashboard allows it again.';
    case 'closed':
      return `The service refused further requests ${agoText(ledger?.closedAt ?? storeNow, storeNow)}: the quota is reached. It is checked automatically.${renews}`;
    case 'used up':
      return seesRaisedQuota(plan, ledger)
        ? `The limit is used up. Work resumes when the quota or the budget is raised.${renews}`
        : `The limit is used up. Work resumes when the budget is raised. This plan shows no raised quota by itself: set ownDomain, press “Check the quota”, or run “brand-enrich ledger observe --quota N”.${renews}`;
  }
}

export function Figures({ data }: { data: DashboardData }) {
  const { ledger, projection, outcomes, runs, inboxes } = data;
  const { limit = null, used = 0, left = null } = ledger ? judgeAccount(ledger) : {};
  const alive = judgeRuns(data).filter(isAtWork).length;
  const ofRuns = runs.length === 0 ? 'none yet' : `of the last ${countText(runs.length)}`;
  const ofLimit =
    limit === null ? 'quota unknown' : `of ${countText(limit)}, ${shareText(used, limit) || '0 %'} used`;
  const expected = projection === null ? '–' : countText(projection.projected.total);
  const byDay = projection === null ? 'too early' : `requests by ${dayText(projection.endsOn)}`;
  const inFolders = inboxes.length === 0 ? 'no folder watched' : `in ${countOf(inboxes.length, 'folder')}`;
  const { matched, notFound } = outcomes;
  const figures: KeyFigure[] = [
    ['Active runs', countText(alive), ofRuns],
    ['Requests left', left === null ? '–' : countText(left), ofLimit],
    ['Expected', expected, byDay],
    ['Waiting files', countText(waitingCount(data)), inFolders],
    ['Stored answers', countText(matched + notFound), `${countText(notFound)} not found`],
  ];
  return <KeyFigures figures={figures} isPart />;
}

function waitingCount({ inboxes }: DashboardData): number {
  return inboxes.reduce((sum, { waiting }) => sum + (waiting?.length ?? 0), 0);
}

/** The page of the dashboard: what needs a person, what hinders the work, sections. Pure. */
import { agoText, clockText, countOf, countText, dayText, sentenceOf, spanText } from '../core/figures.js';
import { isHeld, isOfAll, isOfFile, pauseText, type RunRecord } from '../engine/stores/run-store.js';
import { waitsForPerson } from '../jobs/job-folder.js';
import { type Hold, holdOf, inFlightOf, seesRaisedQuota } from '../ledger/policy.js';
import { findsNothing, isAtWork, judgeRuns } from '../run/facts/judge-runs.js';
import { type Mark, Title } from '../run/report/kit/parts.js';
import { accountSection, CHECK_PATH } from './account-section.js';
import { countOfFaults, FilesSection } from './files-section.js';
import type { Viewer } from './gate.js';
import { type DashboardData, type DashboardView, isOfInbox, type ShownInbox } from './gather-dashboard.js';
import { ActionButton, NoticeBanner, runPath, type Sender, SkipLink } from './plain-pages.js';
import { needsLook, SchedulesSection } from './schedules-section.js';
import { TechnicalSection } from './technical-section.js';
import { UploadCard } from './upload-card.js';

const HOLD_MARKS: Readonly<Record<Hold, Mark>> = {
  paused: ['Paused', 'warn'],
  closed: ['Quota reached', 'bad'],
  'used up': ['Limit used up', 'bad'],
};

/** Returns the main obstacle, in one or two words. */
export function verdictOf({ data, outageNoticedAt, serviceOutage, isStopping }: DashboardView): Mark {
  if (isStopping) return ['Stopping', 'warn'];
  if (outageNoticedAt !== null) return ['Engine unavailable', 'bad'];
  if (data === null) return ['Starting', 'calm'];
  const hold = data.ledger && holdOf(data.ledger);
  if (hold !== null) return HOLD_MARKS[hold];
  if (serviceOutage !== null) return ['Service unavailable', 'warn'];
  if (silenceOf(data) !== null) return ['No answers', 'warn'];
  if (judgeRuns(data).some(isAtWork)) return ['Working', 'good'];
  return data.inboxes.some(isClosed) ? ['Inbox closed', 'bad'] : ['Idle', 'calm'];
}

const isClosed = ({ closed }: Pick<ShownInbox, 'closed'>) => closed !== null;

/** The silence of the service after which the page warns. */
const SILENT_MS = 30_000;

/** Returns how long the service has been silent, or null while it answers or nothing is asked. */
function silenceOf(data: DashboardData) {
  const { ledger, storeNow, account } = data;
  const asking = judgeRuns(data).filter(
    ({ run, standing }) => standing === 'running' && run.settings.account === account,
  );
  if (ledger === null || inFlightOf(ledger) === 0 || asking.length === 0) return null;
  const startedAt = Math.min(...asking.map(({ run }) => run.asOf));
  const answeredAt = ledger.answeredAt ?? 0;
  // The silence begins with the last answer, or with the run that asks if that is later.
  const ms = storeNow - Math.max(answeredAt, startedAt);
  return ms < SILENT_MS ? null : { ms, hasAnswered: answeredAt >= startedAt, asked: inFlightOf(ledger) };
}

/** Returns what waits for a person, the worst first. `path`: where to see it. Pure. */
export function needsOf({ data, uploads }: Pick<DashboardView, 'uploads'> & { data: DashboardData }) {
  const { inboxes, pauses, schedules, workers, runs } = data;
  const judged = judgeRuns(data);
  const isLatest = (run: RunRecord) => !runs.some(({ key, asOf }) => key === run.key && asOf > run.asOf);
  const dead = judged.filter(({ run, standing }) => standing === 'dead' && isLatest(run));
  const [onlyDead] = dead.length === 1 ? dead : [];
  // A held file of an inbox is counted among the waiting files.
  const held = runs.filter((run) => isHeld(run) && !isOfInbox(run) && isLatest(run));
  const unreadable = inboxes.filter((each) => each.waiting === null && !isClosed(each));
  const waiting = inboxes
    .flatMap((each) => each.waiting ?? [])
    .filter(({ state: { why } }) => why !== 'again' && why !== 'paused');
  const undecided = waiting.filter(({ state }) => state.capMark !== null || waitsForPerson(state.why));
  const misplaced = inboxes.flatMap((each) => each.misplaced);
  const others = waiting.length - undecided.length;
  const faulty = schedules.filter(needsLook);
  const needs = [
    [countOfFaults(data), 'file failed', 'files failed', '#files', 'bad'],
    [dead.length, 'run is dead', 'runs are dead', onlyDead ? runPath(onlyDead.run.id) : '#files', 'bad'],
    [inboxes.filter(isClosed).length, 'inbox is closed', 'inboxes are closed', '#files', 'bad'],
    [unreadable.length, 'inbox cannot be read', 'inboxes cannot be read', '#files', 'bad'],
    [undecided.length, 'file waits for your decision', 'files wait for your decision', '#files', 'warn'],
    [others, 'file waits', 'files wait', '#files', 'warn'],
    [misplaced.length, 'file is not in the inbox', 'files are not in the inbox', '#files', 'warn'],
    [held.length, 'run waits for your decision', 'runs wait for your decision', '#files', 'warn'],
    [pauses.filter(isOfFile).length, 'file is paused', 'files are paused', '#files', 'warn'],
    [faulty.length, 'schedule needs a look', 'schedules need a look', '#schedules', 'warn'],
    [uploads.received.length, 'sent file is not started', 'sent files are not started', '#sent', 'warn'],
  ] as const;
  const isWorkerless = workers?.length === 0 && judged.some(isAtWork);
  return [
    ...(isWorkerless ? [{ text: 'No worker is running', path: '#technical', tone: 'bad' }] : []),
    ...needs.flatMap(([count, one, many, path, tone]) =>
      count > 0 ? [{ text: countOf(count, one, many), path, tone }] : [],
    ),
  ];
}

function Headline({ view }: { view: DashboardView }) {
  const { data, uploads } = view;
  const needs = data === null ? [] : needsOf({ data, uploads });
  return (
    <div data-part="headline">
      {needs.length > 0 ? (
        <ul class="needs" aria-label="What needs you">
          {needs.map(({ text, path, tone }) => (
            <li>
              <a class={tone} href={path}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      ) : (
        <p class="headline">
          {data === null ? 'The engine has not answered yet.' : 'Nothing needs your attention.'}
        </p>
      )}
    </div>
  );
}

export function Banners({ view, viewer }: { view: DashboardView; viewer: Sender }) {
  const { data, outageNoticedAt, serviceOutage, isStopping, isSample, now } = view;
  const moment = (at: number) => `${clockText(at)}, ${agoText(at, now)}`;
  const known = data && ` The figures below are from ${moment(data.at)}; nothing is spent meanwhile.`;
  const hold = data?.ledger ? holdOf(data.ledger) : null;
  const silence = data && silenceOf(data);
  return (
    <div data-part="banners">
      {isSample && (
        <p class="banner warn">
          Sample data: brands, scores and quota come from the built-in catalogue, and nothing is spent.
        </p>
      )}
      {isStopping && <p class="banner warn">This process is stopping: it waits for answers on their way.</p>}
      {outageNoticedAt !== null && (
        <p class="banner bad">
          No answer from the engine since {moment(outageNoticedAt)}.{known}
        </p>
      )}
      {serviceOutage !== null && (
        <p class="banner warn">The service is unavailable: {serviceOutage}. Work resumes when it answers.</p>
      )}
      {serviceOutage === null && silence && (
        <p class="banner warn">
          The service{' '}
          {silence.hasAnswered
            ? `last answered ${agoText(0, silence.ms)}`
            : `has not answered for ${spanText(silence.ms)}`}
          ; {countOf(silence.asked, 'lookup')} without an answer yet. After the time set as{' '}
          <code>timeout</code> they count as used.
        </p>
      )}
      {data && hold && <p class={`banner ${HOLD_MARKS[hold][1]}`}>{holdText(hold, data)}</p>}
      {(data ? judgeRuns(data).filter(findsNothing) : []).map(({ run: { id, label, tally } }) => (
        <div class="banner warn">
          <a href={runPath(id)}>
            <bdi>{label.name}</bdi>
          </a>
          : 0 of {countText(tally.notFound)} found. Is the column right?{' '}
          <ActionButton by={viewer} path={`${runPath(id)}/pause`} fields={[['back', runPath(id)]]}>
            Pause<span class="unseen"> {label.name}</span>
          </ActionButton>
        </div>
      ))}
    </div>
  );
}

function holdText(hold: Hold, { ledger, projection, storeNow, plan, pauses }: DashboardData): string {
  const renews = projection === null ? '' : ` The next period begins on ${dayText(projection.endsOn)}.`;
  const [paused = 'all spending is paused'] = pauses.filter(isOfAll).map(pauseText);
  if (hold === 'paused') return `${sentenceOf(paused)} “Resume spending” on the dashboard allows it again.`;
  if (hold === 'closed') {
    const since = agoText(ledger?.closedAt ?? storeNow, storeNow);
    return (
      `The service refused further lookups ${since}: the quota is reached. ` +
      `It is checked automatically.${renews}`
    );
  }
  return seesRaisedQuota(plan, ledger)
    ? `The limit is used up. Work resumes when the quota or the budget is raised.${renews}`
    : `The limit is used up. Work resumes when the budget is raised.${renews} If the quota was ` +
        'raised, press “Check the quota”: this plan does not show it by itself.';
}

export function dashboardBody(view: DashboardView, viewer: Viewer) {
  const { user, notice } = viewer;
  const { data, host, now } = view;
  const isPaused = data?.ledger?.isPaused === true;
  const check = view.canCheck && (
    <ActionButton by={viewer} path={CHECK_PATH} fields={[['back', '/#quota']]}>
      Check the quota
    </ActionButton>
  );
  return (
    <>
      <SkipLink />
      <div class="said">
        <NoticeBanner notice={notice} />
      </div>
      <header class="front">
        <div class="top">
          <Title mark={verdictOf(view)} isPart>
            Dashboard
          </Title>
          <span class="eyebrow">
            brand-enrich on <bdi>{host}</bdi>
          </span>
          <div data-part="spending">
            {data !== null && (
              <ActionButton by={viewer} path={isPaused ? '/resume' : '/pause'}>
                {isPaused ? 'Resume spending' : 'Pause all spending'}
              </ActionButton>
            )}
          </div>
        </div>
        <Headline view={view} />
        <Banners view={view} viewer={viewer} />
        <p class="banner bad" id="silent" hidden />
      </header>
      <main id="main" tabindex={-1}>
        {data === null ? (
          // The script reloads the whole page once there is something to show.
          <section class="card" data-empty="true">
            <p class="empty">There is no data until the engine has answered once.</p>
          </section>
        ) : (
          <>
            <UploadCard uploads={view.uploads} />
            <FilesSection view={{ ...view, data }} viewer={viewer} />
            {accountSection(data, view.currency, check)}
            <SchedulesSection data={data} viewer={viewer} />
            <TechnicalSection data={data} />
          </>
        )}
      </main>
      <footer class="foot">
        <p class="note" data-part="stand">
          {data === null ? clockText(now) : `As of ${clockText(data.at)}.`}
        </p>
        <form class="leave" method="post" action="/sign-out">
          <span>
            Signed in as <bdi>{user}</bdi>
          </span>{' '}
          <button type="submit">Sign out</button>
        </form>
      </footer>
    </>
  );
}

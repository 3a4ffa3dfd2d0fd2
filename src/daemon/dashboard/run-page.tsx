/** The page of one run: state, counts, money, speed, files, and what can be done. Pure. */

import { costOf } from '../../core/decimal.js';
import { countOf, countText, durationText, moneyText, shareText, spanText } from '../../core/figures.js';
import { isAtWork, type JudgedRun, partsOf } from '../../facts/judge-runs.js';
import { htmlOf } from '../../pages/page.js';
import { Card, type Fact, Facts, type KeyFigure, KeyFigures, Title } from '../../pages/parts.js';
import type { RunRecord } from '../../stores/run-store.js';
import { sayRun } from '../../words/say-run.js';
import type { Viewer } from './gate.js';
import { FileList } from './job-page.js';
import type { RunView } from './look-at-run.js';
import { Banners } from './overview.js';
import {
  ActionButton,
  DASHBOARD_SCRIPT,
  Moment,
  NoticeBanner,
  type Page,
  runPath,
  Top,
} from './plain-pages.js';
import { livePage } from './render-dashboard.js';
import { Counts, markOf } from './runs-section.js';

/** Settings of this process. */
export interface MoneyTerms {
  readonly overagePrice: string;
  /** A label of amounts; null: none. */
  readonly currency: string | null;
}

export function renderRun(seen: RunView, viewer: Viewer, terms: MoneyTerms): Page {
  const { name } = seen.shown.run.label;
  const parts = `${runPath(seen.shown.run.id)}/parts`;
  return livePage(`${name}: brand-enrich`, bodyOf(seen, viewer, terms), viewer, parts, [DASHBOARD_SCRIPT]);
}

/** The content of the body, without scripts. */
export function renderRunParts(seen: RunView, viewer: Viewer, terms: MoneyTerms): string {
  return htmlOf(bodyOf(seen, viewer, terms));
}

function bodyOf(seen: RunView, viewer: Viewer, terms: MoneyTerms) {
  const { view, shown } = seen;
  const { run } = shown;
  const { name, host } = run.label;
  // Those of another account are not known here.
  const known = seen.isOnOwnAccount ? terms : null;
  return (
    <>
      <header>
        <Top>
          Run on <bdi>{host ?? 'an unknown machine'}</bdi>
        </Top>
        <Title mark={markOf(shown)} isPart>
          <bdi>{name}</bdi>
        </Title>
        <p class="headline" data-part="headline">
          {headlineOf(seen)}
        </p>
        <NoticeBanner notice={viewer.notice} />
        <Banners view={view} />
        <p class="banner bad" id="silent" hidden />
        <Actions seen={seen} viewer={viewer} />
      </header>
      <main id="main" tabindex={-1}>
        <Figures seen={seen} terms={known} />
        <Card id="progress" title="Progress" isPart>
          {partsOf(run).whole === 0 ? (
            <p class="empty">The number of identifiers is not known yet.</p>
          ) : (
            <Counts run={run} />
          )}
        </Card>
        <div class="pair">
          <MoneyCard seen={seen} terms={known} />
          <TimeCard seen={seen} />
        </div>
        <FilesCard seen={seen} />
        <AboutCard seen={seen} />
      </main>
      <footer class="foot">
        <p class="note" data-part="stand">
          Run <code>{run.id}</code>, as of <Moment at={view.data?.at ?? view.now} now={view.now} />.
        </p>
      </footer>
    </>
  );
}

/** State and reason, in words. */
export function headlineOf({ shown, storeNow, newer }: RunView): string {
  const { run } = shown;
  const { whole, left } = partsOf(run);
  const far =
    whole === 0
      ? 'Its file is being read'
      : left === 0
        ? `All of its ${countOf(whole, 'identifier')} are done`
        : `${countText(whole - left)} of ${countOf(whole, 'identifier')} are done, ${countText(left)} are left`;
  const isKnown = whole > 0 || isAtWork(shown);
  const why = sayRun(shown, 'page', storeNow);
  const later = newer === null ? '' : ' The same file was started again later.';
  return `${isKnown ? `${far}. ` : ''}${why ?? ''}${later}`.trim() || 'It ended before its file was read.';
}

const LABELS = { resume: 'Resume', pause: 'Pause', cancel: 'Cancel the run' } as const;

function Actions({ seen: { shown, storeNow, job }, viewer }: { seen: RunView; viewer: Viewer }) {
  const { run, standing } = shown;
  const path = runPath(run.id);
  return (
    <div class="actions" data-part="actions">
      {actionsOf(shown, job?.place === 'waiting').map((action) => (
        <ActionButton by={viewer} path={`${path}/${action}`} fields={[['back', path]]}>
          {LABELS[action]}
        </ActionButton>
      ))}
      {standing === 'dead' && (
        <p class="note">
          Last heartbeat <Moment at={run.heartbeatAt} now={storeNow} />. No more requests are sent for this
          run.
        </p>
      )}
    </div>
  );
}

export type RunAction = keyof typeof LABELS;

/** What can be done with a run now. Pure. */
export function actionsOf(
  shown: Pick<JudgedRun, 'run' | 'standing'>,
  isWaiting = false,
): readonly RunAction[] {
  const { run, standing } = shown;
  // No process works on it: it waits, or a killed one left it. The watcher that takes it is told.
  const isLeft = (standing === 'dead' && run.job !== run.id) || (standing === 'stopped' && isWaiting);
  if (!isAtWork(shown) && !isLeft && run.paused === null) return [];
  return [shown.run.paused === null ? 'pause' : 'resume', 'cancel'];
}

/** What a part of the page shows; `terms` null: prices and currency are not known. */
interface Shown {
  readonly seen: RunView;
  readonly terms: MoneyTerms | null;
}

function Figures({ seen: { shown, speed }, terms }: Shown) {
  const { run, standing } = shown;
  const rest = standing === 'held' ? 'waiting' : isAtWork(shown) ? 'not known yet' : 'not running';
  const { matched, notFound, failed, left, whole } = partsOf(run);
  const { requests, billed } = run.tally;
  const figures: KeyFigure[] = [
    ['Progress', whole === 0 ? '–' : shareText(whole - left, whole), `of ${countOf(whole, 'identifier')}`],
    ['Matched', countText(matched), `${countText(notFound)} not found, ${countText(failed)} failed`],
    ['Billed', countText(billed), `of ${countOf(requests, 'request')} sent`],
    terms === null
      ? ['Overage', countText(run.overageBilled), 'requests beyond the quota']
      : ['Overage', amountOf(run.overageBilled, terms), countOf(run.overageBilled, 'overage request')],
    ['Time left', timeLeft(run, speed) ?? '–', speed === null ? rest : rateText(speed.perSecond)],
  ];
  return <KeyFigures figures={figures} isPart />;
}

function amountOf(requests: number, { overagePrice, currency }: MoneyTerms): string {
  return moneyText(costOf(requests, overagePrice), currency);
}

function MoneyCard({ seen: { shown }, terms }: Shown) {
  const { run, inFlight, unreported } = shown;
  const { requests, billed } = run.tally;
  const { starts = 0, billed: before = 0, unreported: lost = 0, overage = 0 } = run.earlier ?? {};
  const rows: Fact[] = [
    ['Requests sent', countText(requests)],
    ['Billed', countText(billed)],
    ['Overage requests', countText(run.overageBilled)],
    terms !== null && ['Cost of the overage', amountOf(run.overageBilled, terms)],
    inFlight > 0 && ['In flight', countText(inFlight)],
    unreported > 0 && ['May also have been billed', countText(unreported)],
    starts > 0 && [
      `Billed in ${countOf(starts, 'earlier start')}`,
      `${countText(before)}${overage > 0 ? `, ${countText(overage)} of them overage` : ''}`,
    ],
    lost > 0 && ['May have been billed in earlier starts', countText(lost)],
  ];
  const price =
    terms === null
      ? 'The price of an overage request is not known here: the run is on another account.'
      : `An overage request costs ${moneyText(terms.overagePrice, terms.currency, 'price')} with the settings of this process.`;
  return (
    <Card id="money" title="Money" isPart>
      <Facts rows={rows} />
      <p class="note">
        {price}
        {unreported > 0 &&
          ' Workers were killed before they reported some requests: those may have been billed.'}
      </p>
    </Card>
  );
}

function TimeCard({ seen: { shown, storeNow, ledger, speed } }: { seen: RunView }) {
  const { run } = shown;
  const last = ledger?.answeredAt ?? null;
  const ago = (at: number) => <Moment at={at} now={storeNow} />;
  const rows: Fact[] = [
    speed !== null && [
      'Answers per second',
      `${rateOf(speed.perSecond)} (${speed.spanMs === null ? 'since its start' : `last ${spanText(speed.spanMs)}`})`,
    ],
    speed !== null && ['Time left', timeLeft(run, speed) ?? 'unknown'],
    ['Last answer of the service', last === null ? 'none yet' : ago(last)],
    ['Started', ago(run.asOf)],
    ['Last heartbeat', ago(run.heartbeatAt)],
  ];
  return (
    <Card id="speed" title="Time" isPart>
      <Facts rows={rows} />
      <p class="note">The last answer is the newest to any run of the account.</p>
    </Card>
  );
}

const rateOf = (perSecond: number) =>
  perSecond < 10 ? perSecond.toFixed(1) : countText(Math.round(perSecond));
const rateText = (perSecond: number) => `${rateOf(perSecond)} a second`;

/** About how long the rest takes; null: unknown. */
function timeLeft(run: RunRecord, speed: RunView['speed']): string | null {
  const { left, whole } = partsOf(run);
  if (whole === 0 || speed === null || speed.perSecond <= 0) return null;
  return left === 0 ? '0 s' : durationText(left / speed.perSecond);
}

function FilesCard({ seen }: { seen: RunView }) {
  const { job } = seen;
  return (
    <Card id="files" title="Files" isPart>
      {job === null ? <p class="empty">{noFilesText(seen)}</p> : <FileList job={job} />}
    </Card>
  );
}

/** Where the files of a run are, as far as this process knows. */
function noFilesText({ shown, isOfThisHost }: RunView): string {
  if (isAtWork(shown)) return 'They are written when the run ends.';
  const { host } = shown.run.label;
  const inboxes = 'This page shows files of the inboxes that its process watches; this run has none there.';
  return isOfThisHost
    ? `${inboxes} A run from the command line on ${host} writes its files next to the input, or to the path of -o.`
    : `${inboxes} It ran on ${host ?? 'another machine'}: its files are there.`;
}

function AboutCard({ seen: { shown, newer } }: { seen: RunView }) {
  const { run } = shown;
  const { host } = run.label;
  const { settings, rows } = run;
  const facts: Fact[] = [
    host !== null && ['Machine', <bdi>{host}</bdi>],
    ['Account', settings.account],
    ['Service', settings.service],
    ['Rows', rows === null ? 'unknown' : countText(rows)],
    settings.maxRequests !== null && ['Cap', countOf(settings.maxRequests, 'request')],
    newer !== null && ['Later start', <a href={runPath(newer.id)}>{newer.id}</a>],
  ];
  return (
    <Card id="about" title="About this run" isPart>
      <Facts rows={facts} />
    </Card>
  );
}

/** The page of one run: state, counts, money, speed, files, and what can be done. Pure. */
import { partsOf } from '../../context/status-document.js';
import { costOf } from '../../core/decimal.js';
import { countOf, countText, durationText, moneyText, shareText, spanText } from '../../core/figures.js';
import { card, facts, html, keyFigures, type Markup } from '../../run/report/markup.js';
import { type RunRecord, unreportedOf } from '../../stores/run-store.js';
import { actionButton } from './actions.js';
import { DASHBOARD_SCRIPT } from './dashboard-script.js';
import type { Viewer } from './gate.js';
import { fileList } from './job-page.js';
import type { RunView } from './look-at-run.js';
import { banners } from './overview.js';
import { noticeBanner, type Page, runPath, timeText } from './plain-pages.js';
import { livePage } from './render-dashboard.js';
import { countsOf, isAtWork, markOf, nameAndHostOf, type ShownRun, whyText } from './runs-section.js';

/** Of the settings of this process. */
export interface MoneyTerms {
  readonly overagePrice: string;
  /** A label of amounts; null: none. */
  readonly currency: string | null;
}

export function renderRun(seen: RunView, viewer: Viewer, terms: MoneyTerms): Page {
  const { name } = nameAndHostOf(seen.shown.run);
  const parts = `${runPath(seen.shown.run.id)}/parts`;
  return livePage(`${name}: brand-enrich`, bodyOf(seen, viewer, terms), viewer, parts, [DASHBOARD_SCRIPT]);
}

/** The content of the body, without scripts. */
export function renderRunParts(seen: RunView, viewer: Viewer, terms: MoneyTerms): string {
  return bodyOf(seen, viewer, terms).text;
}

function bodyOf(seen: RunView, viewer: Viewer, terms: MoneyTerms): Markup {
  const { view, shown } = seen;
  const { name, host } = nameAndHostOf(shown.run);
  const [label, tone] = markOf(shown);
  // Those of another account are not known here.
  const known = seen.isOnOwnAccount ? terms : null;
  return html`<header>
<p class="top"><span class="eyebrow">Run on <bdi>${host || 'an unknown machine'}</bdi></span><span class="ways"><a href="/">Back to the dashboard</a></span></p>
<div class="title"><h1><bdi>${name}</bdi></h1><span class="verdict ${tone}" data-part="verdict">${label}</span></div>
<p class="headline" data-part="headline">${headlineOf(seen)}</p>
${noticeBanner(viewer.notice)}
${banners(view)}
<p class="banner bad" id="silent" hidden></p>
${doings(seen, viewer)}
</header>
<main>
${figures(seen, known)}
${progressCard(shown.run)}
<div class="pair">
${moneyCard(seen, known)}
${speedCard(seen)}
</div>
${filesCard(seen)}
${aboutCard(seen)}
</main>
<footer class="foot">
<p class="note" data-part="stand">Run <code>${shown.run.id}</code>, as of ${timeText(view.data?.at ?? view.now, view.now)}.</p>
</footer>`;
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
  const why = whyText(shown, storeNow);
  const later = newer === null ? '' : ' The same file was started again later.';
  return `${isKnown ? `${far}. ` : ''}${why ?? ''}${later}`.trim() || 'It ended before its file was read.';
}

function doings({ shown, storeNow }: RunView, viewer: Viewer): Markup {
  const { run } = shown;
  const path = runPath(run.id);
  const button = (what: RunAction, label: string) =>
    actionButton(viewer, `${path}/${what}`, label, { back: path });
  const offered = actionsOf(shown);
  return html`<div class="doings" data-part="doings">${[
    offered.includes('resume') && button('resume', 'Resume'),
    offered.includes('pause') && button('pause', 'Pause'),
    offered.includes('cancel') && button('cancel', 'Cancel the run'),
    shown.standing === 'dead' &&
      html`<p class="note">Last heartbeat ${timeText(run.beatAt, storeNow)}. No more requests are sent for this run.</p>`,
  ]}</div>`;
}

export type RunAction = 'pause' | 'resume' | 'cancel';

/** What can be done with a run now. Pure. */
export function actionsOf(shown: Pick<ShownRun, 'run' | 'standing'>): readonly RunAction[] {
  if (!isAtWork(shown)) return [];
  return [shown.run.isPaused ? 'resume' : 'pause', 'cancel'];
}

/** `terms` null: prices and currency are not known. */
function figures({ shown, speed }: RunView, terms: MoneyTerms | null): Markup {
  const { run, standing } = shown;
  const rest = standing === 'held' ? 'waiting' : isAtWork(shown) ? 'not known yet' : 'not running';
  const { matched, notFound, failed, left, whole } = partsOf(run);
  const { requests, billed } = run.tally;
  return keyFigures(
    [
      ['Progress', whole === 0 ? '–' : shareText(whole - left, whole), `of ${countOf(whole, 'identifier')}`],
      ['Matched', countText(matched), `${countText(notFound)} not found, ${countText(failed)} failed`],
      ['Billed', countText(billed), `of ${countOf(requests, 'request')} sent`],
      terms === null
        ? ['Overage', countText(run.overageBilled), 'requests beyond the quota']
        : ['Overage', amountOf(run.overageBilled, terms), countOf(run.overageBilled, 'overage request')],
      ['Time left', timeLeft(run, speed) ?? '–', speed === null ? rest : rateText(speed.perSecond)],
    ],
    true,
  );
}

function progressCard(run: RunRecord): Markup {
  const content =
    partsOf(run).whole === 0
      ? html`<p class="empty">The number of identifiers is not known yet.</p>`
      : countsOf(run);
  return card('progress', 'Progress', content, { isPart: true });
}

function amountOf(requests: number, { overagePrice, currency }: MoneyTerms): string {
  return moneyText(costOf(requests, overagePrice), currency);
}

function moneyCard({ shown }: RunView, terms: MoneyTerms | null): Markup {
  const { run } = shown;
  const { requests, billed } = run.tally;
  const { starts = 0, billed: before = 0, unreported = 0, overage = 0 } = run.earlier ?? {};
  const missing = unreportedOf(run);
  const list = facts([
    ['Requests sent', countText(requests)],
    ['Billed', countText(billed)],
    ['Overage requests', countText(run.overageBilled)],
    terms !== null && ['Cost of the overage', amountOf(run.overageBilled, terms)],
    missing > 0 && [isAtWork(shown) ? 'In flight' : 'May also have been billed', countText(missing)],
    starts > 0 && [
      `Billed in ${countOf(starts, 'earlier start')}`,
      `${countText(before)}${overage > 0 ? `, ${countText(overage)} of them overage` : ''}`,
    ],
    unreported > 0 && ['May have been billed in earlier starts', countText(unreported)],
  ]);
  const price =
    terms === null
      ? 'The price of an overage request is not known here: the run is on another account.'
      : `An overage request costs ${moneyText(terms.overagePrice, terms.currency, 'price')} with the settings of this process.`;
  const note = html`<p class="note">${price}${!isAtWork(shown) && missing > 0 && ' Workers were killed before they reported some requests: those may have been billed.'}</p>`;
  return card('money', 'Money', [list, '\n', note], { isPart: true });
}

function speedCard({ shown, storeNow, ledger, speed }: RunView): Markup {
  const { run } = shown;
  const last = ledger?.answeredAt ?? null;
  const list = facts([
    speed !== null && [
      'Answers per second',
      `${rateOf(speed.perSecond)} (${speed.spanMs === null ? 'since its start' : `last ${spanText(speed.spanMs)}`})`,
    ],
    speed !== null && ['Time left', timeLeft(run, speed) ?? 'unknown'],
    ['Last answer of the service', last === null ? 'none yet' : timeText(last, storeNow)],
    ['Started', timeText(run.asOf, storeNow)],
    ['Last heartbeat', timeText(run.beatAt, storeNow)],
  ]);
  const note = html`<p class="note">The last answer is the newest to any run of the account.</p>`;
  return card('speed', 'Time', [list, '\n', note], { isPart: true });
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

function filesCard(seen: RunView): Markup {
  const { job } = seen;
  const content =
    job === null
      ? html`<p class="empty">${noFilesText(seen)}</p>`
      : html`<p class="muted">In <code>${job.job.root}/${job.job.place}/${job.job.folder}</code></p>
${fileList(job.inbox, job.job)}`;
  return card('files', 'Files', content, { isPart: true });
}

/** Where the files of a run are, as far as this process knows. */
function noFilesText({ shown, isOfThisHost }: RunView): string {
  if (isAtWork(shown)) return 'They are written when the run ends.';
  const { host } = nameAndHostOf(shown.run);
  const inboxes = 'This page shows files of the inboxes that its process watches; this run has none there.';
  return isOfThisHost
    ? `${inboxes} A run from the command line on ${host} writes its files next to the input, or to the path of -o.`
    : `${inboxes} It ran on ${host || 'another machine'}: its files are there.`;
}

function aboutCard({ shown: { run }, newer }: RunView): Markup {
  const { host } = nameAndHostOf(run);
  const { settings, rows } = run;
  const list = facts([
    host !== '' && ['Machine', html`<bdi>${host}</bdi>`],
    ['Account', settings.account],
    ['Service', settings.service],
    ['Rows', rows === null ? 'unknown' : countText(rows)],
    settings.maxRequests !== null && ['Cap', countOf(settings.maxRequests, 'request')],
    newer !== null && ['Later start', html`<a href="${runPath(newer.id)}">${newer.id}</a>`],
  ]);
  return card('about', 'About this run', list, { isPart: true });
}

/**
 * Runs: how each stands, how far it is, what came of its identifiers, and why it stopped.
 */

import { countOf, countText } from '../../core/figures.js';
import { bar } from '../../run/report/bar.js';
import { shareText } from '../../run/report/figures-text.js';
import { html, type Markup } from '../../run/report/markup.js';
import { foundNothing, type RunRecord } from '../../stores/run-store.js';
import type { DashboardData } from './dashboard-data.js';
import { agoText, spanText } from './moment-words.js';
import {
  holdOf,
  partsOf,
  type RunHold,
  runHoldOf,
  runsToShow,
  type Standing,
  standingOf,
} from './run-standing.js';

const SHOWN = 8;

const WORDS: Readonly<
  Record<Standing, { readonly label: string; readonly tone: 'good' | 'warn' | 'bad' | 'calm' }>
> = {
  running: { label: 'Running', tone: 'good' },
  held: { label: 'Waiting', tone: 'warn' },
  dead: { label: 'Gone', tone: 'bad' },
  finished: { label: 'Finished', tone: 'calm' },
  stopped: { label: 'Stopped', tone: 'warn' },
  cancelled: { label: 'Cancelled', tone: 'calm' },
};

/** Finished, and not as anybody wanted it. */
const NOTHING_FOUND = { label: 'Finished, nothing matched', tone: 'warn' } as const;

const HELD: Readonly<Record<RunHold, string>> = {
  paused: 'spending is paused',
  closed: 'the service refuses further requests until the quota is raised or the next period begins',
  'used up': 'quota and budget are used up; it goes on when there is room',
  capped: 'its own --max-requests is reached',
};

/** A run with what is concluded of it. */
export interface ShownRun {
  readonly run: RunRecord;
  readonly standing: Standing;
  readonly hold: RunHold | null;
}

/** All runs of the data, judged. */
export function judgeRuns({ runs, storeNow, ledger, limit, account }: DashboardData): ShownRun[] {
  const own = holdOf(ledger, limit);
  return runs.map((run) => {
    // A pause holds every account of the engine.
    const hold = runHoldOf(run, run.settings.account === account || own === 'paused' ? own : null);
    return { run, standing: standingOf(run, storeNow, hold), hold };
  });
}

export function runsSection(data: DashboardData): Markup {
  const judged = judgeRuns(data);
  const byId = new Map(judged.map((each) => [each.run.id, each]));
  const isAlive = ({ id }: RunRecord) => ['running', 'held'].includes(byId.get(id)?.standing ?? '');
  const shown = runsToShow(data.runs, isAlive, SHOWN).flatMap(({ id }) => byId.get(id) ?? []);
  return html`<section class="card" aria-labelledby="runs" data-part="runs">
<h2 id="runs">Runs</h2>
${
  shown.length === 0
    ? html`<p class="empty">No runs yet. Start one with <code>brand-enrich run customers.csv</code>${data.inboxes[0] !== undefined && html`, or drop a file into <code>${data.inboxes[0].folder}/inbox</code>`}.</p>`
    : html`<ul class="runs">${shown.map((each) => runItem(each, data.storeNow))}</ul>`
}
${shown.length < judged.length && html`<p class="note">${countOf(judged.length - shown.length, 'older run')} left out.</p>`}
</section>`;
}

function runItem({ run, standing, hold }: ShownRun, now: number): Markup {
  const parts = partsOf(run);
  const { label, tone } = foundNothing(run) ? NOTHING_FOUND : WORDS[standing];
  const { host, file } = splitLabel(run.label);
  const answered = parts.whole - parts.left;
  const why = whyText(run, standing, hold, now);
  return html`<li class="run">
<p class="run-head"><strong class="run-name"><bdi>${file}</bdi></strong><span class="state ${tone}">${label}</span><span class="run-when">${whenText(run, standing, now)}</span></p>
${
  parts.whole > 0 &&
  html`<p class="run-far"><span class="run-share">${shareText(answered, parts.whole)}</span> ${countText(answered)} of ${countOf(parts.whole, 'identifier')}, ${countText(run.tally.billed)} billed</p>
${bar([
  { share: parts.matched / parts.whole, tone: 'matched' },
  { share: parts.stored / parts.whole, tone: 'stored' },
  { share: parts.notFound / parts.whole, tone: 'not_found' },
  { share: parts.failed / parts.whole, tone: 'failed' },
])}
<ul class="counts">${counted(parts.matched, 'matched', 'matched')}${counted(parts.stored, 'stored', 'known from before')}${counted(parts.notFound, 'not_found', 'not found')}${counted(parts.failed, 'failed', 'failed')}${counted(parts.left, 'left', 'left')}</ul>`
}
${why !== null && html`<p class="why">${why}</p>`}
<p class="note run-id">${run.rows === null ? 'reading the file' : countOf(run.rows, 'row')}${host !== '' && html` · on ${host}`} · <code>${run.id}</code></p>
</li>
`;
}

function counted(count: number, tone: string, words: string): Markup | false {
  return count > 0 && html`<li><span class="dot ${tone}"></span>${countText(count)} ${words}</li>`;
}

function whenText(run: RunRecord, standing: Standing, now: number): string {
  return standing === 'running' || standing === 'held'
    ? `for ${spanText(now - run.asOf)}`
    : `started ${agoText(run.asOf, now)}`;
}

function whyText(run: RunRecord, standing: Standing, hold: RunHold | null, now: number): string | null {
  if (standing === 'dead') {
    return `Nobody has heard of it for ${spanText(now - run.beatAt)}: it was killed, or lost its engine. Run the same command again to go on; what was paid for is kept.`;
  }
  if (standing === 'held' && hold !== null) return `Waiting: ${HELD[hold]}.`;
  if (foundNothing(run)) return 'Nothing matched: is the column that was read the right one, and its kind?';
  // The label beside it says as much.
  if (run.reason === null || ['', 'stopped', 'cancelled'].includes(run.reason)) return null;
  return `${run.reason.charAt(0).toUpperCase()}${run.reason.slice(1)}.`;
}

/** Labels read `host: file`. */
function splitLabel(label: string): { host: string; file: string } {
  const at = label.indexOf(': ');
  return at < 0 ? { host: '', file: label } : { host: label.slice(0, at), file: label.slice(at + 2) };
}

/** Runs: the standing of each, by record, heartbeat and account, and its identifiers by outcome. */
import { withOptionNames } from '../../config/option-names.js';
import { partsOf } from '../../context/status-document.js';
import { agoText, countOf, countText, sentenceOf, shareText, spanText } from '../../core/figures.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { bar, card, html, type Mark, type Markup } from '../../run/report/markup.js';
import { foundNothing, isAlive, queuedText, type RunRecord, runsBefore } from '../../stores/run-store.js';
import { actionButton, type Forms } from './actions.js';
import type { DashboardData } from './gather-dashboard.js';
import { runPath } from './plain-pages.js';

const SHOWN = 8;

const MARKS: Readonly<Record<Standing, Mark>> = {
  running: ['Running', 'good'],
  held: ['Waiting', 'warn'],
  dead: ['Dead', 'bad'],
  finished: ['Finished', 'calm'],
  stopped: ['Stopped', 'warn'],
  cancelled: ['Cancelled', 'calm'],
};

const HELD: Readonly<Record<RunHold, string>> = {
  paused: 'spending is paused',
  closed: 'the service refuses further requests until the quota is raised or the next period begins',
  'used up': 'the limit is used up; it continues when quota or budget is raised or the next period begins',
  capped: 'its own maxRequests is reached',
};

export type ShownRun = ReturnType<typeof judgeRuns>[number];

/** All runs of the data, each with what is concluded of it. */
export function judgeRuns({ runs, storeNow, ledger, limit, account }: DashboardData) {
  const own = holdOf(ledger, limit);
  return runs.map((run) => {
    // A pause holds every account of the engine.
    const hold = runHoldOf(run, run.settings.account === account || own === 'paused' ? own : null);
    const queued = hold === null ? queuedText(runsBefore(run, runs, storeNow)) : null;
    return { run, standing: standingOf(run, storeNow, hold), hold, queued };
  });
}

/** Whether a process is working on the run. */
export function isAtWork({ standing }: Pick<ShownRun, 'standing'>): boolean {
  return standing === 'running' || standing === 'held';
}

export function runsSection(data: DashboardData, viewer: Forms): Markup {
  const judged = judgeRuns(data);
  const shown = runsToShow(judged, isAtWork, SHOWN);
  const [inbox] = data.inboxes;
  const list =
    shown.length === 0
      ? html`<p class="empty">No runs yet. Start one with <code>brand-enrich run customers.csv</code>${inbox !== undefined && html`, or drop a file into <code>${inbox.folder}/inbox</code>`}.</p>`
      : html`<ul class="runs">${shown.map((each) => runItem(each, data.storeNow))}</ul>`;
  const older = judged.length - shown.length;
  const content = html`${list}
${older > 0 && html`<p class="note">${countOf(older, 'older run')} not shown.</p>`}
${spendingButton(data, viewer)}`;
  return card('runs', 'Runs', content, { isPart: true });
}

/** Pauses all spending of the engine, or allows it again. */
function spendingButton({ ledger }: DashboardData, viewer: Forms): Markup {
  return html`<div class="doings">${
    ledger?.isPaused === true
      ? actionButton(viewer, '/resume', 'Resume spending')
      : actionButton(viewer, '/pause', 'Pause all spending')
  }</div>`;
}

/** The state of a run in a word. */
export function markOf({ run, standing }: Pick<ShownRun, 'run' | 'standing'>): Mark {
  if (standing === 'held' && run.isPaused) return ['Paused', 'warn'];
  return foundNothing(run) ? ['Finished, nothing matched', 'warn'] : MARKS[standing];
}

/** Labels read `host: file`. */
export function nameAndHostOf({ label }: Pick<RunRecord, 'label'>) {
  const [, host = '', name = label] = /^(.*?): (.*)$/s.exec(label) ?? [];
  return { host, name };
}

function runItem(shown: ShownRun, now: number): Markup {
  const { run, standing } = shown;
  const { whole, left } = partsOf(run);
  const [label, tone] = markOf(shown);
  const { host, name } = nameAndHostOf(run);
  const answered = whole - left;
  const why = whyText(shown, now);
  const isGoing = isAtWork({ standing });
  const when = isGoing ? `for ${spanText(now - run.asOf)}` : `started ${agoText(run.asOf, now)}`;
  return html`<li class="run">
<p class="run-head"><strong class="run-name"><a href="${runPath(run.id)}"><bdi>${name}</bdi></a></strong><span class="state ${tone}">${label}</span><span class="run-when">${when}</span></p>
${
  whole > 0 &&
  html`<p class="run-far"><span class="run-share">${shareText(answered, whole)}</span> ${countText(answered)} of ${countOf(whole, 'identifier')}, ${countText(run.tally.billed)} billed${earlierText(run)}</p>
${countsOf(run)}`
}
${why !== null && html`<p class="why">${why}</p>`}
<p class="note run-id">${run.rows === null ? 'reading the file' : countOf(run.rows, 'row')}${host !== '' && html` · on ${host}`} · <code>${run.id}</code></p>
</li>
`;
}

/** The identifiers of a run by outcome: a bar, and the counts. */
export function countsOf(run: RunRecord): Markup {
  const { whole, left, ...parts } = partsOf(run);
  const tones = [
    ['matched', parts.matched, 'matched'],
    ['stored', parts.stored, 'already stored'],
    ['not_found', parts.notFound, 'not found'],
    ['failed', parts.failed, 'failed'],
  ] as const;
  const counts = [...tones, ['left', left, 'left'] as const].map(
    ([tone, count, words]) =>
      count > 0 && html`<li><span class="dot ${tone}"></span>${countText(count)} ${words}</li>`,
  );
  return html`${bar(tones.map(([tone, count]) => [tone, count / whole]))}
<ul class="counts">${counts}</ul>`;
}

function earlierText({ earlier }: RunRecord): string {
  if (earlier === undefined || earlier.starts === 0) return '';
  return `, ${countText(earlier.billed)} in ${countOf(earlier.starts, 'earlier start')}`;
}

/** Why a run does not go on, or ended as it did; null: there is nothing to say. */
export function whyText({ run, standing, hold, queued }: ShownRun, now: number): string | null {
  if (standing === 'running' && queued !== null) return `Waiting: ${queued}; runs take turns.`;
  if (standing === 'dead') {
    return `No heartbeat for ${spanText(now - run.beatAt)}: it was killed, or lost its engine. Run the same command again to continue; paid answers are stored.`;
  }
  if (standing === 'held' && run.isPaused) return 'It is paused; Resume on its page continues it.';
  if (standing === 'held' && hold !== null) return `Waiting: ${HELD[hold]}.`;
  if (foundNothing(run)) return 'Nothing matched: are the column and its kind right?';
  // The label beside it says as much.
  if (run.reason === null || ['', 'stopped', 'cancelled'].includes(run.reason)) return null;
  return sentenceOf(withOptionNames(run.reason));
}

/** `held`: alive, may not spend. `dead`: recorded as running, no heartbeat. Others: as recorded. */
export type Standing = 'running' | 'held' | 'dead' | 'finished' | 'stopped' | 'cancelled';

/** Why an account may not spend. */
export type Hold = 'paused' | 'closed' | 'used up';
/** Why a run may not spend: it is paused, its account, or its own `--max-requests`. */
export type RunHold = Hold | 'capped';

export function holdOf(
  ledger: Pick<LedgerState, 'isPaused' | 'closedAt' | 'sent' | 'others'> | null,
  limit: number | null,
): Hold | null {
  if (ledger === null) return null;
  if (ledger.isPaused) return 'paused';
  if (ledger.closedAt !== null) return 'closed';
  return limit !== null && ledger.sent + ledger.others >= limit ? 'used up' : null;
}

/** Why a run with identifiers left may not spend; null: it may. `hold`: of its own account. */
export function runHoldOf(run: RunRecord, hold: Hold | null): RunHold | null {
  if (run.identifiers !== null && partsOf(run).left === 0) return null;
  if (run.isPaused) return 'paused';
  if (hold !== null) return hold;
  const { maxRequests } = run.settings;
  return maxRequests !== null && run.tally.requests >= maxRequests ? 'capped' : null;
}

/** `storeNow`: by the clock that dates heartbeats. `hold`: of the run. */
export function standingOf(run: RunRecord, storeNow: number, hold: RunHold | null): Standing {
  if (run.status === 'completed') return 'finished';
  if (run.status !== 'running') return run.status;
  if (!isAlive(run, storeNow)) return 'dead';
  return hold === null ? 'running' : 'held';
}

/** Those that are alive first, all of them, then the newest; at most `count`. */
export function runsToShow<T>(runs: readonly T[], isAlive: (run: T) => boolean, count: number): T[] {
  const sorted = [...runs].sort((a, b) => Number(isAlive(b)) - Number(isAlive(a)));
  return sorted.slice(0, Math.max(count, runs.filter(isAlive).length));
}

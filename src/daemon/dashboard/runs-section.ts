/**
 * Runs: how each stands, by its record, its heartbeat and its account, how far it is, what came of its
 * identifiers, and why it stopped.
 */
import { agoText, countOf, countText, shareText, spanText } from '../../core/figures.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { bar, html, type Markup } from '../../run/report/markup.js';
import { foundNothing, isAlive, type RunRecord } from '../../stores/run-store.js';
import type { DashboardData } from './dashboard-data.js';

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
    return `No heartbeat for ${spanText(now - run.beatAt)}: it was killed, or lost its engine. Run the same command again to continue; paid answers are kept.`;
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

/**
 * `running`: at work. `held`: alive, and nothing may be spent. `dead`: says it runs, and nobody has heard of it. The others as
 * the record has them.
 */
export type Standing = 'running' | 'held' | 'dead' | 'finished' | 'stopped' | 'cancelled';

/** What holds the spending of an account. */
export type Hold = 'paused' | 'closed' | 'used up';
/** What holds a run: its account, or its own `--max-requests`. */
export type RunHold = Hold | 'capped';

/** Identifiers of a run by what became of them. */
export interface RunParts {
  readonly matched: number;
  readonly notFound: number;
  readonly failed: number;
  /** Answered from the store, without a request. */
  readonly stored: number;
  readonly left: number;
  /** The sum of them; 0 while nobody knows how many there are. */
  readonly whole: number;
}

export function holdOf(
  ledger: Pick<LedgerState, 'isPaused' | 'closedAt' | 'sent' | 'others'> | null,
  limit: number | null,
): Hold | null {
  if (ledger === null) return null;
  if (ledger.isPaused) return 'paused';
  if (ledger.closedAt !== null) return 'closed';
  return limit !== null && ledger.sent + ledger.others >= limit ? 'used up' : null;
}

/** What holds a run that has identifiers left; null: nothing. `hold`: of its own account. */
export function runHoldOf(run: RunRecord, hold: Hold | null): RunHold | null {
  if (run.identifiers !== null && partsOf(run).left === 0) return null;
  if (hold !== null) return hold;
  const { maxRequests } = run.settings;
  return maxRequests !== null && run.tally.requests >= maxRequests ? 'capped' : null;
}

/** `storeNow`: by the clock that dates heartbeats. `hold`: of the run. */
export function standingOf(run: RunRecord, storeNow: number, hold: RunHold | null): Standing {
  switch (run.status) {
    case 'completed':
      return 'finished';
    case 'stopped':
    case 'cancelled':
      return run.status;
    case 'running': {
      if (!isAlive(run, storeNow)) return 'dead';
      return hold === null ? 'running' : 'held';
    }
  }
}

/**
 * Counts never go below nothing: a chunk that was done twice is counted twice. What a finished run did not have to ask for
 * was stored.
 */
export function partsOf({ tally, identifiers, status }: RunRecord): RunParts {
  const { matched, notFound, failed } = tally;
  const answered = matched + notFound + failed + tally.stored;
  const rest = Math.max(0, (identifiers ?? 0) - answered);
  const isFinished = status === 'completed';
  return {
    matched,
    notFound,
    failed,
    stored: tally.stored + (isFinished ? rest : 0),
    left: isFinished ? 0 : rest,
    whole: identifiers === null ? 0 : answered + rest,
  };
}

/** Those that are alive first, then the newest; at most `count`. */
export function runsToShow(
  runs: readonly RunRecord[],
  isAlive: (run: RunRecord) => boolean,
  count: number,
): RunRecord[] {
  const alive = runs.filter(isAlive);
  const others = runs.filter((run) => !isAlive(run));
  return [...alive, ...others].slice(0, Math.max(count, alive.length));
}

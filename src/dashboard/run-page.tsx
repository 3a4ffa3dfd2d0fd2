/** The run on the page of a file: state, counts, cost, speed, buttons. Pure. */
import type { Child } from 'hono/jsx';
import { qualityTier } from '../brand-api/brand.js';
import { costOf } from '../core/decimal.js';
import {
  countOf,
  countText,
  durationText,
  moneyText,
  scoreText,
  sentenceOf,
  shareText,
} from '../core/figures.js';
import { isHeld, type RunRecord } from '../engine/stores/run-store.js';
import { isUndecided, type ParkState } from '../jobs/job-folder.js';
import { countsOf, isAtWork, type JudgedRun } from '../run/facts/judge-runs.js';
import type { ShownMatch } from '../run/newest-matches.js';
import { Badge } from '../run/report/brands-section.js';
import { Card, type Fact, Facts, type KeyFigure, KeyFigures } from '../run/report/kit/parts.js';
import { sayRun } from '../run/words/say-reason.js';
import type { RunView } from './look-at-run.js';
import { Counts } from './outcome-bar.js';
import { ActionButton, Moment, runPath, type Sender } from './plain-pages.js';

export interface MoneyTerms {
  readonly overagePrice: string;
  /** A label of amounts, or null without one. */
  readonly currency: string | null;
}

/** `terms`: null for a run on another account, whose terms are unknown here. */
interface Shown {
  readonly seen: RunView;
  readonly terms: MoneyTerms | null;
}

export function RunFigures({ seen, terms }: Shown) {
  const { run } = seen.shown;
  return (
    <>
      <KeyFigures figures={figuresOf(seen, terms)} isPart />
      <Card id="progress" title="Progress" isPart>
        {countsOf(run).total === 0 ? (
          <p class="empty">The number of companies is not known yet.</p>
        ) : (
          <>
            <Counts run={run} />
            {run.rows !== null && <p class="note">They are in {countOf(run.rows, 'row')} of the file.</p>}
          </>
        )}
      </Card>
    </>
  );
}

export function headlineOf({ shown, storeNow, newer }: RunView): string {
  const { run, why, inFlight } = shown;
  const later = newer === null ? '' : ' The same file was started again later.';
  const { total, left } = countsOf(run);
  if (total === 0 && isAtWork(shown) && why === null) return 'Its file is being read.';
  const all = countOf(total, 'company', 'companies');
  const done =
    left === 0 ? `All of its ${all} are done. ` : `${countText(total - left)} of ${all} are done. `;
  const far = total === 0 ? '' : done;
  const onTheirWay = countOf(inFlight, 'answer is on its way', 'answers are on their way');
  const reason =
    why?.type === 'paused' && inFlight > 0
      ? sentenceOf(`paused by ${why.order.by}, ${onTheirWay}`)
      : sayRun(shown, 'page', storeNow);
  if (isHeld(run)) return `${reason ?? ''} ${far}${later}`.trim();
  return `${far}${reason ?? ''}${later}`.trim() || 'It ended before its file was read.';
}

/** The buttons of a run. `back`: the page that they are on. */
export function RunActions(given: { seen: RunView; viewer: Sender; back: string }) {
  const { shown, storeNow, job, failedRows } = given.seen;
  const { run, standing } = shown;
  const path = runPath(run.id);
  return (
    <>
      {actionsOf(shown, job?.waitsFor ?? null, failedRows).map((action) => (
        <ActionButton by={given.viewer} path={`${path}/${action}`} fields={[['back', given.back]]}>
          {action === 'again' ? `Run the ${countOf(failedRows, 'failed row')} again` : LABELS[action]}
        </ActionButton>
      ))}
      {standing === 'dead' && (
        <p class="note">
          Its last sign of life was <Moment at={run.heartbeatAt} now={storeNow} />. Nothing more is looked up
          for it.
        </p>
      )}
    </>
  );
}

const LABELS = { pause: 'Pause', resume: 'Resume', cancel: 'Cancel the run', rest: 'Look up the rest' };

/** `rest`: after its trial, or of a held run. `again`: a finished one, for what failed. */
export type RunAction = keyof typeof LABELS | 'again';

/** Returns what can be done with a run. `waitsFor`: null if its file does not wait. Pure. */
export function actionsOf(
  shown: Pick<JudgedRun, 'run' | 'standing'>,
  waitsFor: ParkState['why'] | null = null,
  failedRows = 0,
): readonly RunAction[] {
  const { run, standing } = shown;
  if (isUndecided(waitsFor) && run.paused === null) return ['rest', 'cancel'];
  // A held file of an inbox continues from its folder.
  if (isHeld(run) && run.job !== run.owner) return ['rest'];
  if (standing === 'finished') return failedRows > 0 ? ['again'] : [];
  // A run without a process still takes orders: the watcher that takes the file reads them.
  const isLeft = (standing === 'dead' && run.job !== run.id) || (standing === 'stopped' && waitsFor !== null);
  if (!isAtWork(shown) && !isLeft && run.paused === null) return [];
  return [shown.run.paused === null ? 'pause' : 'resume', 'cancel'];
}

function figuresOf({ shown, speed }: RunView, terms: MoneyTerms | null): readonly KeyFigure[] {
  const { run, standing } = shown;
  const rest = standing === 'held' ? 'waiting' : isAtWork(shown) ? 'not known yet' : 'not running';
  const { left, total } = countsOf(run);
  const { starts = 0, billed: before = 0, overage: overageBefore = 0 } = run.earlier ?? {};
  const { requests, billed } = run.tally;
  const { endedAt } = run;
  const overageBilled = run.overageBilled + overageBefore;
  return [
    ['Done', total === 0 ? '–' : shareText(total - left, total), 'of its companies'],
    [
      'Paid lookups',
      countText(billed + before),
      starts > 0
        ? `${countText(before)} of them in ${countOf(starts, 'earlier start')}`
        : requests === billed
          ? requests === 0
            ? 'none was needed'
            : 'no lookup was free'
          : `${countOf(requests - billed, 'other')} cost nothing`,
    ],
    terms === null
      ? ['Extra', countText(overageBilled), 'lookups beyond the quota']
      : [
          'Extra cost',
          moneyText(costOf(overageBilled, terms.overagePrice), terms.currency),
          `${overageBilled === 0 ? 'nothing' : countOf(overageBilled, 'lookup')} beyond the quota`,
        ],
    endedAt !== null && !isAtWork(shown)
      ? [
          'Took',
          durationText((endedAt - run.asOf + (run.earlier?.tookMs ?? 0)) / 1_000),
          starts > 0 ? 'in all of its starts' : standing === 'finished' ? 'from start to end' : 'so far',
        ]
      : ['Time left', timeLeft(run, speed) ?? '–', speed === null ? rest : `${rateText(speed)} a second`],
  ];
}

const rateText = (rate: number) => (rate < 10 ? rate.toFixed(1) : countText(Math.round(rate)));

function timeLeft(run: RunRecord, speed: RunView['speed']): string | null {
  const { left, total } = countsOf(run);
  if (total === 0 || speed === null || speed <= 0) return null;
  return left === 0 ? '0 s' : durationText(left / speed);
}

/** Returns where the files of a run are, as far as this process knows. */
export function noFilesText({ shown, view }: RunView): Child {
  const { run, inFlight } = shown;
  const taken = view.data?.inboxes.find(({ jobs }) => jobs.includes(run.job));
  if (isAtWork(shown) || inFlight > 0) return 'They are written when the run ends.';
  const obstacle = taken?.closed ? ` ${sentenceOf(taken.closed)}` : '';
  if (taken !== undefined) return `They are moved to their folder next.${obstacle}`;
  const { output } = run.settings;
  const host = <bdi>{run.label.host ?? 'an unknown machine'}</bdi>;
  // A killed run may have written nothing.
  if (output === undefined || run.status === 'running')
    return <>They are not in an inbox of this process. The run was on {host}.</>;
  // The partial result of a stopped run is in the folder of its result.
  const path = run.status === 'completed' ? output : output.replace(/(?<![^/\\])[^/\\]+$/, '');
  return (
    <>
      They are in <code>{path}</code> on {host}. Only files of inboxes can be downloaded here.
    </>
  );
}

/** The newest matches, with texts of the service. */
export function MatchesCard({ seen: { matches, shown } }: { seen: RunView }) {
  return (
    <Card id="matches" title="Newest matches" isPart>
      {matches.length === 0 ? (
        <p class="empty">{isAtWork(shown) ? 'None yet.' : 'None are kept of this run.'}</p>
      ) : (
        <>
          <p class="note">With the quality score of each brand, from 0 to 1.</p>
          <ol class="brands matches">
            {matches.map((match) => (
              <MatchItem match={match} />
            ))}
          </ol>
        </>
      )}
    </Card>
  );
}

function MatchItem({ match: { identifier, name, score, color } }: { match: ShownMatch }) {
  return (
    <li>
      <Badge brand={{ name, color, logo: null }} />
      <span class="brand">
        <bdi class="brand-name">{name}</bdi>
        <bdi class="brand-domain">{identifier}</bdi>
      </span>
      {score === null ? (
        <span class="score calm">
          –<span class="unseen"> no score</span>
        </span>
      ) : (
        <span class={`score ${qualityTier(score)}`}>
          {scoreText(score)}
          <span class="unseen">, {qualityTier(score)}</span>
        </span>
      )}
    </li>
  );
}

export function AboutCard({ seen: { view, shown, newer, storeNow } }: { seen: RunView }) {
  const { run, standing, inFlight, unreported, why } = shown;
  const { settings } = run;
  const lost = run.earlier?.unreported ?? 0;
  const last = view.data?.ledger?.answeredAt ?? null;
  const ago = (at: number) => <Moment at={at} now={storeNow} />;
  const facts: Fact[] = [
    // The headline of a paused run says it.
    inFlight > 0 && why?.type !== 'paused' && ['Answers on their way', countText(inFlight)],
    unreported > 0 && ['May also have been billed', countText(unreported)],
    lost > 0 && ['May have been billed in earlier starts', countText(lost)],
    settings.maxRequests !== null && ['Cap', countOf(settings.maxRequests, 'paid lookup')],
    ['Started', ago(run.asOf)],
    standing !== 'dead' && ['Last sign of life', ago(run.heartbeatAt)],
    last !== null && ['Last answer to its account', ago(last)],
    ['Account', settings.account],
    ['Service', settings.service],
    newer !== null && ['Later start', <a href={runPath(newer.id)}>{newer.id}</a>],
  ];
  return (
    <Card id="about" title="About this run" more="twofold" isPart>
      <Facts rows={facts} />
      {unreported > 0 && (
        <p class="note">Workers were killed before they reported some lookups: those may have been billed.</p>
      )}
    </Card>
  );
}

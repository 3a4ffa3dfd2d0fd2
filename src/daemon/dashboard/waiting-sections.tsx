/** Waiting files in inboxes, schedules, and the queue with the stored answers. */

import {
  agoText,
  countOf,
  countText,
  momentText,
  sentenceOf,
  spanText,
  weekdayText,
} from '../../core/figures.js';
import { Card, Facts, type Mark, Table } from '../../pages/parts.js';
import { pausedText } from '../../stores/run-store.js';
import type { EndedRun, ScheduleState } from '../schedules/schedule-book.js';
import type { DashboardData, ShownInbox, WaitingFile } from './gather-dashboard.js';
import { jobPath } from './job-page.js';
import { ActionButton, ItemHead, Moment, runPath, type Sender, State } from './plain-pages.js';
import { schedulePath } from './schedule-actions.js';

/** Files of each folder: thousands would bury the page. */
const SHOWN = 20;

export function WaitingSection({ data: { inboxes, at } }: { data: DashboardData }) {
  return (
    <Card id="waiting" title="Waiting files" isPart>
      {inboxes.length === 0 ? (
        <p class="empty">
          No inbox. With <code>--inbox DIR</code>, files dropped into <code>DIR/inbox</code> are enriched.
        </p>
      ) : (
        inboxes.map((inbox, index) => (
          <>
            <TakenPart inbox={inbox} />
            <WaitingPart inbox={inbox} index={index} now={at} />
          </>
        ))
      )}
    </Card>
  );
}

/** Why it takes no files, or which it takes next. */
function TakenPart({ inbox: { folder, closed, queued, inProgress } }: { inbox: ShownInbox }) {
  if (closed !== null)
    return (
      <p class="why">
        <strong>{folder} is closed: it takes no files.</strong> {closed}
      </p>
    );
  if (queued.length === 0) return null;
  const shown = (names: readonly string[]) =>
    names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${countOf(names.length - 3, 'other')}` : '');
  const behind = inProgress.length === 0 ? 'Not taken yet' : `Queued behind ${shown(inProgress)}`;
  return <p class="why">{`${behind}: ${shown(queued)}.`}</p>;
}

function WaitingPart(part: { inbox: ShownInbox; index: number; now: number }) {
  const { inbox, index, now } = part;
  const { folder, waiting } = inbox;
  if (waiting === null) return <p class="why">{folder} cannot be read at the moment.</p>;
  if (waiting.length === 0)
    return (
      <p class="empty">
        No files are waiting. Drop a file into <code>{folder}/inbox</code>; its results appear in{' '}
        <code>{folder}/done</code>.
      </p>
    );
  const younger = waiting.length - SHOWN;
  return (
    <>
      <p class="muted">
        {countOf(waiting.length, 'file waits', 'files wait')} in <code>{folder}/waiting</code>
      </p>
      <ul class="things">
        {waiting.slice(0, SHOWN).map((waits) => (
          <WaitingItem waits={waits} inbox={index} now={now} />
        ))}
      </ul>
      {younger > 0 && <p class="note">{countOf(younger, 'more file')} not shown.</p>}
    </>
  );
}

function WaitingItem({ waits, inbox, now }: { waits: WaitingFile; inbox: number; now: number }) {
  const { file, folder, since, reason } = waits;
  return (
    <li>
      <ItemHead
        name={file}
        when={
          since > 0 && (
            <>
              for <Moment at={since} now={now} words={spanText(now - since)} />
            </>
          )
        }
      />
      <p class="why">{reason}</p>
      <p class="note run-id">
        <a href={jobPath({ inbox, place: 'waiting', folder })}>
          Files<span class="unseen"> of {file}</span>
        </a>{' '}
        in <code>waiting/{folder}</code>
      </p>
    </li>
  );
}

export function SchedulesSection({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  const { schedules, at } = data;
  return (
    <Card id="schedules" title="Schedules" isPart>
      {schedules.length === 0 ? (
        <p class="empty">
          No schedules. <code>brand-enrich schedule add nightly --cron '0 2 * * *' -- run customers.csv</code>{' '}
          runs a file every night at two.
        </p>
      ) : (
        <ul class="things">
          {schedules.map((state) => (
            <ScheduleItem state={state} now={at} viewer={viewer} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function ScheduleItem({ state, now, viewer }: { state: ScheduleState; now: number; viewer: Sender }) {
  const { name, host, isMissing, paused } = state;
  const canRun = !isMissing && !state.isRunning && !state.isHostOffline && paused === null;
  const button = (action: 'run' | 'resume' | 'pause', words: string) => (
    <ActionButton by={viewer} path={schedulePath(state, action)}>
      {words}
    </ActionButton>
  );
  return (
    <li>
      <ItemHead name={name} mark={markOf(state)} />
      <Facts
        rows={[['Next', nextText(state, now)], ['Last', lastText(state, now)], passedTick(state, now)]}
        name="facts"
      />
      {state.isHostOffline && !isMissing && (
        <p class="why">
          Its machine {host} is offline: no run starts until <code>brand-enrich up</code> or{' '}
          <code>schedule serve</code> runs there.
        </p>
      )}
      <Definition state={state} />
      {paused !== null && (
        <p class="why">{sentenceOf(pausedText(paused))} It runs again when it is resumed.</p>
      )}
      <div class="actions">
        {canRun && button('run', 'Run now')}
        {paused !== null ? button('resume', 'Resume') : !isMissing && button('pause', 'Pause')}
      </div>
      {state.runs.length > 0 && <History state={state} now={now} />}
    </li>
  );
}

/** What it runs is known only where it is defined. */
function Definition({ state: { name, host, schedule, isMissing } }: { state: ScheduleState }) {
  if (schedule === null)
    return isMissing ? (
      <p class="why">
        Definition missing on {host}: it never runs. <code>brand-enrich schedule remove {name}</code> removes
        it from this list.
      </p>
    ) : (
      <p class="note run-id">defined on {host}</p>
    );
  const { line, cron, tz, catchesUp } = schedule;
  return (
    <p class="note run-id">
      <code>{line}</code> · <code>{cron}</code> {tz} · on {host}
      {catchesUp && ' · catches up on missed runs'}
    </p>
  );
}

const zoneOf = ({ schedule }: ScheduleState) => schedule?.tz ?? 'UTC';

function History({ state, now }: { state: ScheduleState; now: number }) {
  const { runs, name, queue, schedule } = state;
  return (
    <details id={`history-${schedule === null ? `${queue}-${name}` : name}`}>
      <summary>Last {countOf(runs.length, 'run')}</summary>
      <Table name="history" columns={[['Started'], ['Result'], ['Took', 'number'], ['Billed', 'number']]}>
        {runs.map((run) => (
          <HistoryRow run={run} tz={zoneOf(state)} now={now} />
        ))}
      </Table>
    </details>
  );
}

function HistoryRow({ run, tz, now }: { run: EndedRun; tz: string; now: number }) {
  const { runId, startedAt, endedAt, dueAt, billed } = run;
  const moment = weekdayText(startedAt, tz);
  return (
    <tr>
      <th scope="row">
        {runId === undefined ? moment : <a href={runPath(runId)}>{moment}</a>}
        <span class="meaning">
          {agoText(startedAt, now)}
          {dueAt === null && ', by hand'}
        </span>
      </th>
      <td>
        <State mark={resultOf(run)} />
        <span class="meaning">{run.sentence}</span>
      </td>
      <td class="number">{spanText(endedAt - startedAt)}</td>
      <td class="number">{billed === undefined ? '–' : countText(billed)}</td>
    </tr>
  );
}

function markOf({ isRunning, isMissing, isHostOffline, ended, paused }: ScheduleState): Mark {
  if (isMissing) return ['Definition missing', 'bad'];
  if (paused !== null) return ['Paused', 'warn'];
  if (isRunning) return ['Running', 'good'];
  if (isHostOffline) return ['Host offline', 'bad'];
  if (ended === null) return ['Not run yet', 'calm'];
  return resultOf(ended);
}

function resultOf({ exitCode }: EndedRun): Mark {
  return exitCode === 0 ? ['Finished', 'good'] : [`Exit code ${exitCode}`, 'warn'];
}

function nextText(state: ScheduleState, now: number): string {
  const { nextAt } = state;
  const tz = zoneOf(state);
  if (nextAt === null) return 'unknown until its machine is online';
  const when = `${weekdayText(nextAt, tz)} ${tz}`;
  return nextAt >= now ? `${when}, in ${spanText(nextAt - now)}` : `was due ${when}`;
}

function lastText({ ended }: ScheduleState, now: number): string {
  if (ended === null) return 'none yet';
  const took = spanText(ended.endedAt - ended.startedAt);
  return `${agoText(ended.startedAt, now)}, took ${took}: ${ended.sentence}`;
}

/** Only events after the last run are shown. */
function passedTick(state: ScheduleState, now: number) {
  const { passed, ended } = state;
  if (passed === null || passed.at <= (ended?.startedAt ?? 0)) return null;
  const at = passed.dueAt ?? passed.at;
  const when = `${weekdayText(at, zoneOf(state))}, ${agoText(at, now)}`;
  if (passed.paused !== undefined) return ['Skipped', `${when}: ${pausedText(passed.paused)}`] as const;
  return passed.why === 'skipped'
    ? (['Skipped', `${when}: the previous run was still running`] as const)
    : (['Missed', `${when}: its machine was offline`] as const);
}

/** Where Bull Board is mounted. */
export const QUEUE_PATH = '/queue';

export function QueueSection({ data }: { data: DashboardData }) {
  const { queue, workers, outcomes, ledger, at } = data;
  const pace = ledger?.pace.rate ?? null;
  const { oldestFetchedAt: oldest, newestFetchedAt: newest } = outcomes;
  const moment = (time: number) => momentText(new Date(time).toISOString());
  return (
    <div class="pair">
      <Card id="queue" title="Queue" isPart>
        {queue ? (
          <>
            <Facts
              rows={[
                ['Chunks waiting', countText(queue.waiting ?? 0)],
                ['In progress', countText(queue.active ?? 0)],
                ['Parked until later', countText(queue.delayed ?? 0)],
                ['Pace of all workers', pace === null ? 'unpaced' : `${pace.toFixed(1)} a second`],
              ]}
            />
            <Workers workers={workers} now={at} />
          </>
        ) : (
          <p class="empty">Shown when an account is set.</p>
        )}
        <p class="note">
          A chunk holds up to 50 identifiers. <a href={`${QUEUE_PATH}/`}>Show the queue</a>
        </p>
      </Card>
      <Card id="answers" title="Stored answers" isPart>
        {oldest === null || newest === null ? (
          <p class="empty">None yet. Paid answers are stored and not bought twice.</p>
        ) : (
          <Facts
            rows={[
              ['Matched', countText(outcomes.matched)],
              ['Not found', countText(outcomes.notFound)],
              ['Oldest', moment(oldest)],
              ['Newest', moment(newest)],
            ]}
          />
        )}
      </Card>
    </div>
  );
}

function Workers({ workers, now }: { workers: DashboardData['workers']; now: number }) {
  if (workers === null)
    return <p class="note">The workers are unknown: the server of the engine does not list its sessions.</p>;
  return (
    <>
      <h3>{countOf(workers.length, 'worker')}</h3>
      {workers.length === 0 ? (
        <p class="why">
          Nothing is looked up until <code>brand-enrich up</code>, <code>run</code> or <code>worker</code> is
          started.
        </p>
      ) : (
        <ul class="workers">
          {workers.map(({ host, pid, since }) => (
            <li>
              <bdi>{host}</bdi>, process {pid}, for {spanText(now - since)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

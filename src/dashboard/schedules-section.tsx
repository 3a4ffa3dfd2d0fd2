/** Schedules: when they run next, how they ran last, and what can be done with them. */
import { agoText, countOf, countText, sentenceOf, spanText, weekdayText } from '../core/figures.js';
import { pausedText } from '../engine/stores/run-store.js';
import { type EndedRun, obstacleOf, type ScheduleState } from '../jobs/schedules/schedule-book.js';
import { Card, Facts, type Mark, Table } from '../run/report/kit/parts.js';
import type { DashboardData } from './gather-dashboard.js';
import { ActionButton, Folded, runPath, type Sender, State } from './plain-pages.js';
import { schedulePath } from './schedule-actions.js';

const SHOWN = 3;

/** Those that need a person come first: the others are folded when there are many. */
export function SchedulesSection({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  const { schedules, at } = data;
  const sorted = schedules.toSorted((one, other) => Number(needsLook(other)) - Number(needsLook(one)));
  const list = (states: readonly ScheduleState[]) => (
    <ul class="things schedules">
      {states.map((state) => (
        <ScheduleItem state={state} now={at} viewer={viewer} />
      ))}
    </ul>
  );
  const more = sorted.slice(SHOWN);
  const example = "brand-enrich schedule add nightly --cron '0 2 * * *' -- run customers.csv";
  return (
    <Card id="schedules" title="Schedules" isPart>
      {schedules.length === 0 ? (
        <p class="empty">
          No schedules. <code>{example}</code> runs a file every night at two.
        </p>
      ) : (
        list(sorted.slice(0, SHOWN))
      )}
      {more.length > 0 && (
        <Folded id="more-schedules" summary={countOf(more.length, 'more schedule')}>
          {list(more)}
        </Folded>
      )}
    </Card>
  );
}

/** Whether a person should look at it: it does not run, or did not end well. */
export function needsLook({ isMissing, isHostOffline, paused, ended }: ScheduleState): boolean {
  return isMissing || isHostOffline || (paused === null && ended !== null && ended.exitCode !== 0);
}

function ScheduleItem({ state, now, viewer }: { state: ScheduleState; now: number; viewer: Sender }) {
  const { name, host, isMissing, paused } = state;
  const canRun = obstacleOf(state) === null;
  const button = (action: 'run' | 'resume' | 'pause', words: string) => (
    <ActionButton by={viewer} path={schedulePath(state, action)} fields={[['back', '/#schedules']]}>
      {words}
    </ActionButton>
  );
  return (
    <li>
      <p class="run-head">
        <strong class="run-name">
          <bdi>{name}</bdi>
        </strong>
        <State mark={markOf(state)} />
      </p>
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
  const isBilled = runs.some(({ billed }) => billed !== undefined);
  return (
    <details id={`history-${schedule === null ? `${queue}-${name}` : name}`}>
      <summary>Last {countOf(runs.length, 'run')}</summary>
      <Table
        name="history"
        columns={[['Started'], ['Result'], ['Took', 'number'], isBilled && ['Billed', 'number']]}
      >
        {runs.map((run) => (
          <HistoryRow run={run} tz={zoneOf(state)} now={now} isBilled={isBilled} />
        ))}
      </Table>
    </details>
  );
}

function HistoryRow(row: { run: EndedRun; tz: string; now: number; isBilled: boolean }) {
  const { runId, startedAt, endedAt, dueAt, billed, sentence } = row.run;
  const moment = weekdayText(startedAt, row.tz);
  return (
    <tr>
      <th scope="row">
        {runId === undefined ? moment : <a href={runPath(runId)}>{moment}</a>}
        <span class="meaning">
          {agoText(startedAt, row.now)}
          {dueAt === null && ', by hand'}
        </span>
      </th>
      <td>
        <State mark={resultOf(row.run)} />
        <span class="meaning">{sentence}</span>
      </td>
      <td class="number">{spanText(endedAt - startedAt)}</td>
      {row.isBilled && <td class="number">{billed === undefined ? '–' : countText(billed)}</td>}
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
  const why =
    passed.paused !== undefined
      ? pausedText(passed.paused)
      : passed.why === 'skipped'
        ? 'the previous run was still running'
        : 'its machine was offline';
  const term = passed.paused !== undefined || passed.why === 'skipped' ? 'Skipped' : 'Missed';
  return [term, `${weekdayText(at, zoneOf(state))}, ${agoText(at, now)}: ${why}`] as const;
}

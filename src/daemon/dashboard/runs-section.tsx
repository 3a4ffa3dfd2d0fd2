/** Runs: the standing of each, by record, heartbeat and account, and its identifiers by outcome. */

import { agoText, countOf, countText, shareText, spanText } from '../../core/figures.js';
import { isAtWork, type JudgedRun, judgeRuns, partsOf, type RunState } from '../../facts/judge-runs.js';
import { Bar, Card, Dot, type Mark } from '../../pages/parts.js';
import { isScheduleOwner, type Pause, pausedText, type RunRecord } from '../../stores/run-store.js';
import { sayRun } from '../../words/say-run.js';
import type { DashboardData } from './gather-dashboard.js';
import { ActionButton, ItemHead, runPath, type Sender } from './plain-pages.js';

const SHOWN = 8;

const MARKS: Readonly<Record<RunState, Mark>> = {
  running: ['Running', 'good'],
  paused: ['Paused', 'warn'],
  waiting: ['Waiting', 'warn'],
  'nothing matched': ['Finished, nothing matched', 'warn'],
  dead: ['Dead', 'bad'],
  finished: ['Finished', 'calm'],
  stopped: ['Stopped', 'warn'],
  cancelled: ['Cancelled', 'calm'],
};

export function RunsSection({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  const judged = judgeRuns(data);
  const shown = judged.slice(0, Math.max(SHOWN, judged.filter(isAtWork).length));
  const [inbox] = data.inboxes;
  const older = judged.length - shown.length;
  return (
    <Card id="runs" title="Runs" isPart>
      {shown.length === 0 ? (
        <p class="empty">
          No runs yet. Start one with <code>brand-enrich run customers.csv</code>
          {inbox !== undefined && (
            <>
              , or drop a file into <code>{inbox.folder}/inbox</code>
            </>
          )}
          .
        </p>
      ) : (
        <ul class="runs">
          {shown.map((each) => (
            <RunItem shown={each} now={data.storeNow} />
          ))}
        </ul>
      )}
      {older > 0 && <p class="note">{countOf(older, 'older run')} not shown.</p>}
      <Pauses pauses={data.pauses} viewer={viewer} />
      <div class="actions">
        {data.ledger?.isPaused === true ? (
          <ActionButton by={viewer} path="/resume">
            Resume spending
          </ActionButton>
        ) : (
          <ActionButton by={viewer} path="/pause">
            Pause all spending
          </ActionButton>
        )}
      </div>
    </Card>
  );
}

/** What is paused, also without a run: a file that waits, a command. Schedules are shown below. */
function Pauses({ pauses, viewer }: { pauses: readonly Pause[]; viewer: Sender }) {
  const shown = pauses.filter(({ owner }) => !isScheduleOwner(owner));
  if (shown.length === 0) return null;
  return (
    <ul class="things">
      {shown.map(({ owner, label, ...order }) => (
        <li>
          <p class="why">
            <strong>
              <bdi>{label.name}</bdi>
            </strong>{' '}
            is {pausedText(order)}.
          </p>
          <div class="actions">
            <ActionButton by={viewer} path="/pauses/resume" fields={[['owner', owner]]}>
              Resume<span class="unseen"> {label.name}</span>
            </ActionButton>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The state of a run in a word. */
export const markOf = ({ state }: Pick<JudgedRun, 'state'>): Mark => MARKS[state];

function RunItem({ shown, now }: { shown: JudgedRun; now: number }) {
  const { run, standing } = shown;
  const { whole, left } = partsOf(run);
  const { host, name } = run.label;
  const answered = whole - left;
  const why = sayRun(shown, 'page', now);
  const isGoing = isAtWork({ standing });
  return (
    <li class="run">
      <ItemHead
        name={name}
        path={runPath(run.id)}
        mark={markOf(shown)}
        when={isGoing ? `for ${spanText(now - run.asOf)}` : `started ${agoText(run.asOf, now)}`}
      />
      {whole > 0 && (
        <>
          <p class="run-far">
            <span class="run-share">{shareText(answered, whole)}</span> {countText(answered)} of{' '}
            {countOf(whole, 'identifier')}, {countText(run.tally.billed)} billed{earlierText(run)}
          </p>
          <Counts run={run} />
        </>
      )}
      {why !== null && <p class="why">{why}</p>}
      <p class="note run-id">
        {run.rows === null ? 'reading the file' : countOf(run.rows, 'row')}
        {host !== null && ` · on ${host}`} · <code>{run.id}</code>
      </p>
    </li>
  );
}

/** The identifiers of a run by outcome: a bar, and the counts. */
export function Counts({ run }: { run: RunRecord }) {
  const { whole, left, ...parts } = partsOf(run);
  const tones = [
    ['matched', parts.matched, 'matched'],
    ['stored', parts.stored, 'already stored'],
    ['not_found', parts.notFound, 'not found'],
    ['failed', parts.failed, 'failed'],
  ] as const;
  return (
    <>
      <Bar parts={tones.map(([tone, count]) => [tone, count / whole])} />
      <ul class="counts">
        {[...tones, ['left', left, 'left'] as const].map(
          ([tone, count, words]) =>
            count > 0 && (
              <li>
                <Dot tone={tone}>
                  {countText(count)} {words}
                </Dot>
              </li>
            ),
        )}
      </ul>
    </>
  );
}

function earlierText({ earlier }: RunRecord): string {
  if (earlier === undefined || earlier.starts === 0) return '';
  return `, ${countText(earlier.billed)} in ${countOf(earlier.starts, 'earlier start')}`;
}

/** Runs, a line each: the standing by record, heartbeat and account, and identifiers by outcome. */
import { countOf, countText, spanText } from '../core/figures.js';
import { isOfFile, pausedText, type RunRecord } from '../engine/stores/run-store.js';
import type { ResultType } from '../jobs/find-files.js';
import type { ParkState } from '../jobs/job-folder.js';
import { isAtWork, type JudgedRun, judgeRuns, partsOf } from '../run/facts/judge-runs.js';
import { Bar, Card, Dot } from '../run/report/kit/parts.js';
import { type FileState, judgeFile, judgeRun, MARKS } from './file-state.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';
import { ActionButton, Folded, Moment, runPath, type Sender, State } from './plain-pages.js';

/** With all that are at work; the others are folded. */
const SHOWN = 5;

export function RunsSection({
  view,
  viewer,
}: {
  view: DashboardView & { data: DashboardData };
  viewer: Sender;
}) {
  const { data } = view;
  const judged = judgeRuns(data);
  const shown = Math.max(SHOWN, judged.filter(isAtWork).length);
  const waiting = data.inboxes.flatMap((inbox) => inbox.waiting ?? []);
  const whyOf = new Map(waiting.map(({ job, state }) => [job, state.why]));
  const list = (runs: readonly JudgedRun[]) => (
    <ul class="runs">
      {runs.map((each) => (
        <RunItem
          shown={each}
          waitsFor={whyOf.get(each.run.job) ?? null}
          now={data.storeNow}
          result={data.results.get(each.run.id)}
          viewer={viewer}
        />
      ))}
    </ul>
  );
  const [first, older] = [judged.slice(0, shown), judged.slice(shown)];
  return (
    <Card id="runs" title="Runs" isPart>
      {first.length === 0 ? (
        <p class="empty">No runs yet. Drop a file above.</p>
      ) : (
        <>
          <Legend />
          {list(first)}
        </>
      )}
      {older.length > 0 && (
        <Folded id="older-runs" summary={countOf(older.length, 'more run')}>
          {list(older)}
        </Folded>
      )}
      <Pauses data={data} viewer={viewer} />
    </Card>
  );
}

/** Colours of the bars. */
const TONES = [
  ['matched', 'matched'],
  ['stored', 'already stored'],
  ['not_found', 'not found'],
  ['failed', 'failed'],
  ['left', 'left'],
] as const;

function Legend() {
  return (
    <ul class="counts legend" aria-hidden="true">
      {TONES.map(([tone, words]) => (
        <li>
          <Dot tone={tone}>{words}</Dot>
        </li>
      ))}
    </ul>
  );
}

/** The button that stops all spending, or allows it again. */
export function SpendingButton({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  return data.ledger?.isPaused === true ? (
    <ActionButton by={viewer} path="/resume">
      Resume spending
    </ActionButton>
  ) : (
    <ActionButton by={viewer} path="/pause">
      Pause all spending
    </ActionButton>
  );
}

/** What is paused and not listed elsewhere: neither a run nor a file that waits. */
function Pauses({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  const waiting = data.inboxes.flatMap(({ waiting: files }) => files ?? []);
  const listed = new Set([...data.runs.map(({ owner }) => owner), ...waiting.map(({ job }) => job)]);
  const shown = data.pauses.filter((pause) => isOfFile(pause) && !listed.has(pause.owner));
  if (shown.length === 0) return null;
  return (
    <ul class="things pauses" id="pauses">
      {shown.map(({ owner, label, ...order }) => (
        <li>
          <p class="why">
            <strong>
              <bdi>{label.name}</bdi>
            </strong>{' '}
            is {pausedText(order)}.
          </p>
          <div class="actions">
            <ActionButton
              by={viewer}
              path="/pauses/resume"
              fields={[
                ['owner', owner],
                ['back', '/#runs'],
              ]}
            >
              Resume<span class="unseen"> {label.name}</span>
            </ActionButton>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** `waitsFor`: what its file waits for; null if that does not. */
function stateOf(shown: JudgedRun, waitsFor: ParkState['why'] | null): FileState {
  if (waitsFor === null) return judgeRun(shown);
  return judgeFile({ place: 'waiting', waitsFor, reason: {} }, shown, shown.run.paused !== null);
}

/** Of stored answers alone it is not known here how many are brands. */
function foundText(matched: number, stored: number): string {
  return matched === 0 && stored > 0 ? `${countText(stored)} stored` : `${countText(matched)} matched`;
}

interface ShownRun {
  readonly shown: JudgedRun;
  readonly waitsFor: ParkState['why'] | null;
  readonly now: number;
  /** Absent: there is nothing to download here. */
  readonly result: ResultType | undefined;
  readonly viewer: Sender;
}

/** One line: name, state, outcomes, matched, age, result. */
function RunItem({ shown, waitsFor, now, result, viewer }: ShownRun) {
  const { run } = shown;
  const { whole, matched, stored } = partsOf(run);
  const { name } = run.label;
  return (
    <li class="run">
      <strong class="run-name" title={name}>
        <a href={runPath(run.id)}>
          <bdi>{name}</bdi>
        </a>
      </strong>
      <State mark={MARKS[stateOf(shown, waitsFor)]} />
      {whole > 0 ? <OutcomeBar run={run} /> : <div class="outcome-bar" />}
      <span class="run-matched">
        {whole > 0 ? foundText(matched, stored) : isAtWork(shown) ? 'reading the file' : 'not read'}
      </span>
      <span class="run-when">
        {isAtWork(shown) ? (
          <>
            for <Moment at={run.asOf} now={now} words={spanText(now - run.asOf)} />
          </>
        ) : (
          <Moment at={run.asOf} now={now} />
        )}
      </span>
      <span class="run-end">
        {run.paused !== null ? (
          <ActionButton by={viewer} path={`${runPath(run.id)}/resume`} fields={[['back', '/#runs']]}>
            Resume<span class="unseen"> {name}</span>
          </ActionButton>
        ) : result === undefined ? (
          <span class="muted">
            {isAtWork(shown) ? 'no result yet' : run.status === 'completed' ? 'not here' : 'no result'}
          </span>
        ) : (
          <a href={resultPath(run.id)}>
            {result === 'output' ? 'Download' : 'Partial'}
            <span class="unseen"> result of {name}</span>
          </a>
        )}
      </span>
    </li>
  );
}

/** Where the enriched file of a run is downloaded. */
function resultPath(id: string): string {
  return `${runPath(id)}/result`;
}

/** Of identifiers, in words and colours; none is 0. */
function outcomesOf(run: RunRecord) {
  const { matched, stored, notFound, failed, left } = partsOf(run);
  const counts = [matched, stored, notFound, failed, left];
  const outcomes = TONES.map(([tone, words], at) => ({ tone, words, count: counts[at] ?? 0 }));
  return outcomes.filter(({ count }) => count > 0);
}

function OutcomeBar({ run }: { run: RunRecord }) {
  const { whole } = partsOf(run);
  const outcomes = outcomesOf(run);
  const label = outcomes.map(({ words, count }) => `${countText(count)} ${words}`).join(', ');
  const drawn = outcomes.filter(({ tone }) => tone !== 'left');
  return (
    <div class="outcome-bar" role="img" aria-label={label} title={label}>
      <Bar parts={drawn.map(({ tone, count }) => [tone, count / whole])} />
    </div>
  );
}

/** The identifiers of a run by outcome: a bar, and the counts. */
export function Counts({ run }: { run: RunRecord }) {
  return (
    <>
      <OutcomeBar run={run} />
      <ul class="counts">
        {outcomesOf(run).map(({ tone, words, count }) => (
          <li>
            <Dot tone={tone}>
              {countText(count)} {words}
            </Dot>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Files and runs, a line each: not started, at work, failed, waiting, ended. Pure. */
import { basename } from 'node:path';
import type { Child } from 'hono/jsx';
import { countOf, countText, sentenceOf, sizeText, spanText } from '../core/figures.js';
import { isOfFile, type Pause, pausedText } from '../engine/stores/run-store.js';
import type { Draft, FoundFile } from '../jobs/find-files.js';
import { isUndecided } from '../jobs/job-folder.js';
import { countsOf, isAtWork, type JudgedRun, judgeRuns } from '../run/facts/judge-runs.js';
import { Card, type Mark } from '../run/report/kit/parts.js';
import { judgeFile, judgeRun, MARKS } from './file-state.js';
import type { DashboardData, DashboardView, ShownInbox, WaitingFile } from './gather-dashboard.js';
import { Legend, OutcomeBar } from './outcome-bar.js';
import {
  ActionButton,
  type Fields,
  Folded,
  filePath,
  Moment,
  runPath,
  type Sender,
  State,
} from './plain-pages.js';
import { SentFiles } from './upload-card.js';
import { isHopeless, planPath } from './upload-choices.js';

/** Runs that are not folded: all at work, and as many ended runs as fit this number. */
const RUNS_SHOWN = 5;
/** Drafts, failed and waiting files that are not folded, of each kind. */
const SHOWN = 2;
/** The most waiting files of a folder: thousands would bury the page. */
const LISTED = 20;

/** A line of the list, with what stands below it. */
interface Line {
  readonly name: string;
  /** The path of its page; absent without one. */
  readonly path?: string;
  readonly mark: Mark;
  /** Absent before its first known run. */
  readonly run?: JudgedRun | undefined;
  readonly figure?: string;
  readonly when?: Child;
  readonly end?: Child;
  readonly why?: Child;
  readonly actions?: Child;
}

export function FilesSection(shown: { view: DashboardView & { data: DashboardData }; viewer: Sender }) {
  const { viewer } = shown;
  const { data, uploads, now } = shown.view;
  const runs = judgeRuns(data);
  const waiting = data.inboxes.flatMap((inbox) => (inbox.waiting ?? []).slice(0, LISTED));
  const failed = data.failed.flatMap(({ files }) => files);
  const known = new Set([...waiting.map(({ job }) => job), ...failed.map(({ id }) => id)]);
  // The line of a file shows its latest run.
  const latest = new Map(runs.toReversed().map((shown) => [shown.run.job, shown]));
  const others = runs.filter((shown) => !known.has(shown.run.job) || latest.get(shown.run.job) !== shown);
  const owners = new Set([...runs.map(({ run }) => run.owner), ...known]);
  const pauses = data.pauses.filter((pause) => isOfFile(pause) && !owners.has(pause.owner));
  const atWork = others.filter(isAtWork);
  const lineOf = (shown: JudgedRun) => runLine(shown, data, viewer);
  const groups: readonly (readonly [lines: readonly Line[], notFolded: number])[] = [
    [uploads.received.map((draft) => draftLine(draft, now)), SHOWN],
    [atWork.map(lineOf), atWork.length],
    [failed.map((file) => failedLine(file, latest.get(file.id), data, viewer)), SHOWN],
    [waiting.map((file) => waitingLine(file, latest.get(file.job), data, viewer)), SHOWN],
    [pauses.map((pause) => pausedLine(pause, viewer)), SHOWN],
    [others.slice(atWork.length).map(lineOf), Math.max(0, RUNS_SHOWN - atWork.length)],
  ];
  const first = groups.flatMap(([lines, count]) => lines.slice(0, count));
  const folded = groups.flatMap(([lines, count]) => lines.slice(count));
  const unlisted =
    data.failed.reduce((sum, { count }) => sum + count, 0) -
    failed.length +
    data.inboxes.reduce((sum, inbox) => sum + Math.max(0, (inbox.waiting?.length ?? 0) - LISTED), 0);
  return (
    <Card id="files" title="Files" isPart>
      {first.length > 0 && <Legend />}
      {data.inboxes.map(noteOf).map((note) => note && <p class="why">{note}</p>)}
      {uploads.received.length > 0 && <SentFiles received={uploads.received} viewer={viewer} />}
      {first.length === 0 ? <p class="empty">No files yet. Drop one above.</p> : <Lines lines={first} />}
      {folded.length > 0 && (
        <Folded id="more-files" summary={countOf(folded.length + unlisted, 'more file')}>
          <Lines lines={folded} />
          {unlisted > 0 && (
            <p class="note">{countOf(unlisted, 'more file is', 'more files are')} not listed.</p>
          )}
        </Folded>
      )}
    </Card>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ul class="runs">
      {lines.map(({ name, path, mark, figure, run, when, end, why, actions }) => (
        <li class="run">
          <strong class="run-name" title={name}>
            {path === undefined ? (
              <bdi>{name}</bdi>
            ) : (
              <a href={path}>
                <bdi>{name}</bdi>
              </a>
            )}
          </strong>
          <State mark={mark} />
          {run && countsOf(run.run).total > 0 ? <OutcomeBar run={run.run} /> : <div class="outcome-bar" />}
          <span class="run-matched">{run ? foundText(run) : figure}</span>
          <span class="run-when">{when}</span>
          <span class="run-end">{end}</span>
          {why && <p class="why">{why}</p>}
          {actions && <div class="actions">{actions}</div>}
        </li>
      ))}
    </ul>
  );
}

/** Returns the count of matches; how many stored answers are brands is unknown here. */
function foundText(shown: JudgedRun): string {
  const { total, matched, stored } = countsOf(shown.run);
  if (total === 0) return isAtWork(shown) ? 'reading the file' : 'not read';
  return matched === 0 && stored > 0 ? `${countText(stored)} stored` : `${countText(matched)} matched`;
}

function runLine(shown: JudgedRun, { storeNow, results }: DashboardData, viewer: Sender): Line {
  const { run } = shown;
  const { name } = run.label;
  const result = results.get(run.id);
  const path = runPath(run.id);
  const none = run.status === 'completed' ? 'not here' : 'no result';
  return {
    name,
    path,
    mark: MARKS[judgeRun(shown)],
    run: shown,
    when: isAtWork(shown) ? <Since at={run.asOf} now={storeNow} /> : <Moment at={run.asOf} now={storeNow} />,
    end:
      run.paused !== null ? (
        <Resume by={viewer} path={`${path}/resume`} name={name} />
      ) : result === undefined ? (
        <span class="muted">{isAtWork(shown) ? 'no result yet' : none}</span>
      ) : (
        <a href={`${path}/result`}>
          {result === 'output' ? 'Download' : 'Partial'}
          <span class="unseen"> result of {name}</span>
        </a>
      ),
  };
}

function draftLine({ file: name, id, size, changedAt: at }: Draft, now: number): Line {
  const when = <Moment at={at} now={now} />;
  return { name, path: filePath(id), mark: MARKS.draft, figure: sizeText(size), when };
}

const BACK: Fields = [['back', '/#files']];

function Resume(shown: { by: Sender; path: string; name: string; fields?: Fields }) {
  const { by, path, name, fields = [] } = shown;
  return (
    <ActionButton by={by} path={path} fields={[...fields, ...BACK]}>
      Resume<span class="unseen"> {name}</span>
    </ActionButton>
  );
}

function Since({ at, now }: { at: number; now: number }) {
  return (
    <>
      for <Moment at={at} now={now} words={spanText(now - at)} />
    </>
  );
}

function failedLine(
  { id, file, folder, endedAt, reason }: FoundFile,
  run: JudgedRun | undefined,
  data: DashboardData,
  viewer: Sender,
): Line {
  const lost = reason.details === '' ? 'The reason is unknown.' : 'The record of this file was lost.';
  const unknown = file === null ? 'It is unclear which of its files is the original.' : lost;
  return {
    name: file ?? basename(folder),
    path: filePath(id),
    mark: MARKS[judgeFile({ place: 'failed', waitsFor: null, reason }, run ?? null, false)],
    run,
    when: endedAt > 0 && <Moment at={endedAt} now={data.at} />,
    end: run && runLine(run, data, viewer).end,
    why: reason.headline || unknown,
    actions: file !== null && <FailedActions {...{ id, file, reason, viewer }} back="/#files" />,
  };
}

function waitingLine(
  { job, run: begun, file, since, reason, state: { why, capMark } }: WaitingFile,
  run: JudgedRun | undefined,
  data: DashboardData,
  viewer: Sender,
): Line {
  const path = filePath(job);
  const pause = data.pauses.find(({ owner }) => owner === job);
  const isPaused = pause !== undefined || run?.run.paused != null;
  const step =
    isUndecided(why) && begun !== null
      ? [path, 'See them and decide']
      : why === 'crashed'
        ? [`${path}#caps`, 'See it and decide']
        : capMark !== null && [`${path}#caps`, 'Raise its cap'];
  return {
    name: file,
    path,
    mark: MARKS[judgeFile({ place: 'waiting', waitsFor: why, reason: {} }, run ?? null, isPaused)],
    run,
    when: since > 0 && <Since at={since} now={data.at} />,
    end: run ? runLine(run, data, viewer).end : pause && pausedLine(pause, viewer).end,
    why: reason,
    actions: step && (
      <a href={step[0]}>
        {step[1]}
        <span class="unseen">: {file}</span>
      </a>
    ),
  };
}

function pausedLine({ owner, label: { name }, ...order }: Pause, viewer: Sender): Line {
  const end = <Resume by={viewer} path="/pauses/resume" name={name} fields={[['owner', owner]]} />;
  return { name, mark: MARKS.paused, end, why: sentenceOf(pausedText(order)) };
}

/** Returns the number of failed files that nobody cancelled. */
export function countOfFaults(data: Pick<DashboardData, 'failed'>): number {
  return data.failed.reduce((sum, { count, cancelled }) => sum + count - cancelled, 0);
}

/** Returns why an inbox takes no files, or which it takes next, or null. */
function noteOf({ folder, closed, queued, inProgress, waiting, misplaced }: ShownInbox): Child | null {
  if (closed !== null)
    return (
      <>
        <strong>{folder} is closed: it takes no files.</strong> {closed}
      </>
    );
  if (waiting === null) return `${folder} cannot be read at the moment.`;
  const shown = (names: readonly string[]) =>
    names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${countOf(names.length - 3, 'other')}` : '');
  const behind = inProgress.length === 0 ? 'Not taken yet' : `Queued behind ${shown(inProgress)}`;
  const taken = queued.length > 0 && `${behind}: ${shown(queued)}.`;
  const lost =
    misplaced.length > 0 && `Not in the inbox: ${shown(misplaced)}. Move them into ${folder}/inbox.`;
  return [taken, lost].filter(Boolean).join(' ') || null;
}

/** The buttons of a failed file. */
export function FailedActions(
  failed: Pick<FoundFile, 'id' | 'reason'> & {
    file: string;
    viewer: Sender;
    isDismissed?: boolean;
    back: string;
  },
) {
  const { id, file, viewer, isDismissed = false, back } = failed;
  const button = (step: 'again' | 'dismiss', label: string) => (
    <ActionButton by={viewer} path={`${filePath(id)}/${step}`} fields={[['back', back]]}>
      {label}
      <span class="unseen"> {file}</span>
    </ActionButton>
  );
  const isReadable = !isHopeless(failed.reason.code);
  return (
    <>
      {isReadable && button('again', 'Try again')}
      {!isDismissed && button('dismiss', 'Dismiss')}
      {isReadable && (
        <a href={planPath({ id, place: 'failed' })}>
          Read it differently<span class="unseen">: {file}</span>
        </a>
      )}
    </>
  );
}

/** Files of inboxes that failed or wait, with their reasons: the first three, the others folded. */
import type { Child } from 'hono/jsx';
import { countOf, spanText } from '../core/figures.js';
import type { FailedFile } from '../jobs/find-files.js';
import { CANCELLED, isUndecided } from '../jobs/job-folder.js';
import { Card } from '../run/report/kit/parts.js';
import type { DashboardData, ShownInbox, WaitingFile } from './gather-dashboard.js';
import { ActionButton, type Fields, Folded, filePath, ItemHead, Moment, type Sender } from './plain-pages.js';
import { isHopeless, planPath } from './upload-choices.js';

const SHOWN = 3;
/** Waiting files of each folder: thousands would bury the page. */
const LISTED = 20;

/** Empty where there is nothing to say. */
export function FilesSection({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  const { inboxes, at } = data;
  const failed = data.failed.flatMap(({ files }) =>
    files.map((file) => <FailedItem failed={file} now={at} viewer={viewer} />),
  );
  const waiting = waitingOf(data).flatMap((files) =>
    files.slice(0, LISTED).map((file) => <WaitingItem waits={file} now={at} />),
  );
  const notes = inboxes.map((inbox) => <InboxNote inbox={inbox} />);
  const hasNotes = inboxes.some((inbox) => noteOf(inbox) !== null);
  // Some of both, when there are both.
  const ofFailed = Math.max(SHOWN - waiting.length, Math.min(failed.length, SHOWN - 1));
  const ofWaiting = SHOWN - Math.min(ofFailed, failed.length);
  const first = [...failed.slice(0, ofFailed), ...waiting.slice(0, ofWaiting)];
  const others = [...failed.slice(ofFailed), ...waiting.slice(ofWaiting)];
  const all = countOfFailed(data) + waitingOf(data).flat().length;
  const unlisted = all - first.length - others.length;
  return (
    <div data-part="files">
      {(hasNotes || first.length > 0) && (
        <Card id="files" title="Files that wait or ended early">
          {notes}
          <ul class="things">{first}</ul>
          {others.length > 0 && (
            <Folded id="more-files" summary={countOf(others.length + unlisted, 'more file')}>
              <ul class="things">{others}</ul>
              <Unlisted count={unlisted} />
            </Folded>
          )}
        </Card>
      )}
    </div>
  );
}

function Unlisted({ count }: { count: number }) {
  return count > 0 && <p class="note">{countOf(count, 'more file is', 'more files are')} not listed.</p>;
}

function countOfFailed({ failed }: Pick<DashboardData, 'failed'>): number {
  return failed.reduce((sum, { count }) => sum + count, 0);
}

/** Those that nobody cancelled. */
export function countOfFaults(data: Pick<DashboardData, 'failed'>): number {
  return data.failed.reduce((sum, { count, cancelled }) => sum + count - cancelled, 0);
}

const isCancelled = ({ reason }: FailedFile) => reason.code === CANCELLED;

/** The waiting files of each inbox; one that is paused stands among the runs if it has one. */
function waitingOf({ inboxes, runs }: DashboardData): WaitingFile[][] {
  const paused = new Set(runs.flatMap(({ job, paused: order }) => (order === null ? [] : [job])));
  return inboxes.map(({ waiting }) => (waiting ?? []).filter(({ job }) => !paused.has(job)));
}

function InboxNote({ inbox }: { inbox: ShownInbox }) {
  const note = noteOf(inbox);
  return note && <p class="why">{note}</p>;
}

/** Why an inbox takes no files, or which it takes next; null: there is nothing to say. */
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
  const notes = [
    ...(queued.length > 0 ? [`${behind}: ${shown(queued)}.`] : []),
    ...(misplaced.length > 0
      ? [`Not in the inbox: ${shown(misplaced)}. Move them into ${folder}/inbox.`]
      : []),
  ];
  return notes.join(' ') || null;
}

function FailedItem({ failed, now, viewer }: { failed: FailedFile; now: number; viewer: Sender }) {
  const { id, file, folder, failedAt, reason } = failed;
  const { headline, details } = reason;
  const lost = details === '' ? 'The reason is unknown.' : 'The record of this file was lost.';
  const unknown = file === null ? 'It is unclear which of its files is the original.' : lost;
  return (
    <li class="file">
      <ItemHead
        name={file ?? folder}
        path={filePath(id)}
        mark={isCancelled(failed) ? ['Cancelled', 'calm'] : ['Failed', 'bad']}
        when={failedAt > 0 && <Moment at={failedAt} now={now} />}
      />
      <p class="why">{headline || unknown}</p>
      {file !== null && (
        <div class="actions">
          <FailedActions {...{ id, file, reason, viewer }} back="/#files" />
        </div>
      )}
    </li>
  );
}

/** What a person can do with a failed file. */
export function FailedActions(failed: {
  readonly id: string;
  readonly file: string;
  readonly reason: { readonly code?: string | undefined };
  readonly viewer: Sender;
  readonly isDismissed?: boolean;
  readonly back: string;
}) {
  const { id, file, viewer, isDismissed = false } = failed;
  const fields: Fields = [['back', failed.back]];
  const isReadable = !isHopeless(failed.reason.code);
  return (
    <>
      {isReadable && (
        <ActionButton by={viewer} path={`${filePath(id)}/again`} fields={fields}>
          Try again<span class="unseen"> {file}</span>
        </ActionButton>
      )}
      {!isDismissed && (
        <ActionButton by={viewer} path={`${filePath(id)}/dismiss`} fields={fields}>
          Dismiss<span class="unseen"> {file}</span>
        </ActionButton>
      )}
      {isReadable && (
        <a href={planPath({ id, place: 'failed' })}>
          Read it differently<span class="unseen">: {file}</span>
        </a>
      )}
    </>
  );
}

function WaitingItem({ waits, now }: { waits: WaitingFile; now: number }) {
  const { job, run, file, since, reason, state } = waits;
  const path = filePath(job);
  return (
    <li class="file">
      <ItemHead
        name={file}
        path={path}
        mark={['Waiting', 'warn']}
        when={
          since > 0 && (
            <>
              for <Moment at={since} now={now} words={spanText(now - since)} />
            </>
          )
        }
      />
      <p class="why">{reason}</p>
      {isUndecided(state.why) && run !== null && (
        <div class="actions">
          <a href={path}>
            See them and decide<span class="unseen">: {file}</span>
          </a>
        </div>
      )}
      {(state.capMark !== null || state.why === 'crashed') && (
        <div class="actions">
          <a href={`${path}#caps`}>
            {state.why === 'crashed' ? 'See it and decide' : 'Raise its cap'}
            <span class="unseen">: {file}</span>
          </a>
        </div>
      )}
    </li>
  );
}

/** The page of a file, and of a run without a file: state, buttons, cards. Pure. */
import { basename } from 'node:path';
import type { Child } from 'hono/jsx';
import { sizeText } from '../core/figures.js';
import type { FoundFile, JobFile } from '../jobs/find-files.js';
import { isSideFile } from '../jobs/inbox-file.js';
import type { ShownCaps } from '../jobs/start-file.js';
import { sumOf } from '../run/output/write-output.js';
import { brandsText } from '../run/report/headline.js';
import { Card, Title } from '../run/report/kit/parts.js';
import { type FileState, judgeFile, judgeRun, MARKS } from './file-state.js';
import { FailedActions } from './files-section.js';
import type { Viewer } from './gate.js';
import type { RunView } from './look-at-run.js';
import { Banners } from './overview.js';
import { ActionButton, filePath, Moment, NoticeBanner, runPath, Top } from './plain-pages.js';
import { RowsCard, type ShownRows } from './rows-card.js';
import type { MoneyTerms } from './run-page.js';
import { AboutCard, headlineOf, MatchesCard, noFilesText, RunActions, RunFigures } from './run-page.js';
import { PlanCards, planHeadline, type ShownDraft } from './upload-page.js';
import { WaitingCard } from './waiting-card.js';

/** The data of the page; `file`, `run` or both are known. */
export interface FileView {
  /** null for a run without a file in the inboxes here. */
  readonly file: FoundFile | null;
  /** The latest run; null before the first, and where the engine has forgotten it. */
  readonly run: RunView | null;
  /** Caps of a file that waits for a person or a limit; null otherwise, or if unreadable. */
  readonly caps: ShownCaps | null;
  /** Why its inbox takes no files; null while it does. */
  readonly closed: string | null;
  readonly isPaused: boolean;
  /** By this machine's clock, which dates folders. */
  readonly now: number;
  /** Rows of its result, or null where they cannot be shown. */
  readonly result: ShownRows | null;
  /** The plan of a draft, or of a failed file that is read differently; else null. */
  readonly draft: ShownDraft | null;
}

/** Returns the path of a download; the links in a report are relative to it. */
export function downloadPath(job: string, name: string): string {
  return `${filePath(job)}/${encodeURIComponent(name)}`;
}

function pathOf({ file, run }: FileView): string {
  return file === null ? runPath(run?.shown.run.id ?? '') : filePath(file.id);
}

export function nameOf({ file, run }: FileView): string {
  return file?.file ?? run?.shown.run.label.name ?? basename(file?.folder ?? '');
}

/** The page of a file in its state: not started, queued, at work, waiting, or ended. */
export function fileBody(seen: FileView, viewer: Viewer, terms: MoneyTerms) {
  const { file, run, draft } = seen;
  const state = stateOf(seen);
  return (
    <>
      <header>
        <Top>
          {file === null ? 'Run on ' : 'File of the inbox '}
          <bdi>{file?.root ?? run?.shown.run.label.host ?? 'an unknown machine'}</bdi>
        </Top>
        <Title mark={MARKS[state]} isPart>
          <bdi>{nameOf(seen)}</bdi>
        </Title>
        <p class="headline" data-part="headline">
          {draft === null ? headline(seen, state) : planHeadline(draft.plan)}
        </p>
        <NoticeBanner notice={viewer.notice} />
        {run !== null && <Banners view={run.view} viewer={viewer} />}
        <p class="banner bad" id="silent" hidden />
        <div class="actions" data-part="actions">
          {file?.place === 'drafts' ? (
            <ActionButton by={viewer} path={`${filePath(file.id)}/discard`}>
              Discard
            </ActionButton>
          ) : (
            draft === null && <Actions seen={seen} viewer={viewer} />
          )}
        </div>
      </header>
      <main id="main" tabindex={-1}>
        {draft === null ? (
          <StateCards seen={seen} state={state} viewer={viewer} terms={terms} />
        ) : (
          <PlanCards shown={draft} viewer={viewer} />
        )}
      </main>
      <footer class="foot">
        <Foot seen={seen} viewer={viewer} />
      </footer>
    </>
  );
}

interface Shown {
  readonly seen: FileView;
  readonly viewer: Viewer;
}

function Actions({ seen, viewer }: Shown) {
  const { file, run } = seen;
  return (
    <>
      {file !== null && <Download file={file} />}
      {run !== null && <RunActions seen={run} viewer={viewer} back={pathOf(seen)} />}
      {run === null && file !== null && seen.isPaused && (
        <ActionButton by={viewer} path="/pauses/resume" fields={[['owner', file.id]]}>
          Resume
        </ActionButton>
      )}
      {file?.place === 'failed' && file.file !== null && (
        <FailedActions {...file} file={file.file} viewer={viewer} back={filePath(file.id)} />
      )}
    </>
  );
}

function StateCards({ seen, state, viewer, terms }: Shown & { state: FileState; terms: MoneyTerms }) {
  const { file, run, result, caps } = seen;
  const record = run?.shown.run ?? null;
  return (
    <>
      {run !== null && <RunFigures seen={run} terms={run.isOnOwnAccount ? terms : null} />}
      <div data-part="reason">
        <Reason seen={seen} />
      </div>
      <div data-part="caps">
        {file !== null && !record?.cancelled && (
          <WaitingCard {...{ file, caps, viewer }} run={record} currency={terms.currency} />
        )}
      </div>
      {result !== null && file !== null && <RowsCard path={filePath(file.id)} {...result} />}
      {/* The script reloads the whole page once there is a run, or the file has moved. */}
      {isBefore(seen, state) ? (
        <section class="card" data-empty="true">
          <p class="empty">Nothing is spent before its run begins.</p>
        </section>
      ) : (
        <Card id="files" title="Files" isPart>
          {file === null || file.place === 'processing' ? (
            <p class="empty">{run && noFilesText(run)}</p>
          ) : (
            <FileList file={file} />
          )}
        </Card>
      )}
      {run !== null && result === null && <MatchesCard seen={run} />}
      {run !== null && <AboutCard seen={run} />}
    </>
  );
}

function Foot({ seen: { file, run, draft, now }, viewer }: Shown) {
  if (draft !== null)
    return (
      <p class="note">
        {sizeText(draft.draft.size)}. A file that is not started{' '}
        {file?.place === 'drafts' ? 'is removed after a day' : 'stays among the failed ones'}. Logged under
        the name <bdi>{viewer.user}</bdi>.
      </p>
    );
  return (
    <p class="note" data-part="stand">
      As of <Moment at={run?.view.data?.at ?? run?.view.now ?? now} now={run?.view.now ?? now} />.
      {run !== null && ` Run ${run.shown.run.id}.`}
      {file?.sentBy !== undefined && ` Sent by ${file.sentBy}.`}
      {file?.startedBy !== undefined && ` Started by ${file.startedBy}.`}
    </p>
  );
}

function stateOf({ file, run, isPaused }: FileView): FileState {
  if (file !== null) return judgeFile(file, run?.shown ?? null, isPaused);
  return run === null ? 'unknown' : judgeRun(run.shown);
}

/** True if the file is started, and has no run yet. */
function isBefore({ file, run }: FileView, state: FileState): boolean {
  return run === null && (state === 'queued' || file?.place === 'processing');
}

function Download({ file: { id, place, files } }: { file: FoundFile }) {
  const result = files.find(({ type }) => type === 'output' || type === 'partial');
  if (result === undefined || place === 'processing') return null;
  return (
    <a class="main tall" href={downloadPath(id, result.name)} download={true}>
      {result.type === 'output' ? 'Download' : 'Download what there is'}
    </a>
  );
}

function headline(seen: FileView, state: FileState): Child {
  const { file, run, closed, now } = seen;
  if (state === 'queued' || isBefore(seen, state)) {
    if (closed !== null) return `The inbox takes no files: ${closed}`;
    return state === 'queued' ? 'Queued: it starts as soon as there is room.' : 'Its file is being read.';
  }
  if (state === 'tried') return 'These were tried first: look at them, then decide about the rest.';
  const rows = seen.result?.counts ?? run?.rows;
  if (file?.place === 'done' && rows) {
    const hint = rows.matched === 0 ? ' Are the column and its kind right?' : '';
    return `${brandsText(rows.matched, sumOf(rows))}.${hint}`;
  }
  const why = file?.reason.headline ?? '';
  if (run !== null && !(state === 'failed' && why !== '')) return headlineOf(run);
  if (file === null) return null;
  const away = file.isDismissed ? ' Dismissed: the file stays in its folder.' : '';
  if (why !== '' || away !== '') return `${why}${away}`.trim();
  return (
    <>
      {file.place === 'waiting' ? 'Began to wait' : file.place === 'failed' ? 'Failed' : 'Finished'}{' '}
      {file.endedAt > 0 ? <Moment at={file.endedAt} now={now} /> : 'some time ago'}.
    </>
  );
}

/** The details of the reason that the headline leaves out. */
function Reason({ seen: { file, run, caps } }: { seen: FileView }) {
  if (file === null || (run !== null && file.place !== 'failed')) return null;
  const { details } = file.reason;
  if (details === '' || caps !== null || file.waitsFor === 'again') return null;
  return (
    <Card id="reason" title="Reason">
      <p class="reason">{details}</p>
    </Card>
  );
}

const TYPES: Readonly<Record<JobFile['type'], string>> = {
  page: 'Report',
  output: 'Enriched rows',
  partial: 'Enriched rows (partial)',
  errors: 'Rows without an answer',
  differences: 'Differences',
  report: 'Report as JSON',
  original: 'Original',
  reason: 'Reason',
  other: 'Other file',
};

/** The files of a job. The report has no way back, so it opens in another tab. */
function FileList({ file: { id, folder, files } }: { file: FoundFile }) {
  return (
    <>
      <p class="muted">
        In <code>{folder}</code>
      </p>
      <ul class="things tight">
        {files.map(({ name, type, size }) => (
          <li>
            <a
              href={downloadPath(id, name)}
              download={type !== 'page'}
              target={type === 'page' ? '_blank' : undefined}
            >
              {isSideFile(name) ? 'Settings' : TYPES[type]}
            </a>{' '}
            <span class="muted">
              <bdi>{name}</bdi>, {sizeText(size)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

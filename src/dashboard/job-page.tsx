/** Files of inboxes that ended: the page of one job, and what is done with a failed one. Pure. */
import { sizeText } from '../core/figures.js';
import { type EndedJob, failedId, type JobAddress, type JobFile, type JobPlace } from '../jobs/ended-jobs.js';
import type { ShownCaps } from '../jobs/file-caps.js';
import { isSideFile, sideFileOf } from '../jobs/inbox-file.js';
import { reasonText } from '../jobs/job-folder.js';
import { Card, Title } from '../run/report/kit/parts.js';
import type { Viewer } from './gate.js';
import {
  ActionButton,
  type Fields,
  Moment,
  NoticeBanner,
  type Page,
  page,
  runPath,
  type Sender,
  Top,
} from './plain-pages.js';
import { isHopeless, uploadPath } from './upload-choices.js';
import { WaitingCard } from './waiting-card.js';

/** The page of a job; its files are below it, so that links among them work. */
export function jobPath({ inbox, place, folder }: JobAddress): string {
  return `/inboxes/${inbox}/${place}/${encodeURIComponent(folder)}/`;
}

/** Where the forms of "Try again" and "Dismiss" are posted. */
export const AGAIN_PATH = '/failed/again';
export const DISMISS_PATH = '/failed/dismiss';

/** What a person can do with a failed file. */
export function FailedActions(job: {
  readonly inbox: number;
  readonly folder: string;
  readonly file: string;
  readonly isHopeless: boolean;
  readonly viewer: Sender;
  readonly back: string;
}) {
  const { inbox, folder, file, viewer, back } = job;
  const fields: Fields = [
    ['inbox', String(inbox)],
    ['folder', folder],
    ['back', back],
  ];
  return (
    <div class="actions">
      {!job.isHopeless && (
        <ActionButton by={viewer} path={AGAIN_PATH} fields={fields}>
          Try again<span class="unseen"> {file}</span>
        </ActionButton>
      )}
      <ActionButton by={viewer} path={DISMISS_PATH} fields={fields}>
        Dismiss<span class="unseen"> {file}</span>
      </ActionButton>
      {!job.isHopeless && isSideFile(sideFileOf(file)) && (
        <a href={uploadPath({ id: failedId(inbox, folder) })}>
          Read it differently<span class="unseen">: {file}</span>
        </a>
      )}
    </div>
  );
}

const PLACES: Readonly<Record<JobPlace, string>> = {
  done: 'Finished',
  failed: 'Failed',
  waiting: 'Began to wait',
};

/** `now`: this machine's clock, which dates folders. */
export function renderJob(
  shown: { readonly job: EndedJob; readonly caps: ShownCaps | null; readonly currency: string | null },
  viewer: Omit<Viewer, 'user'>,
  now: number,
): Page {
  const { job } = shown;
  const { inbox, place, folder, file, endedAt, runId, sentBy, startedBy } = job;
  // What to do at a limit is in the card below it.
  const reason = shown.caps === null ? reasonText(job.reason) : job.reason.headline;
  const name = file ?? folder;
  const body = (
    <>
      <header>
        <Top>
          File of the inbox <bdi>{job.root}</bdi>
        </Top>
        <Title>
          <bdi>{name}</bdi>
        </Title>
        <p class="headline">
          {PLACES[place]}
          {endedAt > 0 && (
            <>
              {' '}
              <Moment at={endedAt} now={now} />
            </>
          )}
          .{sentBy !== undefined && ` Sent by ${sentBy}.`}
          {startedBy !== undefined && ` Started by ${startedBy}.`}
          {runId !== null && (
            <>
              {' '}
              <a href={runPath(runId)}>Show the run</a>
            </>
          )}
        </p>
        <NoticeBanner notice={viewer.notice} />
      </header>
      <main id="main" tabindex={-1}>
        {reason !== '' && (
          <Card id="reason" title="Reason">
            <p class="reason">{reason}</p>
          </Card>
        )}
        <WaitingCard {...shown} left={null} viewer={viewer} back={jobPath(job)} />
        <Card id="files" title="Files">
          <FileList job={job} />
          {place === 'failed' && file !== null && (
            <FailedActions
              {...{ inbox, folder, file, viewer }}
              isHopeless={isHopeless(job.reason.code)}
              back={jobPath(job)}
            />
          )}
        </Card>
      </main>
    </>
  );
  return page(`${name}: brand-enrich`, body);
}

const TYPES: Readonly<Record<JobFile['type'], string>> = {
  page: 'Report',
  output: 'Enriched rows',
  partial: 'Enriched rows (partial)',
  errors: 'Rows without an answer',
  report: 'Report as JSON',
  original: 'Original',
  reason: 'Reason',
  other: 'Other file',
};

/** The files of a job to download; the report, which has no way back, opens beside the page. */
export function FileList({ job }: { job: EndedJob }) {
  const { root, place, folder, files } = job;
  const path = jobPath(job);
  return (
    <>
      <p class="muted">
        In <code>{`${root}/${place}/${folder}`}</code>
      </p>
      {files.length === 0 ? (
        <p class="empty">Its folder has no files.</p>
      ) : (
        <ul class="things tight">
          {files.map(({ name, type, size }) => (
            <li>
              <a
                href={`${path}${encodeURIComponent(name)}`}
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
      )}
    </>
  );
}

/** The data of the dashboard: gathered on demand, at most once a second; kept during outages. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { type GivenTerms, readAccountStatus, runDocument, statusDocument } from '../app/account-status.js';
import type { Clock } from '../core/clock.js';
import { withinDeadline } from '../core/lifecycle.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { countChunks } from '../engine/chunk-queue.js';
import type { BullChunkQueue, Engine } from '../engine/engine.js';
import { listWorkers } from '../engine/queues.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { type Draft, type FileFinder, listQueued, listWaiting } from '../jobs/find-files.js';
import { type ScheduleBook, scheduleDocument } from '../jobs/schedules/schedule-book.js';
import { listClosedInboxes, whyClosedHere } from '../jobs/watcher-status.js';
import { holdOf } from '../ledger/policy.js';
import type { Document } from '../run/documents.js';
import type { AccountNames } from '../run/enrich-request.js';
import { judgeRuns } from '../run/facts/judge-runs.js';
import { isoTime } from '../run/output/columns.js';

/** Times are milliseconds since 1970. */
export type DashboardData = Readonly<Awaited<ReturnType<typeof gatherDashboard>>>;
export type ShownInbox = DashboardData['inboxes'][number];

/** `folder`: its folder below `waiting/`. `since`: 0 when not noted. `reason`: one sentence. */
export type WaitingFile = NonNullable<ShownInbox['waiting']>[number];

export interface UploadsView {
  /** The watched folders, absolute. */
  readonly roots: readonly string[];
  /** Received and not started, the newest first. */
  readonly received: readonly Draft[];
}

/** The newest data that there are, and whether they are old. */
export interface DashboardView {
  readonly host: string;
  readonly now: number;
  /** null until the engine answers. */
  readonly data: DashboardData | null;
  /** When a look first got no answer from the engine (it may have failed earlier); else null. */
  readonly outageNoticedAt: number | null;
  /** Why the service counts as unavailable; null while it answers, and where nothing is sent. */
  readonly serviceOutage: string | null;
  readonly uploads: UploadsView;
  /** A label of amounts; null if unset. */
  readonly currency: string | null;
  readonly isSample: boolean;
  readonly isStopping: boolean;
  /** A person may order a check of the account here; absent: no. */
  readonly canCheck?: boolean;
}

const RUNS_READ = 50;

/** `queue`: null without an account. Throws engine errors, not those of reading inboxes. */
export async function gatherDashboard(
  engine: Engine,
  book: Pick<ScheduleBook, 'list'>,
  names: AccountNames | null,
  queue: BullChunkQueue | null,
  terms: GivenTerms,
  finder: FileFinder,
) {
  const queueCounts = async () => queue && countChunks(queue);
  const [account, workers, schedules, shownInboxes, failed, closed] = await Promise.all([
    readAccountStatus(engine, queueCounts, names, terms, RUNS_READ),
    // An outage shows in the others; a server may forbid this one alone.
    queue && listWorkers(queue).catch(() => null),
    book.list(),
    Promise.all(finder.roots.map(readInbox)),
    finder.listFailed(),
    listClosedInboxes(engine.keyValues),
  ]);
  const here = hostname();
  const results = await finder.results(
    account.runs.filter((run) => isOfInbox(run) && run.label.host === here),
  );
  const at = Date.now();
  return {
    ...account,
    /** What can be downloaded here, by the id of the run. */
    results,
    /** On all machines, with this queue; null if unknown. */
    workers,
    schedules,
    /** `closed` says why no file is taken from it; null while files are taken. */
    inboxes: shownInboxes.map((inbox) => ({ ...inbox, closed: whyClosedHere(closed, inbox.folder) })),
    failed,
    /** When it was gathered, by this machine's clock. */
    at,
  };
}

/** Only a file of an inbox owns itself. */
export function isOfInbox({ job, owner }: Pick<RunRecord, 'job' | 'owner'>): boolean {
  return job === owner;
}

/** A watched folder, absolute, and what waits in it, longest first; null when it is unreadable. */
async function readInbox(folder: string) {
  const place = join(folder, 'waiting');
  const parked = existsSync(place) ? await listWaiting(place) : null;
  parked?.sort((a, b) => a.parked.since - b.parked.since);
  const waiting = parked?.map(({ folder, record, parked: { since, state } }) => {
    const { id: job, run, file } = record;
    const reason =
      record.reason?.headline ?? 'Continues when quota and budget allow it and the service answers.';
    return { job, run, file, folder: basename(folder), since, reason, state };
  });
  return { folder, waiting: waiting ?? null, ...(await listQueued(folder)) };
}

const FRESH_MS = 1_000;

/** The newest data for all. `gather` may reject or hang. `onError`: once per outage. */
export function createNewestData(options: {
  readonly gather: () => Promise<DashboardData>;
  readonly clock: Pick<Clock, 'now'>;
  readonly onError: (error: unknown) => void;
  readonly deadlineMs?: number;
}) {
  const { gather, clock, onError, deadlineMs = 2_000 } = options;
  let data: DashboardData | null = null;
  let outageNoticedAt: number | null = null;
  let hasWarned = false;
  let isStale = true;
  let gathering: Promise<boolean> | null = null;

  function warnOnce(error: unknown): false {
    if (!hasWarned) onError(error);
    hasWarned = true;
    return false;
  }

  function renew(): Promise<boolean> {
    isStale = false;
    const own: Promise<boolean> = gather()
      .then((newest) => {
        // What was gathered before a change is not shown.
        if (gathering !== own) return true;
        data = newest;
        outageNoticedAt = null;
        hasWarned = false;
        return true;
      })
      .catch(warnOnce)
      .finally(() => {
        if (gathering === own) gathering = null;
      });
    return own;
  }

  return {
    /** Something was changed: the next look does not use what was gathered before. */
    expire(): void {
      isStale = true;
      gathering = null;
    },
    /** Never rejects. */
    async look(): Promise<Pick<DashboardView, 'data' | 'outageNoticedAt'>> {
      const now = clock.now();
      const isOld = data === null || now - data.at >= FRESH_MS || now < data.at;
      if (isOld || isStale || outageNoticedAt !== null) {
        gathering ??= renew();
        // While it is unavailable, views do not wait for it.
        const patienceMs = outageNoticedAt === null ? deadlineMs : deadlineMs / 10;
        if (!(await withinDeadline(gathering, patienceMs))) {
          outageNoticedAt ??= now;
          warnOnce(new Error(`the engine has not answered within ${patienceMs} ms`));
        }
      }
      return { data, outageNoticedAt };
    },
  };
}

type DashboardDocument = Document<'dashboard'>;

/** The dashboard for programs: field by field, so nothing leaks. Pure. */
export function statusOf(view: DashboardView): DashboardDocument & { version: typeof DOCUMENT_VERSION } {
  const { host, data, outageNoticedAt, serviceOutage, isStopping, currency } = view;
  return {
    version: DOCUMENT_VERSION,
    host,
    isStopping,
    engineUnavailableSince: isoTime(outageNoticedAt),
    serviceOutage,
    data: data === null ? null : dataOf(data, currency),
  };
}

function dataOf(data: DashboardData, currency: string | null): DashboardDocument['data'] {
  return {
    at: new Date(data.at).toISOString(),
    hold: data.ledger && holdOf(data.ledger),
    ...statusDocument(data, currency),
    runs: judgeRuns(data).map(runDocument),
    inboxes: data.inboxes.map(({ folder, closed, waiting, queued, inProgress }) => ({
      folder,
      closed,
      queued,
      inProgress,
      waiting:
        waiting?.map(({ file, folder, since, reason }) => {
          return { file, folder, since: isoTime(since || null), reason };
        }) ?? null,
    })),
    schedules: data.schedules.map(scheduleDocument),
  };
}

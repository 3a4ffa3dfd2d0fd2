/**
 * Gathers what the dashboard shows, from the engine and the watched folders: when somebody asks, at
 * most once a second, and kept while the engine is unavailable.
 */
import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readAccountStatus, type SaidTerms } from '../../context/account-status.js';
import type { Clock } from '../../core/clock.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { readPlainFile } from '../../core/plain-file.js';
import type { BullChunkQueue, Engine } from '../../engine/engine.js';
import type { AccountNames } from '../../run/enrich-request.js';
import { listClosedInboxes, whyClosedHere } from '../inbox/inbox-folder-settings.js';
import { listWaiting, type ParkedJob, REASON_FILE } from '../inbox/job-folder.js';
import { createScheduleBook } from '../schedules/schedule-book.js';
import type { DashboardData, ShownInbox, WaitingFile } from './dashboard-data.js';

export interface DashboardSources {
  readonly engine: Engine;
  readonly names: AccountNames | null;
  /** The account's; null where there is none. */
  readonly queue: BullChunkQueue | null;
  readonly terms: SaidTerms;
  /** Watched folders, absolute. */
  readonly inboxes: readonly string[];
}

/** More than are shown, so that those that are alive are among them. */
const RUNS_READ = 50;
/** Reasons are read for so many files of a folder, the longest waiting. */
const REASONS_READ = 50;

/** Throws what the engine throws. A folder that cannot be read is no error. */
export async function gatherDashboard(sources: DashboardSources): Promise<DashboardData> {
  const { engine, names, queue, terms, inboxes } = sources;
  const stores = {
    kind: engine.kind,
    address: engine.address,
    ledger: engine.ledger,
    warnings: engine.warnings,
    outcomes: engine.outcomes,
    runs: engine.runs,
    queueCounts: async () => (queue === null ? null : queue.getJobCounts('waiting', 'active', 'delayed')),
  };
  const [status, schedules, shownInboxes, closed] = await Promise.all([
    readAccountStatus(stores, names, terms, RUNS_READ),
    createScheduleBook(engine).list(),
    Promise.all(inboxes.map(readInbox)),
    listClosedInboxes(engine.keyValues),
  ]);
  const at = Date.now();
  const { outcomes: answers, ...account } = status;
  return {
    ...account,
    answers,
    schedules,
    inboxes: shownInboxes.map((inbox) => ({ ...inbox, closed: whyClosedHere(closed, inbox.folder) })),
    at,
    storeNow: account.ledger?.now ?? at,
  };
}

async function readInbox(folder: string): Promise<Omit<ShownInbox, 'closed'>> {
  const place = join(folder, 'waiting');
  const isThere = await access(place).then(
    () => true,
    () => false,
  );
  if (!isThere) return { folder, waiting: null };
  const parked = await listWaiting(place);
  return { folder, waiting: await Promise.all(parked.map(readWaiting)) };
}

async function readWaiting(job: ParkedJob, position: number): Promise<WaitingFile> {
  const text =
    position < REASONS_READ && job.file !== REASON_FILE
      ? await readPlainFile(join(job.folder, REASON_FILE)).catch(() => '')
      : '';
  return {
    file: job.file,
    folder: basename(job.folder),
    since: job.parkedAt,
    reason: reasonOf(text),
  };
}

/** The sentence of a `reason.txt`, without its opening words. Pure. */
function reasonOf(text: string): string {
  const first = (text.split('\n', 1)[0] ?? '').replace(/^Not finished yet: /, '').trim();
  if (first === '') return 'Goes on when quota and budget allow it and the service answers.';
  return `${first.charAt(0).toUpperCase()}${first.slice(1, 500)}`;
}

export interface NewestData {
  /** Never rejects. */
  look(): Promise<{ readonly data: DashboardData | null; readonly awayNoticedAt: number | null }>;
}

export interface NewestDataOptions {
  /** May reject, and may take for ever. One is under way at a time. */
  readonly gather: () => Promise<DashboardData>;
  readonly clock: Pick<Clock, 'now'>;
  /** Called once per outage with the reason. */
  readonly onTrouble: (error: unknown) => void;
  /** How long a looker waits for the engine. Default: 2 s. */
  readonly deadlineMs?: number;
}

const FRESH_MS = 1_000;
const DEADLINE_MS = 2_000;
/** When nobody has looked for so long, the engine may have been back meanwhile: the next look notices the outage anew. */
const NOTICED_ANEW_MS = 60_000;

export function createNewestData(options: NewestDataOptions): NewestData {
  const { gather, clock, deadlineMs = DEADLINE_MS } = options;
  let data: DashboardData | null = null;
  let awayNoticedAt: number | null = null;
  let lookedAt = 0;
  let hasWarned = false;
  let gathering: Promise<boolean> | null = null;

  function warnOnce(error: unknown): void {
    if (!hasWarned) options.onTrouble(error);
    hasWarned = true;
  }

  async function renew(): Promise<boolean> {
    try {
      data = await gather();
      awayNoticedAt = null;
      hasWarned = false;
      return true;
    } catch (error) {
      warnOnce(error);
      return false;
    }
  }

  return {
    async look() {
      const now = clock.now();
      if (data === null || awayNoticedAt !== null || now - data.at >= FRESH_MS || now < data.at) {
        if (gathering === null && now - lookedAt >= NOTICED_ANEW_MS) awayNoticedAt = null;
        gathering ??= renew().finally(() => {
          gathering = null;
        });
        // While it is unavailable, nobody waits for it each time.
        const patienceMs = awayNoticedAt === null ? deadlineMs : deadlineMs / 10;
        lookedAt = now;
        if (!(await withinDeadline(gathering, patienceMs))) {
          awayNoticedAt ??= now;
          warnOnce(new Error(`the engine has not answered within ${patienceMs} ms`));
        }
      }
      return { data, awayNoticedAt };
    },
  };
}

/**
 * The scheduler of one watcher: what it begins next (what has to be tried again, then parked files,
 * then files from the inbox), what is running, and where each file goes when it has ended.
 */
import { basename, join } from 'node:path';
import type { DaemonContext } from '../../context/daemon-context.js';
import { errorText } from '../../core/errors.js';
import { isSameFile, lookAt, placeOf, type SeenFile } from './inbox-file.js';
import type { WatcherFolders } from './inbox-folders.js';
import { CRASHED_TOO_OFTEN, type JobEnd, LINK_REFUSED } from './inbox-verdict.js';
import type { InboxWork } from './inbox-work.js';
import { arrive, claim, type Job, type ParkedJob, putBack, take } from './job-folder.js';

/** An own job that is not running: still to be processed, or its end still to be carried out. */
interface Due {
  readonly job: Job;
  readonly tries: number;
  readonly at: number;
  readonly end: JobEnd | null;
}

/** Watchers are killed now and then while they process a file; more often, it is to blame. */
const ADOPTIONS_AT_MOST = 10;
const FAULT_MS = 10_000;
/** The last of the places is for files of at most this size. */
const SMALL_BYTES = 100_000;

const FOLDER_GONE =
  'the folder of this file is gone: it was removed, or another watcher has taken it over; paid answers are stored';
const LEFT = 'it stays in processing until the next watcher takes it';
const ARRIVALS = {
  done: { place: 'done', level: 'info', words: 'done' },
  failed: { place: 'failed', level: 'warn', words: 'failed' },
  parked: { place: 'waiting', level: 'warn', words: 'waiting: retried automatically' },
} as const;

/** `wake` is called when something has changed: fill again. */
export function createInboxScheduler(
  folders: WatcherFolders,
  work: InboxWork,
  { loaded, clock, log, stop }: DaemonContext,
  wake: () => void,
) {
  const { filesAtOnce } = loaded.settings;
  const running = new Set<Promise<void>>();
  const due: Due[] = [];
  let parked: ParkedJob[] = [];
  let ready: SeenFile[] = [];
  let holdUntil = 0;
  let isRefused = false;

  const hasRoom = () =>
    running.size < filesAtOnce && !stop.aborted && !isRefused && clock.monotonic() >= holdUntil;
  /** Whether a file of this size may begin now: large files must not use all places. */
  const mayBegin = (size: number) =>
    size <= SMALL_BYTES || filesAtOnce === 1 || running.size < filesAtOnce - 1;

  function hold(forMs: number, why: string): void {
    const now = clock.monotonic();
    if (holdUntil <= now)
      log.warn({ seconds: Math.round(forMs / 1_000) }, `taking no files for a while: ${why}`);
    holdUntil = Math.max(holdUntil, now + forMs);
  }

  /** The next one to begin; null when there is none. Throws errors of the file system. */
  async function next(): Promise<Due | null> {
    const now = clock.monotonic();
    const index = due.findIndex(({ at }) => at <= now);
    const [again] = index < 0 ? [] : due.splice(index, 1);
    if (again !== undefined) return again;
    for (const each of parked.slice()) {
      if (!mayBegin((await lookAt(join(each.folder, each.file)))?.size ?? 0)) continue;
      parked = parked.filter((other) => other !== each);
      const job = await take(folders, each.folder);
      if (job !== null) return { job, tries: 0, at: now, end: null };
    }
    for (const file of ready.filter(({ size }) => mayBegin(size))) {
      ready = ready.filter((other) => other !== file);
      const latest = await lookAt(placeOf(folders.inbox, file));
      if (latest === null || !isSameFile(latest, file)) continue;
      const job = await claim(folders, file, clock.now());
      if (job !== null) return { job, tries: 0, at: now, end: file.kind === 'link' ? LINK_REFUSED : null };
    }
    return null;
  }

  function begin(item: Due): void {
    const done = run(item)
      .catch((err) => log.error({ err, file: item.job.file }, 'a file could not be moved'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  }

  async function run({ job, tries, end: known }: Due): Promise<void> {
    const { file, folder } = job;
    if (known === null) log.info({ file, job: basename(folder) }, 'taken');
    const end = known ?? (await work.process(job, tries));
    if ((await lookAt(folder)) === null) return log.error({ file }, FOLDER_GONE);
    try {
      await carryOut(job, tries, end);
    } catch (error) {
      hold(FAULT_MS, errorText(error));
      due.push({ job, tries, at: clock.monotonic() + FAULT_MS, end });
    }
  }

  async function carryOut(job: Job, tries: number, end: JobEnd): Promise<void> {
    const { file } = job;
    switch (end.type) {
      case 'done':
      case 'failed':
      case 'parked': {
        const { place, level, words } = ARRIVALS[end.type];
        // Others would end the same way; the next look at the waiting files decides when to retry.
        if (end.type === 'parked') parked = [];
        const ending: { reason?: string } = end.type === 'done' ? {} : end;
        const folder = await arrive(folders, job, place, ending, clock.now());
        const reason = ending.reason?.split('\n', 1)[0];
        log[level]({ file, job: folder && basename(folder), reason }, words);
        if (folder !== null) work.ended(job, end, folder);
        if (end.type === 'parked' && end.holdMs > 0) hold(end.holdMs, reason ?? '');
        return;
      }
      case 'again':
        log.warn({ file, seconds: Math.round(end.inMs / 1_000) }, `will be retried: ${end.why}`);
        if (end.holds) hold(end.inMs, end.why);
        due.push({ job, tries: tries + 1, at: clock.monotonic() + end.inMs, end: null });
        return;
      case 'refused':
        isRefused = true;
        log.error({ file }, `${end.why}; the watcher takes no more files, and all files are back in place`);
    }
    const where = (await putBack(folders, job)) ? 'the file is back in place' : LEFT;
    log.info({ file }, `interrupted: ${where}`);
    work.ended(job, end, null);
  }

  return {
    /** Whether it could begin more files than it was offered. */
    isHungry: () => hasRoom() && !ready.some(({ size }) => mayBegin(size)),
    /** Whether no parked file is waiting to be begun. */
    hasNoParked: () => parked.length === 0,
    isRefused: () => isRefused,
    /** When it should be filled again, in milliseconds; null: when it wakes. */
    nextAt(): number | null {
      if (holdUntil > clock.monotonic()) return holdUntil;
      if (running.size >= filesAtOnce || due.length === 0) return null;
      return Math.min(...due.map(({ at }) => at));
    },
    /** Jobs that this watcher owns already. */
    adopt(jobs: readonly Job[]): void {
      for (const job of jobs) {
        log.info({ file: job.file }, 'taken over from a watcher that died');
        const end = job.record.adoptions > ADOPTIONS_AT_MOST ? CRASHED_TOO_OFTEN : null;
        due.push({ job, tries: 0, at: clock.monotonic(), end });
      }
    },
    /** Complete files of the inbox; replaces what was offered before. */
    offer(files: readonly SeenFile[]): void {
      ready = [...files];
    },
    offerParked(jobs: readonly ParkedJob[]): void {
      parked = [...jobs];
    },
    /** Begins as many files as there is room for. Never rejects. */
    async fill(): Promise<void> {
      try {
        while (hasRoom()) {
          const item = await next();
          if (item === null) return;
          begin(item);
        }
      } catch (error) {
        hold(FAULT_MS, errorText(error));
      }
    },
    /** Waits for what is running, and puts back what has not been begun. Never rejects. */
    async clear(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
      for (const { job, end } of due.splice(0)) {
        const rest = end === null || end.type === 'again' ? ({ type: 'put_back' } as const) : end;
        await carryOut(job, 0, rest).catch((err) => log.warn({ err, file: job.file }, LEFT));
      }
    },
  };
}

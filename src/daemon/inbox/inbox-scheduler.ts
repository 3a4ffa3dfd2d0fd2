/**
 * The scheduler of one watcher: what it begins next, what is running, and where each file goes when
 * it has ended. `watch-inbox.ts` offers the files.
 *
 * Order: what has to be tried again, then parked files that may go on, then files from the inbox.
 */
import { basename, join } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { isSameFile, lookAt, type SeenFile } from './inbox-file.js';
import type { InboxFolders } from './inbox-folders.js';
import { CRASHED_TOO_OFTEN, type InboxWork, type JobEnd, LINK_REFUSED } from './job-end.js';
import { arrive, claim, type Job, type ParkedJob, putBack, take } from './job-folder.js';

export interface InboxSchedulerOptions {
  readonly folders: InboxFolders;
  /** This watcher's folder under `processing`. */
  readonly own: string;
  readonly filesAtOnce: number;
  readonly work: InboxWork;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** Called when something has changed: fill again. */
  readonly wake: () => void;
}

export interface InboxScheduler {
  /** Whether it could begin more files than it was offered. */
  readonly isHungry: boolean;
  /** Whether no parked file is waiting to be begun. */
  readonly hasNoParked: boolean;
  readonly isRefused: boolean;
  /** When it should be filled again, in milliseconds; null: when it wakes. */
  readonly nextAt: number | null;
  /** Jobs that this watcher owns already. */
  adopt(jobs: readonly Job[]): void;
  /** Complete files of the inbox; replaces what was offered before. */
  offer(files: readonly SeenFile[]): void;
  offerParked(jobs: readonly ParkedJob[]): void;
  /** Begins as many files as there is room for. Never rejects. */
  fill(): Promise<void>;
  /** Waits for what is running, and puts back what has not been begun. Never rejects. */
  clear(): Promise<void>;
}

/** An own job that is not running: still to be processed, or its end still to be carried out. */
interface Due {
  readonly job: Job;
  readonly tries: number;
  readonly at: number;
  readonly end: JobEnd | null;
}

/**
 * A watcher may be killed now and then while it processes a file; more often, the file is to blame.
 */
const ADOPTIONS_AT_MOST = 10;
const FAULT_MS = 10_000;

export function createInboxScheduler(options: InboxSchedulerOptions): InboxScheduler {
  const { folders, own, work, clock, log, stop, wake } = options;
  const running = new Set<Promise<void>>();
  const due: Due[] = [];
  let parked: ParkedJob[] = [];
  let ready: SeenFile[] = [];
  let holdUntil = 0;
  let isRefused = false;

  const hasRoom = () =>
    running.size < options.filesAtOnce && !stop.aborted && !isRefused && clock.monotonic() >= holdUntil;

  function hold(forMs: number, why: string): void {
    const until = clock.monotonic() + forMs;
    if (holdUntil <= clock.monotonic())
      log.warn({ seconds: Math.round(forMs / 1_000) }, `no file is taken for a while: ${why}`);
    holdUntil = Math.max(holdUntil, until);
  }

  /** The next one to begin; null when there is none. Throws errors of the file system. */
  async function next(): Promise<Due | null> {
    const now = clock.monotonic();
    const index = due.findIndex(({ at }) => at <= now);
    const [again] = index < 0 ? [] : due.splice(index, 1);
    if (again !== undefined) return again;
    for (let job = parked.shift(); job !== undefined; job = parked.shift()) {
      const taken = await take(folders, own, job.folder);
      if (taken !== null) return { job: taken, tries: 0, at: now, end: null };
    }
    for (let file = ready.shift(); file !== undefined; file = ready.shift()) {
      const latest = await lookAt(join(folders.inbox, file.name));
      if (latest === null || latest === 'folder' || !isSameFile(latest, file)) continue;
      const job = await claim(folders, own, file, clock.now());
      if (job === null) continue;
      const end = file.kind === 'link' ? ({ type: 'failed', reason: LINK_REFUSED } as const) : null;
      return { job, tries: 0, at: now, end };
    }
    return null;
  }

  function begin(item: Due): void {
    const done = run(item)
      .catch((error) => log.error({ err: error, file: item.job.file }, 'a file could not be moved'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  }

  async function run({ job, tries, end: known }: Due): Promise<void> {
    if (known === null) log.info({ file: job.file, job: basename(job.folder) }, 'taken');
    const end = known ?? (await work.process(job, tries));
    if ((await lookAt(job.folder)) === null) {
      log.error(
        { file: job.file },
        'the folder of this file is gone: removed, or taken over by another watcher; paid answers are stored',
      );
      return;
    }
    try {
      await carryOut(job, tries, end);
    } catch (error) {
      hold(FAULT_MS, errorText(error));
      due.push({ job, tries, at: clock.monotonic() + FAULT_MS, end });
    }
  }

  async function carryOut(job: Job, tries: number, end: JobEnd): Promise<void> {
    const { file } = job;
    const now = clock.now();
    switch (end.type) {
      case 'done': {
        const name = await arrive(folders, job, { place: 'done', reason: null }, now);
        log.info({ file, job: name }, 'done');
        if (name !== null) work.ended?.(job, end, join(folders.done, name));
        return;
      }
      case 'failed': {
        const name = await arrive(folders, job, { place: 'failed', reason: end.reason }, now);
        log.warn({ file, job: name, reason: end.reason.split('\n', 1)[0] }, 'failed');
        if (name !== null) work.ended?.(job, end, join(folders.failed, name));
        return;
      }
      case 'parked': {
        const { reason, memo } = end;
        // Others would end the same way; the next look at the waiting files decides when to retry.
        parked = [];
        const name = await arrive(folders, job, { place: 'waiting', reason, memo }, now);
        log.warn({ file, job: name, reason: reason.split('\n', 1)[0] }, 'waiting: retried automatically');
        if (name !== null) work.ended?.(job, end, join(folders.waiting, name));
        if (end.holdMs > 0) hold(end.holdMs, reason.split('\n', 1)[0] ?? '');
        return;
      }
      case 'again':
        log.warn({ file, seconds: Math.round(end.inMs / 1_000) }, `will be tried again: ${end.why}`);
        if (end.holds) hold(end.inMs, end.why);
        due.push({ job, tries: tries + 1, at: clock.monotonic() + end.inMs, end: null });
        return;
      case 'refused':
        isRefused = true;
        log.error({ file }, `${end.why}; no more files are taken; all are where they were`);
        await giveBack(job);
        work.ended?.(job, end, null);
        return;
      case 'put_back':
        await giveBack(job);
        work.ended?.(job, end, null);
    }
  }

  async function giveBack(job: Job): Promise<void> {
    const { file } = job;
    const isBack = await putBack(folders, job);
    log.info(
      { file },
      isBack
        ? 'stopped early: it is back where it was taken from'
        : 'stopped early: it stays in processing, and the next watcher takes it',
    );
  }

  return {
    get isHungry() {
      return hasRoom() && ready.length === 0;
    },
    get hasNoParked() {
      return parked.length === 0;
    },
    get isRefused() {
      return isRefused;
    },
    get nextAt() {
      if (holdUntil > clock.monotonic()) return holdUntil;
      if (running.size >= options.filesAtOnce || due.length === 0) return null;
      return Math.min(...due.map(({ at }) => at));
    },
    adopt(jobs) {
      for (const job of jobs) {
        log.info({ file: job.file }, 'taken over from a watcher that died');
        const isDangerous = job.record.adoptions > ADOPTIONS_AT_MOST;
        const end = isDangerous ? ({ type: 'failed', reason: CRASHED_TOO_OFTEN } as const) : null;
        due.push({ job, tries: 0, at: clock.monotonic(), end });
      }
    },
    offer(files) {
      ready = [...files];
    },
    offerParked(jobs) {
      parked = [...jobs];
    },
    async fill() {
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
    async clear() {
      while (running.size > 0) await Promise.all(running);
      for (const { job, end } of due.splice(0)) {
        const rest = end === null || end.type === 'again' ? ({ type: 'put_back' } as const) : end;
        await carryOut(job, 0, rest).catch((error) =>
          log.warn({ err: error, file: job.file }, 'it stays in processing, and the next watcher takes it'),
        );
      }
    },
  };
}

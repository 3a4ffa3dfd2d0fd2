/**
 * The scheduler of one watcher: what it begins next (what has to be tried again, then parked files,
 * then files from the inbox), what is running, and where each file goes when it has ended.
 */
import { basename, join } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import { isSameFile, lookAt, placeOf, type SeenFile } from './inbox-file.js';
import { type WatcherFolders, whyBlocked } from './inbox-folders.js';
import { CRASHED, type JobEnd, LINK_REFUSED } from './inbox-verdict.js';
import type { InboxWork } from './inbox-work.js';
import { arrive, claim, type Job, type ParkedJob, putBack, take, waitsForPerson } from './job-folder.js';
import { mayTakeLong, SMALL_BYTES } from './reading-turns.js';

/** An own job: still to be processed, or its end still to be carried out. */
interface OwnJob {
  readonly job: Job;
  readonly tries: number;
  readonly end: JobEnd | null;
}

/** One that is not running. */
interface Due extends OwnJob {
  readonly at: number;
  /** Whether it must leave the last place free. */
  readonly isLong: boolean;
}

/** After so many deaths of a watcher that read a file alone, the file waits for a person. */
const DEATHS_AT_MOST = 3;
const FAULT_MS = 10_000;

const FOLDER_GONE =
  'the folder of this file is gone: it was removed, or another watcher has taken it over; paid ' +
  'answers are stored';
const LEFT = 'it stays in processing until the next watcher takes it';
const HELD = 'waiting for a person';
const ARRIVALS = {
  done: { level: 'info', words: 'done' },
  failed: { level: 'warn', words: 'failed' },
  parked: { level: 'warn', words: 'waiting: retried automatically' },
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
  /** What keeps files from going on, by the folder of the job; `''`: from being taken. */
  const faults = new Map<string, string>();
  let isRefused = false;

  const hasRoom = () =>
    running.size < filesAtOnce && !stop.aborted && !isRefused && clock.monotonic() >= holdUntil;
  const isLastPlace = () => filesAtOnce > 1 && running.size === filesAtOnce - 1;
  /** Small files that may take long all the same, by inode. */
  let slow = new Set<number>();
  /** Whether the file may begin now: what takes long must not use all places. */
  const mayBegin = ({ size, ino }: Pick<SeenFile, 'size' | 'ino'>) =>
    !isLastPlace() || (size <= SMALL_BYTES && !slow.has(ino));
  const mayGoOn = ({ isLong }: Due) => !isLong || !isLastPlace();

  /** It goes on after `inMs`, with `end` if it has one. Never rejects. */
  async function keep(job: Job, tries: number, inMs: number, end: JobEnd | null): Promise<void> {
    // Files that are read one at a time must not wait in all places.
    const isLong = end === null && (job.record.deaths !== undefined || (await mayTakeLong(job.path)));
    due.push({ job, tries, at: clock.monotonic() + inMs, end, isLong });
  }

  /** The same, after a look into it. */
  async function isAllowed(file: SeenFile, path: string): Promise<boolean> {
    if (isLastPlace() && (await mayTakeLong(path))) slow.add(file.ino);
    return mayBegin(file);
  }

  function hold(forMs: number, why: string): void {
    const now = clock.monotonic();
    if (holdUntil <= now)
      log.warn({ seconds: Math.round(forMs / 1_000) }, `taking no files for a while: ${why}`);
    holdUntil = Math.max(holdUntil, now + forMs);
  }

  /** The next one to begin; null when there is none. Throws errors of the file system. */
  async function next(): Promise<OwnJob | null> {
    const now = clock.monotonic();
    const index = due.findIndex((each) => each.at <= now && mayGoOn(each));
    const [again] = index < 0 ? [] : due.splice(index, 1);
    if (again !== undefined) return again;
    for (const each of parked.slice()) {
      const path = join(each.folder, each.file);
      const seen = await lookAt(path);
      if (seen !== null && !(await isAllowed(seen, path))) continue;
      parked = parked.filter((other) => other !== each);
      const job = await take(folders, each.folder);
      if (job !== null) return { job, tries: 0, end: null };
    }
    // The smallest first where little room is left, so that they pass those that fill the others.
    const offered = isLastPlace() ? ready.toSorted((a, b) => a.size - b.size) : ready;
    for (const file of offered.filter(mayBegin)) {
      if (!(await isAllowed(file, placeOf(folders.inbox, file)))) continue;
      ready = ready.filter((other) => other !== file);
      const latest = await lookAt(placeOf(folders.inbox, file));
      if (latest === null || !isSameFile(latest, file)) continue;
      const job = await claim(folders, file, clock.now());
      if (job !== null) return { job, tries: 0, end: file.kind === 'link' ? LINK_REFUSED : null };
    }
    return null;
  }

  function begin(item: OwnJob): void {
    const done = run(item)
      .catch((err) => log.error({ err, file: item.job.file }, 'a file could not be moved'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  }

  async function run({ job, tries, end: known }: OwnJob): Promise<void> {
    const { file, folder } = job;
    if (known === null) {
      // What held it up has passed, as far as is known before it ends again.
      faults.delete(folder);
      log.info({ file, job: basename(folder) }, 'taken');
    }
    const end = known ?? (await work.process(job, tries));
    if ((await lookAt(folder)) === null) {
      faults.delete(folder);
      return log.error({ file }, FOLDER_GONE);
    }
    try {
      await carryOut(job, tries, end);
      if (end.type !== 'again') faults.delete(folder);
    } catch (error) {
      const why = await whyBlocked(error);
      faults.set(folder, why);
      hold(FAULT_MS, why);
      await keep(job, tries, FAULT_MS, end);
    }
  }

  async function carryOut(job: Job, tries: number, end: JobEnd): Promise<void> {
    const { file } = job;
    switch (end.type) {
      case 'done':
      case 'failed':
      case 'parked': {
        const { level, words: usual } = ARRIVALS[end.type];
        const words = end.type === 'parked' && waitsForPerson(end.state.why) ? HELD : usual;
        // Others would end the same way; the next look at the waiting files decides when to retry.
        if (end.type === 'parked') parked = [];
        const folder = await arrive(folders, job, end, clock.now());
        const reason = end.type === 'done' ? undefined : end.reason.headline;
        log[level]({ file, job: folder && basename(folder), reason }, words);
        if (folder !== null) work.ended(job, end, folder);
        if (end.type === 'parked' && end.holdMs > 0) hold(end.holdMs, end.reason.headline);
        return;
      }
      case 'again':
        log.warn({ file, seconds: Math.round(end.inMs / 1_000) }, `will be retried: ${end.why}`);
        if (end.holds) {
          faults.set(job.folder, end.why);
          hold(end.inMs, end.why);
        }
        return keep(job, tries + 1, end.inMs, null);
      case 'refused':
        isRefused = true;
        log.error({ file }, `${end.why}; the watcher takes no more files, and all files are back in place`);
    }
    // A cancelled file would be taken again there, and a paused one would look as if it were not.
    const ordered = await work.ordered(job);
    if (ordered !== null) return carryOut(job, tries, ordered);
    const where = (await putBack(folders, job)) ? 'the file is back in place' : LEFT;
    log.info({ file }, `interrupted: ${where}`);
    work.ended(job, end, null);
  }

  return {
    /** Whether it could begin more files than it was offered. */
    isHungry: () => hasRoom() && !ready.some(mayBegin),
    /** Whether no parked file is waiting to be begun. */
    hasNoParked: () => parked.length === 0,
    isRefused: () => isRefused,
    /** A fault that every file would meet, for the owner of the inbox; null: none is known. */
    fault: (): string | null => [...faults.values()][0] ?? null,
    /** When it should be filled again, in milliseconds; null: when it wakes. */
    nextAt(): number | null {
      if (holdUntil > clock.monotonic()) return holdUntil;
      const next = Math.min(...due.filter(mayGoOn).map(({ at }) => at));
      return running.size < filesAtOnce && Number.isFinite(next) ? next : null;
    },
    /** Jobs that this watcher owns already. */
    async adopt(jobs: readonly Job[]): Promise<void> {
      const deathsOf = ({ record }: Job) => record.deaths ?? 0;
      // Those that may be to blame come last.
      for (const job of jobs.toSorted((a, b) => deathsOf(a) - deathsOf(b))) {
        log.info({ file: job.file }, 'taken over from a watcher that died');
        await keep(job, 0, 0, deathsOf(job) >= DEATHS_AT_MOST ? CRASHED : null);
      }
    },
    /** Complete files of the inbox; replaces what was offered before. */
    offer(files: readonly SeenFile[]): void {
      ready = [...files];
      slow = new Set(files.flatMap(({ ino }) => (slow.has(ino) ? [ino] : [])));
    },
    offerParked(jobs: readonly ParkedJob[]): void {
      parked = [...jobs];
    },
    /** Begins as many files as there is room for. Never rejects. */
    async fill(): Promise<void> {
      try {
        while (hasRoom()) {
          const item = await next();
          faults.delete('');
          if (item === null) return;
          begin(item);
        }
      } catch (error) {
        const why = await whyBlocked(error);
        faults.set('', why);
        hold(FAULT_MS, why);
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

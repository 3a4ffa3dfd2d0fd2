/** The scheduler of one watcher: which file begins next, and where each goes at its end. */
import { basename } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import type { ParkedJob } from './find-files.js';
import { isSameFile, lookAt, placeOf, type SeenFile } from './inbox-file.js';
import { type WatcherFolders, whyBlocked } from './inbox-folders.js';
import { OUTAGE_MS } from './inbox-retries.js';
import { CRASHED, type JobEnd } from './inbox-verdict.js';
import type { InboxWork } from './inbox-work.js';
import { arrive, claim, type Job, putBack, take, waitsForPerson } from './job-folder.js';
import { mayTakeLong, SMALL_BYTES } from './reading-turns.js';

/** Deaths of watchers that read a file alone, after which the file waits for a person. */
const DEATHS_AT_MOST = 3;
const FAULT_MS = 10_000;
const CLOSED_LOOK_MS = 1_000;

const FOLDER_GONE =
  'the folder of this file was removed, or another watcher took it; paid answers are stored';
const LEFT = 'it stays in processing until the next watcher takes it';
const PUT_BACK = { type: 'put_back' } as const;

/** Returns the state of one watcher, which may change during each wait. */
function watcherOf(folders: WatcherFolders, work: InboxWork, { loaded, clock, log, stop }: DaemonContext) {
  const refused = new AbortController();
  return {
    ...{ folders, work, clock, log, refused },
    ending: AbortSignal.any([stop, refused.signal]),
    filesAtOnce: loaded.settings.filesAtOnce,
    running: new Set<Promise<void>>(),
    parked: [] as readonly ParkedJob[],
    ready: [] as readonly SeenFile[],
    /** Inodes of small files that may take long. */
    slow: new Set<number>(),
    holdUntil: 0,
    isOpen: true,
    /** Faults by the folder of the job that waits; under `''` the fault of taking files. */
    faults: new Map<string, string>(),
  };
}
type Watcher = ReturnType<typeof watcherOf>;
type Places = Pick<Watcher, 'filesAtOnce' | 'running' | 'ready' | 'slow'>;

const hasRoom = ({ running, filesAtOnce, isOpen, ending, clock, holdUntil }: Watcher) =>
  running.size < filesAtOnce && isOpen && !ending.aborted && clock.monotonic() >= holdUntil;

const isLastPlace = ({ filesAtOnce, running }: Places) => filesAtOnce > 1 && running.size === filesAtOnce - 1;

/** True if a file may begin now: the last place is for files that do not take long. Pure. */
export const mayBegin = (places: Places, { size, ino }: Pick<SeenFile, 'size' | 'ino'>) =>
  !isLastPlace(places) || (size <= SMALL_BYTES && !places.slow.has(ino));

/** Returns the files that may begin now, in their turn. Pure. */
export function inTurn(places: Places): SeenFile[] {
  // On the last place the smallest file goes first.
  const ordered = isLastPlace(places) ? places.ready.toSorted((a, b) => a.size - b.size) : places.ready;
  return ordered.filter((file) => mayBegin(places, file));
}

/** Takes no file for a while. `at` is the key in `faults`, or null for an outage. */
function hold(watcher: Watcher, forMs: number, why: string, at: string | null): void {
  if (at !== null) watcher.faults.set(at, why);
  const now = watcher.clock.monotonic();
  if (watcher.holdUntil <= now)
    watcher.log.warn({ seconds: Math.round(forMs / 1_000) }, `taking no files for a while: ${why}`);
  watcher.holdUntil = Math.max(watcher.holdUntil, now + forMs);
}

/** Like `mayBegin`, after a look into the file. A suspect may take long. */
async function isAllowed(watcher: Watcher, file: SeenFile, path: string, isSuspect = false) {
  if (isLastPlace(watcher) && (isSuspect || (await mayTakeLong(path)))) watcher.slow.add(file.ino);
  return mayBegin(watcher, file);
}

/** Returns the next job to begin, or null. Throws errors of the file system. */
async function next(watcher: Watcher): Promise<Job | null> {
  const { folders, clock } = watcher;
  for (const each of watcher.parked) {
    const seen = await lookAt(each.path);
    const isSuspect = each.record.deaths !== undefined;
    if (seen !== null && !(await isAllowed(watcher, seen, each.path, isSuspect))) continue;
    watcher.parked = watcher.parked.filter((other) => other !== each);
    const job = await take(folders, each.folder);
    if (job !== null) return job;
  }
  for (const file of inTurn(watcher)) {
    const path = placeOf(folders.inbox, file);
    if (!(await isAllowed(watcher, file, path))) continue;
    watcher.ready = watcher.ready.filter((other) => other !== file);
    const latest = await lookAt(path);
    if (latest === null || !isSameFile(latest, file)) continue;
    const job = await claim(folders, file, clock.now());
    if (job !== null) return job;
  }
  return null;
}

/** Waits until a fault may have passed. Never rejects. */
async function pause(watcher: Watcher, forMs: number): Promise<void> {
  const { clock, ending } = watcher;
  for (let leftMs = forMs; leftMs > 0 && !ending.aborted; ) {
    await clock.sleep(leftMs, ending).catch(() => undefined);
    leftMs = watcher.isOpen ? watcher.holdUntil - clock.monotonic() : CLOSED_LOOK_MS;
  }
}

/** Processes a job, again after faults that may pass. Never rejects. */
async function endOf(watcher: Watcher, job: Job): Promise<JobEnd> {
  const { faults, log, work, ending } = watcher;
  const { file, folder } = job;
  for (let tries = 0; !ending.aborted; tries += 1) {
    faults.delete(folder);
    log.info({ file, job: basename(folder) }, 'taken');
    const end = await work.process(job, tries);
    if (end.type !== 'again') return end;
    log.warn({ file, seconds: Math.round(end.inMs / 1_000) }, `will be retried: ${end.why}`);
    if (end.holds) hold(watcher, end.inMs, end.why, folder);
    await pause(watcher, end.inMs);
  }
  return PUT_BACK;
}

/** Runs a job to its place; `known` is the end of a job that is not processed. */
async function run(watcher: Watcher, job: Job, known?: JobEnd): Promise<void> {
  const { faults, log, ending } = watcher;
  const { file, folder } = job;
  const end = known ?? (await endOf(watcher, job));
  for (;;) {
    const isLast = ending.aborted;
    try {
      if ((await lookAt(folder)) === null) log.error({ file }, FOLDER_GONE);
      else await carryOut(watcher, job, end);
      faults.delete(folder);
      return;
    } catch (error) {
      hold(watcher, FAULT_MS, await whyBlocked(error), folder);
      if (isLast) return log.warn({ err: error, file }, LEFT);
    }
    await pause(watcher, FAULT_MS);
  }
}

async function carryOut(watcher: Watcher, job: Job, end: JobEnd): Promise<void> {
  const { folders, work, clock, log } = watcher;
  const { file } = job;
  if (end.type === 'refused' || end.type === 'put_back') {
    if (end.type === 'refused') {
      watcher.refused.abort();
      log.error({ file }, `${end.why}; the watcher takes no more files, and all files are back in place`);
    }
    // Put back, a cancelled file would be taken again, and a paused one would not look paused.
    const ordered = await work.ordered(job);
    if (ordered !== null) return carryOut(watcher, job, { ...ordered, written: end.written });
    await putBack(folders, job, clock.now());
    log.info({ file }, 'interrupted: the file waits for its turn');
    return work.ended(job, end, null);
  }
  let words: string = end.type;
  if (end.type === 'parked') {
    const isForPerson = waitsForPerson(end.state.why);
    words = `waiting for ${isForPerson ? 'a person' : 'the next try'}`;
    // The other parked files would end the same way before the next look at them.
    watcher.parked = [];
    if (end.state.why !== 'limit' && !isForPerson) hold(watcher, OUTAGE_MS, end.reason.headline, null);
  }
  const folder = await arrive(folders, job, end, clock.now());
  const reason = end.type === 'done' ? undefined : end.reason.headline;
  log[end.type === 'done' ? 'info' : 'warn']({ file, job: folder && basename(folder), reason }, words);
  if (folder !== null) work.ended(job, end, folder);
}

/** Creates a scheduler that calls `wake` when `fill` may begin more files. */
export function createInboxScheduler(
  folders: WatcherFolders,
  work: InboxWork,
  context: DaemonContext,
  wake: () => void,
) {
  const watcher = watcherOf(folders, work, context);
  const { running, faults, clock, log } = watcher;

  function begin(job: Job, known?: JobEnd): void {
    const done = run(watcher, job, known)
      .catch((err) => log.error({ err, file: job.file }, 'a file could not be moved'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  }

  return {
    /** True if there is room for more files than were offered. */
    isHungry: () => hasRoom(watcher) && !watcher.ready.some((file) => mayBegin(watcher, file)),
    hasNoParked: () => watcher.parked.length === 0,
    isRefused: () => watcher.refused.signal.aborted,
    setOpen(isOpen: boolean): void {
      watcher.isOpen = isOpen;
    },
    /** Returns a fault that every file would meet, for the owner of the inbox, or null. */
    fault: (): string | null => [...faults.values()][0] ?? null,
    /** Returns when a hold ends, in milliseconds; null without a hold. */
    nextAt: () => (watcher.holdUntil > clock.monotonic() ? watcher.holdUntil : null),
    /** Puts the jobs of dead watchers back, to continue in their turn. */
    adopt(jobs: readonly Job[]): void {
      for (const job of jobs) {
        log.info({ file: job.file }, 'taken over from a watcher that died');
        begin(job, (job.record.deaths ?? 0) >= DEATHS_AT_MOST ? CRASHED : PUT_BACK);
      }
    },
    /** Replaces the complete files of the inbox that may begin. */
    offer(files: readonly SeenFile[]): void {
      watcher.ready = files;
      watcher.slow.clear();
    },
    offerParked(jobs: readonly ParkedJob[]): void {
      watcher.parked = jobs;
    },
    /** Begins files while there is room. Never rejects. */
    async fill(): Promise<void> {
      try {
        while (hasRoom(watcher)) {
          const job = await next(watcher);
          faults.delete('');
          if (job === null) return;
          begin(job);
        }
      } catch (error) {
        hold(watcher, FAULT_MS, await whyBlocked(error), '');
      }
    },
    async clear(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

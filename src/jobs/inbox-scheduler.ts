/**
 * The scheduler of one watcher: what it begins next (parked files, then files from the inbox), what
 * is running, and where each file goes when it has ended.
 */
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

/** After so many deaths of a watcher that read a file alone, the file waits for a person. */
const DEATHS_AT_MOST = 3;
const FAULT_MS = 10_000;
const CLOSED_LOOK_MS = 1_000;

const FOLDER_GONE =
  'the folder of this file is gone: it was removed, or another watcher has taken it over; paid ' +
  'answers are stored';
const LEFT = 'it stays in processing until the next watcher takes it';
const PUT_BACK = { type: 'put_back' } as const;

/** What one watcher runs and may begin. It may have changed after each wait. */
function watcherOf(folders: WatcherFolders, work: InboxWork, { loaded, clock, log, stop }: DaemonContext) {
  const refused = new AbortController();
  return {
    ...{ folders, work, clock, log, refused },
    ending: AbortSignal.any([stop, refused.signal]),
    filesAtOnce: loaded.settings.filesAtOnce,
    running: new Set<Promise<void>>(),
    parked: [] as readonly ParkedJob[],
    ready: [] as readonly SeenFile[],
    /** Small files that may take long all the same, by inode. */
    slow: new Set<number>(),
    holdUntil: 0,
    /** False while the inbox takes nothing. */
    isOpen: true,
    /** What keeps files from going on, by the folder of the job; `''`: from being taken. */
    faults: new Map<string, string>(),
  };
}
type Watcher = ReturnType<typeof watcherOf>;
type Places = Pick<Watcher, 'filesAtOnce' | 'running' | 'ready' | 'slow'>;

const hasRoom = ({ running, filesAtOnce, isOpen, ending, clock, holdUntil }: Watcher) =>
  running.size < filesAtOnce && isOpen && !ending.aborted && clock.monotonic() >= holdUntil;

const isLastPlace = ({ filesAtOnce, running }: Places) => filesAtOnce > 1 && running.size === filesAtOnce - 1;

/** True if a file may begin now: what takes long must not use all places. Pure. */
export const mayBegin = (places: Places, { size, ino }: Pick<SeenFile, 'size' | 'ino'>) =>
  !isLastPlace(places) || (size <= SMALL_BYTES && !places.slow.has(ino));

/** Returns the files that may begin now, in their turn. Pure. */
export function inTurn(places: Places): SeenFile[] {
  // The smallest first where little room is left, so that they pass those that fill the others.
  const ordered = isLastPlace(places) ? places.ready.toSorted((a, b) => a.size - b.size) : places.ready;
  return ordered.filter((file) => mayBegin(places, file));
}

/** Takes no file for a while. `at`: the key of the fault in `faults`, or null for an outage. */
function hold(watcher: Watcher, forMs: number, why: string, at: string | null): void {
  if (at !== null) watcher.faults.set(at, why);
  const now = watcher.clock.monotonic();
  if (watcher.holdUntil <= now)
    watcher.log.warn({ seconds: Math.round(forMs / 1_000) }, `taking no files for a while: ${why}`);
  watcher.holdUntil = Math.max(watcher.holdUntil, now + forMs);
}

/** Judges a file after a look into it; a suspect of a death is read with no long one. */
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

/** Keeps the place of a job until what holds it up may have passed. Never rejects. */
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
    // What held it up has passed, as far as is known before it ends again.
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

/** `known`: the end of a job that is not processed. */
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
  switch (end.type) {
    case 'done':
    case 'failed':
    case 'parked': {
      let words: string = end.type;
      if (end.type === 'parked') {
        const { why } = end.state;
        words = `waiting for ${waitsForPerson(why) ? 'a person' : 'the next try'}`;
        // Others would end the same way; the next look at the waiting files decides when to retry.
        watcher.parked = [];
        if (why !== 'limit' && !waitsForPerson(why)) hold(watcher, OUTAGE_MS, end.reason.headline, null);
      }
      const folder = await arrive(folders, job, end, clock.now());
      const reason = end.type === 'done' ? undefined : end.reason.headline;
      log[end.type === 'done' ? 'info' : 'warn']({ file, job: folder && basename(folder), reason }, words);
      if (folder !== null) work.ended(job, end, folder);
      return;
    }
    case 'refused':
      watcher.refused.abort();
      log.error({ file }, `${end.why}; the watcher takes no more files, and all files are back in place`);
  }
  // A cancelled file would be taken again there, and a paused one would look as if it were not.
  const ordered = await work.ordered(job);
  if (ordered !== null) return carryOut(watcher, job, ordered);
  await putBack(folders, job, clock.now());
  log.info({ file }, 'interrupted: the file waits for its turn');
  work.ended(job, end, null);
}

/** Creates a scheduler that calls `wake` when something has changed: fill again. */
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
    /** True if it could begin more files than it was offered. */
    isHungry: () => hasRoom(watcher) && !watcher.ready.some((file) => mayBegin(watcher, file)),
    hasNoParked: () => watcher.parked.length === 0,
    isRefused: () => watcher.refused.signal.aborted,
    setOpen(isOpen: boolean): void {
      watcher.isOpen = isOpen;
    },
    /** A fault that every file would meet, for the owner of the inbox; null without one. */
    fault: (): string | null => [...faults.values()][0] ?? null,
    /** When a hold ends, in milliseconds; null without one. */
    nextAt: () => (watcher.holdUntil > clock.monotonic() ? watcher.holdUntil : null),
    /** Jobs of dead watchers go on in their turn, as all that wait do. */
    adopt(jobs: readonly Job[]): void {
      for (const job of jobs) {
        log.info({ file: job.file }, 'taken over from a watcher that died');
        begin(job, (job.record.deaths ?? 0) >= DEATHS_AT_MOST ? CRASHED : PUT_BACK);
      }
    },
    /** Complete files of the inbox; replaces what was offered before. */
    offer(files: readonly SeenFile[]): void {
      watcher.ready = files;
      watcher.slow.clear();
    },
    offerParked(jobs: readonly ParkedJob[]): void {
      watcher.parked = jobs;
    },
    /** Begins as many files as there is room for. Never rejects. */
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

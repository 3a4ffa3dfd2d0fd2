/**
 * The scheduler of one watcher: what it begins next (what has to be tried again, then parked files,
 * then files from the inbox), what is running, and where each file goes when it has ended.
 */
import { basename, join } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import type { ParkedJob } from './find-files.js';
import { isSameFile, lookAt, placeOf, type SeenFile } from './inbox-file.js';
import { type WatcherFolders, whyBlocked } from './inbox-folders.js';
import { CRASHED, type JobEnd, refusalOf } from './inbox-verdict.js';
import type { InboxWork } from './inbox-work.js';
import { arrive, claim, type Job, putBack, take, waitsForPerson } from './job-folder.js';
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

/** What one watcher runs and may begin. Read it again after each wait: it may have changed. */
const watcherOf = (
  folders: WatcherFolders,
  work: InboxWork,
  { loaded, clock, log, stop }: DaemonContext,
) => ({
  ...{ folders, work, clock, log, stop },
  filesAtOnce: loaded.settings.filesAtOnce,
  running: new Set<Promise<void>>(),
  due: [] as Due[],
  parked: [] as readonly ParkedJob[],
  ready: [] as readonly SeenFile[],
  /** Small files that may take long all the same, by inode. */
  slow: new Set<number>(),
  holdUntil: 0,
  /** What keeps files from going on, by the folder of the job; `''`: from being taken. */
  faults: new Map<string, string>(),
  isRefused: false,
});
type Watcher = ReturnType<typeof watcherOf>;
type Places = Pick<Watcher, 'filesAtOnce' | 'running' | 'due' | 'ready' | 'slow' | 'holdUntil'>;

const hasRoom = ({ running, filesAtOnce, stop, isRefused, clock, holdUntil }: Watcher) =>
  running.size < filesAtOnce && !stop.aborted && !isRefused && clock.monotonic() >= holdUntil;

const isLastPlace = ({ filesAtOnce, running }: Places) => filesAtOnce > 1 && running.size === filesAtOnce - 1;

/** Whether a file may begin now: what takes long must not use all places. Pure. */
export const mayBegin = (places: Places, { size, ino }: Pick<SeenFile, 'size' | 'ino'>) =>
  !isLastPlace(places) || (size <= SMALL_BYTES && !places.slow.has(ino));

const mayGoOn = (places: Places, { isLong }: Due) => !isLong || !isLastPlace(places);

/** Returns the files that may begin now, in their turn. Pure. */
export function inTurn(places: Places): SeenFile[] {
  // The smallest first where little room is left, so that they pass those that fill the others.
  const ordered = isLastPlace(places) ? places.ready.toSorted((a, b) => a.size - b.size) : places.ready;
  return ordered.filter((file) => mayBegin(places, file));
}

/** Returns when to begin more, by the monotonic clock, or null to wait for a change. Pure. */
export function nextAt(places: Places, now: number): number | null {
  if (places.holdUntil > now) return places.holdUntil;
  const next = Math.min(...places.due.filter((each) => mayGoOn(places, each)).map(({ at }) => at));
  return places.running.size < places.filesAtOnce && Number.isFinite(next) ? next : null;
}

/** Jobs of dead watchers in their turn: those that may be to blame come last. Pure. */
export function inTurnAfterDeath(jobs: readonly Job[]): OwnJob[] {
  const deathsOf = ({ record }: Job) => record.deaths ?? 0;
  return jobs
    .toSorted((a, b) => deathsOf(a) - deathsOf(b))
    .map((job) => ({ job, tries: 0, end: deathsOf(job) >= DEATHS_AT_MOST ? CRASHED : null }));
}

/** It goes on after `inMs`, with its end if it has one. Never rejects. */
async function keep({ due, clock }: Watcher, own: OwnJob, inMs: number): Promise<void> {
  // Files that are read one at a time must not wait in all places.
  const { path, record } = own.job;
  const isLong = own.end === null && (record.deaths !== undefined || (await mayTakeLong(path)));
  due.push({ ...own, at: clock.monotonic() + inMs, isLong });
}

/** Takes no file for a while. `at`: the key of the fault in `faults`, or null for an outage. */
function hold(watcher: Watcher, forMs: number, why: string, at: string | null): void {
  if (at !== null) watcher.faults.set(at, why);
  const now = watcher.clock.monotonic();
  if (watcher.holdUntil <= now)
    watcher.log.warn({ seconds: Math.round(forMs / 1_000) }, `taking no files for a while: ${why}`);
  watcher.holdUntil = Math.max(watcher.holdUntil, now + forMs);
}

/** Whether a file may begin now, after a look into it. */
async function isAllowed(watcher: Watcher, file: SeenFile, path: string): Promise<boolean> {
  if (isLastPlace(watcher) && (await mayTakeLong(path))) watcher.slow.add(file.ino);
  return mayBegin(watcher, file);
}

/** Returns the next job to begin, or null. Throws errors of the file system. */
async function next(watcher: Watcher): Promise<OwnJob | null> {
  const { folders, clock, due } = watcher;
  const now = clock.monotonic();
  const index = due.findIndex((each) => each.at <= now && mayGoOn(watcher, each));
  if (index >= 0) return due.splice(index, 1)[0] ?? null;
  for (const each of watcher.parked) {
    const path = join(each.folder, each.file);
    const seen = await lookAt(path);
    if (seen !== null && !(await isAllowed(watcher, seen, path))) continue;
    watcher.parked = watcher.parked.filter((other) => other !== each);
    const job = await take(folders, each.folder);
    if (job !== null) return { job, tries: 0, end: null };
  }
  for (const file of inTurn(watcher)) {
    const path = placeOf(folders.inbox, file);
    if (!(await isAllowed(watcher, file, path))) continue;
    watcher.ready = watcher.ready.filter((other) => other !== file);
    const latest = await lookAt(path);
    if (latest === null || !isSameFile(latest, file)) continue;
    const job = await claim(folders, file, clock.now());
    if (job !== null) return { job, tries: 0, end: refusalOf(file) };
  }
  return null;
}

async function run(watcher: Watcher, own: OwnJob): Promise<void> {
  const { faults, log, work } = watcher;
  const { file, folder } = own.job;
  if (own.end === null) {
    // What held it up has passed, as far as is known before it ends again.
    faults.delete(folder);
    log.info({ file, job: basename(folder) }, 'taken');
  }
  const end = own.end ?? (await work.process(own.job, own.tries));
  if ((await lookAt(folder)) === null) {
    faults.delete(folder);
    return log.error({ file }, FOLDER_GONE);
  }
  try {
    await carryOut(watcher, own, end);
    if (end.type !== 'again') faults.delete(folder);
  } catch (error) {
    hold(watcher, FAULT_MS, await whyBlocked(error), folder);
    await keep(watcher, { ...own, end }, FAULT_MS);
  }
}

async function carryOut(watcher: Watcher, own: OwnJob, end: JobEnd): Promise<void> {
  const { folders, work, clock, log } = watcher;
  const { job, tries } = own;
  const { file } = job;
  switch (end.type) {
    case 'done':
    case 'failed':
    case 'parked': {
      // Others would end the same way; the next look at the waiting files decides when to retry.
      if (end.type === 'parked') watcher.parked = [];
      const folder = await arrive(folders, job, end, clock.now());
      const reason = end.type === 'done' ? undefined : end.reason.headline;
      const next = end.type === 'parked' && (waitsForPerson(end.state.why) ? 'a person' : 'the next try');
      const words = next === false ? end.type : `waiting for ${next}`;
      log[end.type === 'done' ? 'info' : 'warn']({ file, job: folder && basename(folder), reason }, words);
      if (folder !== null) work.ended(job, end, folder);
      if (end.type === 'parked' && end.holdMs > 0) hold(watcher, end.holdMs, end.reason.headline, null);
      return;
    }
    case 'again':
      log.warn({ file, seconds: Math.round(end.inMs / 1_000) }, `will be retried: ${end.why}`);
      if (end.holds) hold(watcher, end.inMs, end.why, job.folder);
      return keep(watcher, { job, tries: tries + 1, end: null }, end.inMs);
    case 'refused':
      watcher.isRefused = true;
      log.error({ file }, `${end.why}; the watcher takes no more files, and all files are back in place`);
  }
  // A cancelled file would be taken again there, and a paused one would look as if it were not.
  const ordered = await work.ordered(job);
  if (ordered !== null) return carryOut(watcher, own, ordered);
  await putBack(folders, job, clock.now());
  log.info({ file }, 'interrupted: the file waits for its turn');
  work.ended(job, end, null);
}

/** `wake` is called when something has changed: fill again. */
export function createInboxScheduler(
  folders: WatcherFolders,
  work: InboxWork,
  context: DaemonContext,
  wake: () => void,
) {
  const watcher = watcherOf(folders, work, context);
  const { running, faults, clock, log } = watcher;

  function begin(own: OwnJob): void {
    const done = run(watcher, own)
      .catch((err) => log.error({ err, file: own.job.file }, 'a file could not be moved'))
      .finally(() => {
        running.delete(done);
        wake();
      });
    running.add(done);
  }

  return {
    /** Whether it could begin more files than it was offered. */
    isHungry: () => hasRoom(watcher) && !watcher.ready.some((file) => mayBegin(watcher, file)),
    /** Whether no parked file is waiting to be begun. */
    hasNoParked: () => watcher.parked.length === 0,
    isRefused: () => watcher.isRefused,
    /** A fault that every file would meet, for the owner of the inbox; null without one. */
    fault: (): string | null => [...faults.values()][0] ?? null,
    /** When it should be filled again, in milliseconds; null: when it wakes. */
    nextAt: () => nextAt(watcher, clock.monotonic()),
    /** Jobs that this watcher owns already. */
    async adopt(jobs: readonly Job[]): Promise<void> {
      for (const own of inTurnAfterDeath(jobs)) {
        log.info({ file: own.job.file }, 'taken over from a watcher that died');
        await keep(watcher, own, 0);
      }
    },
    /** Complete files of the inbox; replaces what was offered before. */
    offer(files: readonly SeenFile[]): void {
      watcher.ready = files;
      watcher.slow = new Set(files.flatMap(({ ino }) => (watcher.slow.has(ino) ? [ino] : [])));
    },
    offerParked(jobs: readonly ParkedJob[]): void {
      watcher.parked = jobs;
    },
    /** Begins as many files as there is room for. Never rejects. */
    async fill(): Promise<void> {
      try {
        while (hasRoom(watcher)) {
          const own = await next(watcher);
          faults.delete('');
          if (own === null) return;
          begin(own);
        }
      } catch (error) {
        hold(watcher, FAULT_MS, await whyBlocked(error), '');
      }
    },
    /** Waits for what is running, and puts back what has not been begun. Never rejects. */
    async clear(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
      for (const own of watcher.due.splice(0)) {
        const { end } = own;
        const rest = end === null || end.type === 'again' ? ({ type: 'put_back' } as const) : end;
        await carryOut(watcher, own, rest).catch((err) => log.warn({ err, file: own.job.file }, LEFT));
      }
    },
  };
}

/**
 * One watcher of one inbox, which adopts the files of dead watchers. It is in one of these states:
 *
 *   watching  takes new files, files of dead watchers, and waiting files that may continue
 *   holding   takes nothing for a while: every file would meet a fault (disk, engine, service)
 *   closed    takes nothing until the folder is there and its settings are valid
 *   refused   the service refused the credentials: puts running files back, and ends
 *   stopping  after a signal: stops running files and puts them back
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import { errorText } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { readPlainFile } from '../core/plain-file.js';
import { isProcessGone, machineIdentity, processIdentity } from '../core/process-identity.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { listQueued, listWaiting } from './find-files.js';
import { lookAt } from './inbox-file.js';
import { createInboxFiles } from './inbox-files.js';
import { openFolders, unfit, type WatcherFolders, whyBlocked } from './inbox-folders.js';
import { createInboxScheduler } from './inbox-scheduler.js';
import { createInboxWork } from './inbox-work.js';
import { failUnclear, type Job, jobFoldersIn, queued, take, writeRecord } from './job-folder.js';
import { afterDeath } from './reading-turns.js';

/** Interval of heartbeats, and of looks at the waiting files. */
const LOOK_MS = 5_000;
const LOOK_LEAST_MS = 200;
/** Interval of looks while known files wait for a place, which a smaller new file may get. */
const LOOK_BESIDE_MS = 1_000;

/** Watches `folder` until `stop` or refused credentials. Throws what `openFolders` throws. */
export function watchInbox(context: DaemonContext, folder: string): Promise<'stopped' | 'refused'> {
  return withReleasers(async (releasers) => {
    const { clock, log, stop, loaded } = context;
    const { settleMs, pollMs } = loaded.settings;
    let wakeUp = new AbortController();
    const wake = () => wakeUp.abort();
    stop.addEventListener('abort', wake);
    releasers.push(() => stop.removeEventListener('abort', wake));

    const opened = await openFolders(folder);
    const own = join(opened.processing, watcherName());
    const folders = { ...opened, own };
    releasers.push(() => removeWatcherFolder(own).catch(() => undefined));
    const heartbeats = setInterval(() => void touchHeartbeat(own).catch(() => undefined), LOOK_MS);
    releasers.push(() => clearInterval(heartbeats));
    await touchHeartbeat(own).catch((error: unknown) => {
      throw unfit(own, systemWords(error), 'let this user write there, or free disk space', error);
    });

    const work = createInboxWork(folder, context);
    const scheduler = createInboxScheduler(folders, work, context, wake);
    const files = createInboxFiles(folders.inbox, { settleMs, log });
    let lookedAt = 0;
    let lookMs = 0;
    let filesAt = 0;
    let sweepAt = 0;
    let fileTimeMs = 0;
    let waitingAt = 0;
    let isLookingAtWaiting = false;
    let closedWhy: string | null = null;
    const onQueued = () => {
      waitingAt = 0;
      wake();
    };
    queued.on(folders.root, onQueued);
    releasers.push(() => queued.off(folders.root, onQueued));

    /** Closes the inbox, or opens it again if `why` is null. */
    function setClosed(why: string | null): void {
      const about = { folder: folders.root };
      if (why !== null && why !== closedWhy)
        log.error({ ...about, reason: why }, 'the inbox is closed: it takes no files until this is fixed');
      if (why === null && closedWhy !== null) log.info(about, 'the inbox is open again');
      closedWhy = why;
      scheduler.setOpen(why === null);
      // Not awaited, since the engine may be unavailable.
      void work.noteClosed(why ?? scheduler.fault());
    }

    async function sweep(now: number): Promise<void> {
      sweepAt = now + LOOK_MS;
      const gone = await openFolders(folder).then(() => null, errorText);
      if (gone !== null) return setClosed(gone);
      const why = await work.whyClosed();
      fileTimeMs = await touchHeartbeat(own);
      scheduler.adopt(await adoptJobs(folders, fileTimeMs));
      setClosed(why);
    }

    const lookPauseMs = () => (scheduler.isHungry() ? LOOK_LEAST_MS : Math.max(LOOK_BESIDE_MS, lookMs * 20));
    const nextLookAt = () => Math.max(filesAt, lookedAt + lookPauseMs());

    async function lookAtWaiting(): Promise<void> {
      isLookingAtWaiting = true;
      try {
        const unclear: string[] = [];
        const parked = await listWaiting(folders.waiting, unclear);
        for (const job of unclear)
          if (await failUnclear(folders, job, fileTimeMs))
            log.warn({ job: basename(job) }, 'a waiting folder without a clear original failed');
        if (parked.length > 0) scheduler.offerParked(await work.chooseRetries(parked));
      } catch (err) {
        log.warn({ err }, 'the waiting files could not be checked');
      } finally {
        isLookingAtWaiting = false;
        wake();
      }
    }

    async function step(): Promise<void> {
      const now = clock.monotonic();
      if (now >= sweepAt) await sweep(now);
      if (closedWhy !== null) return;
      if (now >= waitingAt && !isLookingAtWaiting && scheduler.hasNoParked()) {
        waitingAt = now + LOOK_MS;
        void lookAtWaiting();
      }
      if (now >= nextLookAt()) {
        lookedAt = now;
        const { ready, nextAt } = await files.look(now);
        lookMs = clock.monotonic() - now;
        filesAt = Math.min(nextAt, now + pollMs);
        scheduler.offer(ready);
      }
      await scheduler.fill();
    }

    function nextStepAt(): number {
      if (closedWhy !== null) return sweepAt;
      return Math.min(sweepAt, nextLookAt(), scheduler.nextAt() ?? sweepAt);
    }

    log.info({ folder: folders.root, watcher: basename(own) }, 'watching the inbox');
    const { misplaced } = await listQueued(folders.root);
    if (misplaced.length > 0)
      log.warn({ files: misplaced }, `not in the inbox: move them into ${folders.inbox}`);
    while (!stop.aborted && !scheduler.isRefused()) {
      await step().catch(async (err) => {
        log.error({ err }, 'the inbox could not be read; trying again');
        sweepAt = clock.monotonic() + LOOK_MS;
        setClosed(await whyBlocked(err));
      });
      const pauseMs = Math.max(nextStepAt() - clock.monotonic(), 0);
      await clock.sleep(pauseMs, wakeUp.signal).catch(() => undefined);
      if (wakeUp.signal.aborted) wakeUp = new AbortController();
    }
    await scheduler.clear();
    return scheduler.isRefused() ? 'refused' : 'stopped';
  });
}

function watcherName(): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9-]/g, '-');
  return `${host.slice(0, 40)}-${process.pid}-${randomBytes(3).toString('hex')}`;
}

const HEARTBEAT_FILE = '.heartbeat';
/** A watcher with an older heartbeat is dead. Others look every 5 s, so they see it within 30 s. */
const DEAD_AFTER_MS = 24_000;
/** Follows no link and waits for no reader of a pipe, where the system has such flags. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const OVERWRITE = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK;

/** Writes the heartbeat of a watcher; returns its time in ms by the file system's clock. */
export async function touchHeartbeat(own: string): Promise<number> {
  // Makes no folder above its own: the share may not be mounted.
  await mkdir(own).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
  const path = join(own, HEARTBEAT_FILE);
  // A process is known by its number only if the system reveals boot and container.
  const isKnown = !machineIdentity().split(' ').includes('');
  await writeFile(path, isKnown ? `${processIdentity()}\n` : '\n', { flag: OVERWRITE });
  return (await lstat(path)).mtimeMs;
}

/** True if a watcher's heartbeat is old or its process has ended. `now` is by the same clock. */
export async function isDead(watcherFolder: string, now: number): Promise<boolean> {
  const path = join(watcherFolder, HEARTBEAT_FILE);
  const seen = (await lookAt(path)) ?? (await lookAt(watcherFolder));
  if (seen === null) return false;
  if (now - seen.mtimeMs > DEAD_AFTER_MS) return true;
  return isProcessGone((await readPlainFile(path).catch(() => '')).trim());
}

/** Takes the jobs of dead watchers. `now` is as in `isDead`. */
async function adoptJobs(folders: WatcherFolders, now: number): Promise<Job[]> {
  const adopted: Job[] = [];
  for (const other of await jobFoldersIn(folders.processing)) {
    if (other === folders.own || !(await isDead(other, now))) continue;
    for (const folder of await jobFoldersIn(other)) {
      const job = await take(folders, folder);
      if (job === null) continue;
      const record = afterDeath(job.record);
      await writeRecord(job.folder, record);
      adopted.push({ ...job, record });
    }
    await removeWatcherFolder(other);
  }
  return adopted;
}

/** Removes the folder of a watcher if it has no jobs. */
async function removeWatcherFolder(watcherFolder: string): Promise<void> {
  if ((await jobFoldersIn(watcherFolder)).length > 0) return;
  await rm(join(watcherFolder, HEARTBEAT_FILE), { force: true });
  await rmdir(watcherFolder).catch(() => undefined);
}

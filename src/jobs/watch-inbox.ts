/**
 * One watcher of one inbox, in one of these states:
 *
 *   watching  takes files from the inbox, of dead watchers, and waiting ones that may go on
 *   holding   a fault that every file would meet (disk full, engine or service down): takes
 *             nothing for a while
 *   closed    the folder is gone, or its settings cannot be used: takes nothing until they can
 *   refused   the service refuses the credentials: puts running files back, and ends
 *   stopping  a signal: stops running files and puts them back
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import { errorText } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { systemWords } from '../core/system-error.js';
import { listQueued, listWaiting } from './find-files.js';
import { adoptJobs, removeWatcherFolder, touchHeartbeat } from './heartbeat.js';
import { createInboxFiles } from './inbox-files.js';
import { openFolders, unfit, whyBlocked } from './inbox-folders.js';
import { createInboxScheduler } from './inbox-scheduler.js';
import { createInboxWork } from './inbox-work.js';
import { failUnclear, queued } from './job-folder.js';

/** Between heartbeats, and looks at the waiting files. */
const LOOK_MS = 5_000;
const LOOK_LEAST_MS = 200;
/** While known files wait for a place: a smaller one may have come. */
const LOOK_BESIDE_MS = 1_000;

/**
 * Watches `folder` until `stop`, or until the service refused the credentials, and puts files back.
 * Throws what `openFolders` throws at the start.
 */
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

    /** Takes no files from now on, or takes them again. */
    function setClosed(why: string | null): void {
      const about = { folder: folders.root };
      if (why !== null && why !== closedWhy)
        log.error({ ...about, reason: why }, 'the inbox is closed: it takes no files until this is fixed');
      if (why === null && closedWhy !== null) log.info(about, 'the inbox is open again');
      closedWhy = why;
      scheduler.setOpen(why === null);
      // Not awaited: the engine may be unavailable, and the inbox is closed anyway.
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

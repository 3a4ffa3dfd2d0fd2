/**
 * One watcher of one inbox. It takes files while it has room, has them processed, several at once,
 * and moves each to where it belongs. It keeps its own heartbeat and adopts the files of dead
 * watchers. The caller brings how a file is processed, and when a parked one may continue.
 *
 *   watching     takes files from the inbox, from `waiting/` when they may continue, and from dead
 *                watchers
 *   holding      a fault that every file would meet (disk full, engine or service down): takes
 *                nothing for a while
 *   closed       the inbox's own settings cannot be used: takes nothing until they can
 *   unavailable  the folder is gone: does nothing until it is back
 *   refused      the service refuses the credentials: puts running files back, and ends
 *   stopping     a signal: stops running files and puts them back
 */
import { randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { errorText } from '../../core/errors.js';
import { createReleasers } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { adoptJobs, HEARTBEAT_FILE, HEARTBEAT_MS, ownIdentity, touchHeartbeat } from './heartbeat.js';
import { createInboxFiles } from './inbox-files.js';
import { type FolderWatch, openFolders, watchFolder } from './inbox-folders.js';
import { createInboxScheduler, type InboxScheduler } from './inbox-scheduler.js';
import type { InboxWork } from './job-end.js';
import { listWaiting, removeWatcherFolder } from './job-folder.js';

export interface InboxOptions {
  /** The folder that holds, or will hold, `inbox/` and the others. */
  readonly folder: string;
  /** How long a file must be unchanged before it is taken. */
  readonly settleMs: number;
  /** How often to look where the system reports no changes; null: it does. */
  readonly pollMs: number | null;
  readonly filesAtOnce: number;
  readonly work: InboxWork;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
}

/** `refused`: the service refused the credentials; the files are where they were. */
export type InboxEnd = 'stopped' | 'refused';

/** In case events get lost. */
const LOOK_MS = 5_000;
const LOOK_LEAST_MS = 200;
const WAITING_LOOK_MS = 5_000;

/**
 * Watches until `stop`, or until the credentials are refused. Throws what `openFolders` throws at
 * the start.
 */
export async function watchInbox(options: InboxOptions): Promise<InboxEnd> {
  const { clock, log, stop, work } = options;
  const releasers = createReleasers();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();
  stop.addEventListener('abort', wake);
  releasers.push(() => stop.removeEventListener('abort', wake));

  const folders = await openFolders(options.folder);
  const identity = await ownIdentity();
  const own = join(folders.processing, watcherName());
  const heartbeats = setInterval(
    () => void touchHeartbeat(own, identity).catch(() => undefined),
    HEARTBEAT_MS,
  );
  releasers.push(() => clearInterval(heartbeats));
  await touchHeartbeat(own, identity);

  const scheduler: InboxScheduler = createInboxScheduler({ ...options, folders, own, wake });
  const files = createInboxFiles(folders.inbox, options);
  let watching: FolderWatch | null = null;
  releasers.push(() => watching?.close());
  let watchedIno = 0;
  let isUnavailable = true;
  let isReported = false;
  let isChanged = true;
  let lookedAt = 0;
  let filesAt = 0;
  let sweepAt = 0;
  let waitingAt = 0;
  let isLookingAtWaiting = false;
  let closedWhy: string | null = null;

  async function sweep(now: number): Promise<void> {
    sweepAt = now + LOOK_MS;
    const found = await openFolders(options.folder).catch((error: unknown) => errorText(error));
    if (typeof found === 'string') {
      if (!isReported) log.error({ reason: found }, 'the inbox is unavailable: waiting until it is back');
      isReported = true;
      isUnavailable = true;
      return;
    }
    const { ino } = await lstat(folders.inbox);
    if (ino !== watchedIno) {
      await watching?.close();
      watching = watchFolder(folders.inbox, { ...options, onChange });
      watchedIno = ino;
    }
    if (isUnavailable) log.info({ folder: folders.root, watcher: basename(own) }, 'watching the inbox');
    isUnavailable = false;
    isReported = false;
    await lookWhetherClosed();
    scheduler.adopt(
      await adoptJobs({ folders, watcherFolder: own, identity }, await touchHeartbeat(own, identity)),
    );
  }

  async function lookWhetherClosed(): Promise<void> {
    const why = await work.whyClosed();
    if (why !== null && why !== closedWhy)
      log.error(
        { folder: folders.root, reason: why },
        'the inbox is closed: no file is taken until this is fixed',
      );
    if (why === null && closedWhy !== null) log.info({ folder: folders.root }, 'the inbox is open again');
    closedWhy = why;
  }

  function onChange(): void {
    isChanged = true;
    wake();
  }

  async function lookAtFiles(now: number): Promise<void> {
    isChanged = false;
    lookedAt = now;
    const look = await files.look(now);
    scheduler.offer(look.ready);
    filesAt = Math.min(now + (options.pollMs ?? LOOK_MS), look.nextAt ?? Number.POSITIVE_INFINITY);
  }

  /** Not more often than that, however many events there are. */
  const nextLookAt = () => Math.max(isChanged ? 0 : filesAt, lookedAt + LOOK_LEAST_MS);

  async function lookAtWaiting(): Promise<void> {
    isLookingAtWaiting = true;
    try {
      const parked = await listWaiting(folders.waiting);
      if (parked.length > 0) scheduler.offerParked(await work.chooseRetries(parked));
    } finally {
      isLookingAtWaiting = false;
      wake();
    }
  }

  async function step(): Promise<void> {
    const now = clock.monotonic();
    if (now >= sweepAt) await sweep(now);
    if (isUnavailable || closedWhy !== null) return;
    if (now >= waitingAt && !isLookingAtWaiting && scheduler.hasNoParked) {
      waitingAt = now + WAITING_LOOK_MS;
      lookAtWaiting().catch((error) => log.warn({ err: error }, 'the waiting files could not be looked at'));
    }
    await scheduler.fill();
    if (!scheduler.isHungry || now < nextLookAt()) return;
    await lookAtFiles(now);
    await scheduler.fill();
  }

  try {
    while (!stop.aborted && !scheduler.isRefused) {
      await step().catch((error) => {
        log.error({ err: error }, 'the inbox could not be looked at; trying again');
        sweepAt = clock.monotonic() + LOOK_MS;
        isUnavailable = true;
      });
      const next =
        isUnavailable || closedWhy !== null
          ? sweepAt
          : Math.min(sweepAt, scheduler.isHungry ? nextLookAt() : sweepAt, scheduler.nextAt ?? sweepAt);
      await clock.sleep(Math.max(next - clock.monotonic(), 0), wakeUp.signal).catch(() => undefined);
      if (wakeUp.signal.aborted) wakeUp = new AbortController();
    }
    await scheduler.clear();
  } finally {
    await removeWatcherFolder(own, HEARTBEAT_FILE).catch(() => undefined);
    await releasers.releaseAll();
  }
  return scheduler.isRefused ? 'refused' : 'stopped';
}

function watcherName(): string {
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 40);
  return `${host}-${process.pid}-${randomBytes(3).toString('hex')}`;
}

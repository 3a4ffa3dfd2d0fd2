/**
 * The door of `watch`: opens engine, service and worker once, and lets the inbox hand over one file after the other.
 * Signals are the root's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../clock.js';
import type { LoadedSettings } from '../config/settings.js';
import { openEngine } from '../engine/open-engine.js';
import { EXIT, type ExitCode } from '../errors.js';
import { openFolders } from '../inbox/inbox-folders.js';
import { watchInbox } from '../inbox/watch-inbox.js';
import { withReleasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import { createLookupWorker } from '../resolve/lookup-worker.js';
import { readFolderSettings } from './inbox-folder-settings.js';
import { createInboxNotices } from './inbox-notices.js';
import { createInboxWork } from './inbox-work.js';
import { openNotifier } from './notifier.js';
import { openService } from './open-service.js';
import type { DoorStreams } from './run.js';
import { shareWorker } from './shared-worker.js';

export interface WatchDoor extends Pick<DoorStreams, 'stdin' | 'stdout'> {
  readonly log: Log;
  /** First signal: stop taking files and asking. */
  readonly stop: AbortSignal;
  readonly graceMs: (timeoutMs: number) => number;
  /** What relative paths count from. */
  readonly folder: string;
}

/**
 * Watches until `stop`, or until the service refuses the credentials (exit code 4). Throws what opening throws, and
 * NeverStartError for a `brand-enrich.json` that means nothing.
 */
export function runWatch(directory: string, loaded: LoadedSettings, door: WatchDoor): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop } = door;
    const { settings } = loaded;
    const { root } = await openFolders(resolve(door.folder, directory));
    await readFolderSettings(root, loaded);
    let stateFolder = settings.state;
    if (settings.sample) {
      stateFolder = await mkdtemp(join(tmpdir(), 'brand-enrich-sample-'));
      releasers.push(() => rm(stateFolder, { recursive: true, force: true }));
      log.warn('sample data: brands from the built-in catalogue, nothing is sent to any service');
    }
    const notifier = openNotifier({ settings, stateFolder, log, stop });
    releasers.push(() => notifier.close());
    const service = await openService(settings, log, releasers);
    const engine = await openEngine({
      engine: settings.sample ? 'embedded' : settings.engine,
      stateFolder,
      log,
      waitsForDisk: settings.waitForDisk,
      command: 'watch',
    });
    releasers.push(() => engine.close());
    if (!settings.sample) for (const warning of engine.warnings) log.warn(warning);

    const graceMs = () => door.graceMs(settings.timeoutMs);
    const worker = settings.worker
      ? shareWorker((onChunk) =>
          createLookupWorker({
            engine,
            clientFor: service.clientFor,
            queueName: service.queueName,
            concurrency: settings.concurrency,
            timeoutMs: settings.timeoutMs,
            usageLagMs: settings.usageLagMs,
            compress: settings.compression,
            spoolFolder: join(stateFolder, 'spool'),
            clock: systemClock,
            log,
            onChunk,
          }),
        )
      : null;
    if (worker !== null) {
      releasers.push(() => worker.worker.stop(graceMs()));
      await worker.worker.start();
    }
    const clock = systemClock;
    const notices = createInboxNotices({ notifier, isSample: settings.sample, clock });
    const { settleMs, pollMs, filesAtOnce } = settings;
    const end = await watchInbox({
      folder: root,
      settleMs,
      pollMs,
      filesAtOnce,
      work: createInboxWork({
        folder: root,
        loaded,
        service,
        engine,
        stateFolder,
        streams: door,
        worker,
        notices,
        clock,
        log,
        stop,
        graceMs,
      }),
      clock,
      log,
      stop,
    });
    return end === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

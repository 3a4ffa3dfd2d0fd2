/**
 * The door of `watch`: one inbox in a workplace of its own. Signals are the root's.
 */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../config/settings.js';
import { type Workplace, type WorkplaceDoor, withWorkplace } from '../context/workplace.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { readFolderSettings } from '../daemon/inbox/inbox-folder-settings.js';
import { type InboxFolders, openFolders } from '../daemon/inbox/inbox-folders.js';
import { createInboxNotices } from '../daemon/inbox/inbox-notices.js';
import { createInboxWork } from '../daemon/inbox/inbox-work.js';
import { type InboxEnd, watchInbox } from '../daemon/inbox/watch-inbox.js';

export interface WatchDoor extends WorkplaceDoor {
  /** What relative paths count from. */
  readonly folder: string;
}

/**
 * Watches until `stop`, or until the service refuses the credentials (exit code 4). Throws what opening throws, and
 * NeverStartError for a `brand-enrich.json` that means nothing.
 */
export async function runWatch(
  directory: string,
  loaded: LoadedSettings,
  door: WatchDoor,
): Promise<ExitCode> {
  const folders = await openInbox(resolve(door.folder, directory), loaded);
  return withWorkplace(loaded, door, async (place) => {
    await place.begin();
    const end = await watchIn(place, folders, door);
    return end === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

/** Makes the folders and reads their settings, before anything else is opened: one inbox that is closed is no reason to wait. */
async function openInbox(folder: string, loaded: LoadedSettings): Promise<InboxFolders> {
  const folders = await openFolders(folder);
  await readFolderSettings(folders.root, loaded);
  return folders;
}

/** Watches one inbox on what the workplace has open. */
export function watchIn(
  place: Workplace,
  { root }: Pick<InboxFolders, 'root'>,
  streams: Pick<WorkplaceDoor, 'stdin' | 'stdout'>,
): Promise<InboxEnd> {
  const { loaded, engine, service, stateFolder, worker, notifier, traces, graceMs, clock, log, stop } = place;
  const { settleMs, pollMs, filesAtOnce, sample: isSample } = loaded.settings;
  const notices = createInboxNotices({ notifier, isSample, clock });
  const shared = { loaded, service, engine, stateFolder, worker, traces, graceMs, clock, log, stop };
  const work = createInboxWork({ folder: root, streams, notices, ...shared });
  return watchInbox({ folder: root, settleMs, pollMs, filesAtOnce, work, clock, log, stop });
}

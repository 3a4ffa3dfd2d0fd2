/**
 * `watch`: one inbox, in a process of its own.
 */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../config/settings.js';
import { type DaemonContext, withDaemonContext } from '../context/daemon-context.js';
import type { CommandContext } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { readFolderSettings } from '../daemon/inbox/inbox-folder-settings.js';
import { type InboxFolders, openFolders } from '../daemon/inbox/inbox-folders.js';
import { createInboxNotices } from '../daemon/inbox/inbox-notices.js';
import { createInboxWork } from '../daemon/inbox/inbox-work.js';
import { type InboxEnd, watchInbox } from '../daemon/inbox/watch-inbox.js';

/**
 * Watches until `stop`, or until the service refuses the credentials (exit code 4). Throws what opening throws, and
 * NeverStartError for a `brand-enrich.json` that means nothing.
 */
export async function runWatch(
  directory: string,
  loaded: LoadedSettings,
  command: CommandContext,
): Promise<ExitCode> {
  // Before anything else is opened: one inbox that is closed is no reason to wait.
  const folders = await openFolders(resolve(command.folder, directory));
  await readFolderSettings(folders.root, loaded);
  return withDaemonContext(loaded, command, async (context) => {
    await context.begin();
    const end = await watchIn(context, folders);
    return end === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

/** Watches one inbox on what the process has open. */
export function watchIn(context: DaemonContext, { root }: Pick<InboxFolders, 'root'>): Promise<InboxEnd> {
  const { loaded, notifier, clock, log, stop } = context;
  const { settleMs, pollMs, filesAtOnce, sample: isSample } = loaded.settings;
  const notices = createInboxNotices({ notifier, isSample, clock });
  const work = createInboxWork({ folder: root, notices, context });
  return watchInbox({ folder: root, settleMs, pollMs, filesAtOnce, work, clock, log, stop });
}

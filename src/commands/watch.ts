/**
 * `watch`: one inbox, in a process of its own.
 */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../config/settings.js';
import { withDaemonContext } from '../context/daemon-context.js';
import type { CommandContext } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { readFolderSettings } from '../daemon/inbox/inbox-folder-settings.js';
import { openFolders } from '../daemon/inbox/inbox-folders.js';
import { watchInbox } from '../daemon/inbox/watch-inbox.js';

/**
 * Watches until `stop`, or until the service refuses the credentials (exit code 4). Throws what
 * opening throws, and NeverStartError for a `brand-enrich.json` that means nothing.
 */
export async function runWatch(
  directory: string,
  loaded: LoadedSettings,
  command: CommandContext,
): Promise<ExitCode> {
  // Before anything else is opened: one inbox that is closed is no reason to wait.
  const { root } = await openFolders(resolve(command.folder, directory));
  await readFolderSettings(root, loaded);
  return withDaemonContext(loaded, command, async (context) => {
    await context.begin();
    return (await watchInbox(context, root)) === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

/** `watch`: one inbox in its own process. */
import { resolve } from 'node:path';
import { withDaemonContext } from '../app/daemon-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { readFolderSettings, settingsFilesOf } from '../jobs/inbox-folder-settings.js';
import { openFolders } from '../jobs/inbox-folders.js';
import { watchInbox } from '../jobs/watch-inbox.js';
import type { CommandCall } from './answer.js';

/**
 * Watches until `stop`, or until the service refuses the credentials (exit code 4). Throws what
 * opening throws, and NeverStartError for a `brand-enrich.json` that means nothing.
 */
export async function runWatch(call: CommandCall): Promise<ExitCode> {
  const [directory = '.'] = call.args;
  // Before anything else is opened: a single inbox that is closed would only wait.
  const { root } = await openFolders(resolve(call.folder, directory));
  await readFolderSettings(settingsFilesOf(root), call);
  return withDaemonContext(call, call, async (context) => {
    await context.begin();
    return (await watchInbox(context, root)) === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

/**
 * A word with the process that has a state folder, without opening an engine: for `status` and `plan` from a second
 * terminal. Loads neither BullMQ nor PGlite.
 */
import { askFolderHolder } from './folder-lock.js';
import { lockFolderOf } from './state-folder.js';

/**
 * Asks whatever the holder's `onRequest` handler understands; requests and answers travel as JSON. null when no process has
 * the folder, or it has no handler. Throws `FailFileError` `engine-held` when the holder does not answer, and a plain `Error`
 * with the handler's message when it failed.
 */
export function askHolder(stateFolder: string, request: unknown): Promise<unknown | null> {
  return askFolderHolder(lockFolderOf(stateFolder), request);
}

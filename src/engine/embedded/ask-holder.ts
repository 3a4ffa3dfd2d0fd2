/**
 * A word with the process that has a state folder, without opening an engine: for looking, orders and runs from a second
 * terminal. Loads neither BullMQ nor PGlite.
 */
import { FailFileError } from '../../errors.js';
import { askFolderHolder } from './folder-lock.js';
import { lockFolderOf } from './state-folder.js';

/**
 * Asks whatever the holder's `onRequest` handler understands; requests and answers travel as JSON. null when no process has
 * the folder. A holder that is still opening its engine is waited for. Throws `FailFileError` `engine-held` when the holder does
 * not answer, and what its handler threw: a `FailFileError` as it was, anything else as a plain `Error` with its message.
 */
export function askHolder(stateFolder: string, request: unknown): Promise<unknown | null> {
  return askFolderHolder(lockFolderOf(stateFolder), request);
}

/** The same for somebody who has found a holder before. Throws `FailFileError` `engine-unreachable` when it is gone or silent. */
export async function askSameHolder(stateFolder: string, request: unknown): Promise<unknown> {
  const answer = await askHolder(stateFolder, request).catch((error: unknown) => {
    const isSilent = error instanceof FailFileError && error.code === 'engine-held';
    throw isSilent ? away(stateFolder, 'does not answer') : error;
  });
  if (answer === null) throw away(stateFolder, 'is gone');
  return answer;
}

function away(stateFolder: string, how: string): FailFileError {
  return new FailFileError({
    code: 'engine-unreachable',
    what: `the process that had the state folder open ${how}`,
    subject: stateFolder,
    todo: 'run the same command again when it is back, or without it: what was paid for is kept',
  });
}

/**
 * Finds the process that holds the embedded engine's folder, and carries calls of its stores there. Loads neither BullMQ nor
 * PGlite.
 */
import type { StoreCall, StoreReply } from './store-calls.js';
import type { AskStore } from './store-proxies.js';

const ANY_CALL: StoreCall = { store: 'runs', method: 'list', args: [1] };

/**
 * null when nobody holds the folder. A holder that goes away later and comes back, as the same process or another, is found again;
 * meanwhile calls throw `FailFileError` `engine-unreachable`. Throws `engine-held` for a holder that does not answer.
 */
export async function findHolder(stateFolder: string): Promise<AskStore | null> {
  const { askHolder, askSameHolder } = await import('./embedded/ask-holder.js');
  if ((await askHolder(stateFolder, ANY_CALL)) === null) return null;
  return async (call) => (await askSameHolder(stateFolder, call)) as StoreReply;
}

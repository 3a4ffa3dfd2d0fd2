/**
 * One inbox, one engine: with two, every file would be bought twice. Both have the same random id;
 * the first watcher gives it to both, and an engine that was emptied takes that of the inbox.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { FailFileError } from '../core/errors.js';
import { readPlainFile, replaceFile } from '../core/plain-file.js';
import { isErrorCode } from '../core/system-error.js';
import type { KeyValueStore } from '../engine/stores/key-value-store.js';

/** Outside `inbox/`, where only the watcher's user writes. */
const ID_FILE = '.brand-enrich-engine';
const SCOPE = 'inboxes';
const NAME = 'engine';

/**
 * Throws `FailFileError` (`engine-unfit`) if the inbox belongs to another engine, and what the
 * engine and the file system throw.
 */
export async function assertOneEngine(keyValues: KeyValueStore, root: string): Promise<void> {
  const path = join(root, ID_FILE);
  const ofEngine = async () => (await keyValues.list(SCOPE)).find(({ name }) => name === NAME)?.text;
  const known = await ofEngine();
  const found = await readId(path, known);
  const id = found ?? known ?? randomBytes(12).toString('hex');
  // If two watchers begin now, only one of them gives the engine its id.
  if (known === undefined) await keyValues.claim(SCOPE, NAME, id, null);
  const agreed = known ?? (await ofEngine());
  if (found === null && agreed !== undefined) {
    return replaceFile(path, `${agreed}\n`);
  }
  if (found === agreed) return;
  const todo = `start it with the engine that it had before; to move the inbox to this one: rm ${path}`;
  const what = 'this inbox belongs to another engine';
  throw new FailFileError({ code: 'engine-unfit', what, subject: root, todo });
}

/** Returns null without a file. One of another user counts only if it has the engine's id. */
async function readId(path: string, known: string | undefined): Promise<string | null> {
  const read = (options: { isOwn: boolean }) => readPlainFile(path, options).then((text) => text.trim());
  try {
    const id = await read({ isOwn: false });
    return id === known ? id : await read({ isOwn: true });
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

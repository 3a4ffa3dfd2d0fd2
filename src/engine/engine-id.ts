/**
 * The random id of an engine, kept in it: what lies on disk for one engine is known from what lies there for another, though
 * both were used with one state folder.
 */
import { randomBytes } from 'node:crypto';
import type { KeyValueStore } from '../stores/key-value-store.js';

const SCOPE = 'engine';
const NAME = 'id';

/** The id; given to the engine when it has none. Of many who give it one at once, the first one's holds. */
export async function giveEngineId(keyValues: KeyValueStore): Promise<string> {
  const known = await readEngineId(keyValues);
  if (known !== null) return known;
  await keyValues.claim(SCOPE, NAME, randomBytes(8).toString('hex'), null);
  const id = await readEngineId(keyValues);
  if (id === null) throw new Error('the engine forgot its id within a moment');
  return id;
}

/** The id; null when nobody has worked with the engine yet. */
export async function readEngineId(keyValues: Pick<KeyValueStore, 'list'>): Promise<string | null> {
  return (await keyValues.list(SCOPE)).find(({ name }) => name === NAME)?.text ?? null;
}

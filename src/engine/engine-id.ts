/**
 * The random id of an engine, kept in it: what lies on disk for one engine is known from what lies there for another, though
 * both were used with one state folder.
 */
import { randomBytes } from 'node:crypto';
import type { NoteStore } from '../stores/notes.js';

const SCOPE = 'engine';
const NAME = 'id';

/** The id; given to the engine when it has none. Of many who give it one at once, the first one's holds. */
export async function giveEngineId(notes: NoteStore): Promise<string> {
  const known = await readEngineId(notes);
  if (known !== null) return known;
  await notes.claim(SCOPE, NAME, randomBytes(8).toString('hex'), null);
  const id = await readEngineId(notes);
  if (id === null) throw new Error('the engine forgot its id within a moment');
  return id;
}

/** The id; null when nobody has worked with the engine yet. */
export async function readEngineId(notes: Pick<NoteStore, 'list'>): Promise<string | null> {
  return (await notes.list(SCOPE)).find(({ name }) => name === NAME)?.text ?? null;
}

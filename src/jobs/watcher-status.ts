/** Notes of watchers for all processes: files being read before their first run, closed inboxes. */
import { hostname } from 'node:os';
import { attempt } from '../core/lifecycle.js';
import { object, type Shape, type Shaped, text as word } from '../core/shapes.js';
import type { KeyValueStore } from '../engine/stores/key-value-store.js';
import type { Job } from './job-folder.js';

const read = <T>(text: string, shape: Shape<T>) => attempt(() => shape(JSON.parse(text)), null);

/** Entries are named by the ids of jobs. */
const READING = 'reading';
/** A killed watcher leaves its entry; nobody cleans up after a removed folder. */
const OLDEST_READING_MS = 7 * 86_400_000;
const readingShape = object({ host: word, file: word });

/** Notes a file until the returned function is called, which never rejects. */
export async function noteReading(
  keyValues: KeyValueStore,
  { file, record }: Pick<Job, 'file' | 'record'>,
): Promise<() => Promise<unknown>> {
  await keyValues.put(READING, record.id, JSON.stringify({ host: hostname(), file }));
  return () => keyValues.remove(READING, record.id, null).catch(() => undefined);
}

/** Lists the noted files with the ids of their jobs. Throws what the engine throws. */
export async function listReading(keyValues: Pick<KeyValueStore, 'list'>) {
  return (await keyValues.list(READING)).flatMap(({ name: job, text, ageMs }) => {
    const known = read(text, readingShape);
    return known === null || ageMs > OLDEST_READING_MS ? [] : { ...known, job };
  });
}

const CLOSED = 'closed-inbox';
/** Every look at the inbox renews its entry; an older one belongs to a watcher that ended. */
const OLDEST_CLOSED_MS = 60_000;
const closedShape = object({ host: word, folder: word, why: word });

/** Creates a note of why the inbox of `folder` is closed; null opens it. Never rejects. */
export function createClosedNote(keyValues: KeyValueStore, folder: string) {
  const host = hostname();
  const name = `${host}:${folder}`;
  let isNoted = false;
  return async (why: string | null): Promise<void> => {
    if (why === null && !isNoted) return;
    try {
      if (why === null) await keyValues.remove(CLOSED, name, null);
      else await keyValues.put(CLOSED, name, JSON.stringify({ host, folder, why }));
      isNoted = why !== null;
    } catch {
      // The engine does not answer: the next look tries again.
    }
  };
}

/** Lists the closed inboxes of all machines. Throws what the engine throws. */
export async function listClosedInboxes(keyValues: Pick<KeyValueStore, 'list'>) {
  return (await keyValues.list(CLOSED)).flatMap(({ text, ageMs }) =>
    ageMs > OLDEST_CLOSED_MS ? [] : (read(text, closedShape) ?? []),
  );
}

/** Returns why the inbox of this folder on this machine is closed, or null. */
export function whyClosedHere(closed: readonly Shaped<typeof closedShape>[], folder: string): string | null {
  return closed.find((each) => each.folder === folder && each.host === hostname())?.why ?? null;
}

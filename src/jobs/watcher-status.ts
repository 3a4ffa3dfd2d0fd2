/**
 * What watchers tell all processes of the engine: files that are read for the first time, which
 * people name by the file because no run of them has begun; and inboxes that take no files.
 */
import { hostname } from 'node:os';
import { readJson } from '../core/json-text.js';
import type { KeyValueStore } from '../engine/stores/key-value-store.js';
import type { Job } from './job-folder.js';

/** A shape of texts. Not of `zod`, which takes short commands too long to load. */
const textsOf = <K extends string>(...keys: readonly K[]) => ({
  parse(value: unknown): Readonly<Record<K, string>> {
    const found = Object(value) as Record<K, unknown>;
    if (keys.every((key) => typeof found[key] === 'string')) return found as Record<K, string>;
    throw new Error('not what a watcher tells');
  },
});

/** Entries have the names of jobs. */
const READING = 'reading';
/** A watcher that was killed left an older one, and its folder was removed. */
const OLDEST_READING_MS = 7 * 86_400_000;
const readingShape = textsOf('host', 'file');

/** Until what it returns is called. Throws what the engine throws; that function does not. */
export async function noteReading(
  keyValues: KeyValueStore,
  { file, record }: Pick<Job, 'file' | 'record'>,
): Promise<() => Promise<unknown>> {
  await keyValues.put(READING, record.id, JSON.stringify({ host: hostname(), file }));
  return () => keyValues.remove(READING, record.id, null).catch(() => undefined);
}

/** `job`: the id of its record, under which orders are kept. Throws what the engine throws. */
export async function listReading(keyValues: Pick<KeyValueStore, 'list'>) {
  return (await keyValues.list(READING)).flatMap(({ name: job, text, ageMs }) => {
    const known = readJson(text, readingShape);
    return known === null || ageMs > OLDEST_READING_MS ? [] : { ...known, job };
  });
}

const CLOSED = 'closed-inbox';
/** Rewritten with every look at the inbox; an older one is of a watcher that has ended. */
const OLDEST_CLOSED_MS = 60_000;
const closedShape = textsOf('host', 'folder', 'why');

/** Tells why the inbox of `folder` is closed; null: it is open. Never rejects. */
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
      // The engine does not answer. The log has it, and the next look tells it.
    }
  };
}

/** All of them, on every machine. Throws what the engine throws. */
export async function listClosedInboxes(keyValues: Pick<KeyValueStore, 'list'>) {
  return (await keyValues.list(CLOSED)).flatMap(({ text, ageMs }) =>
    ageMs > OLDEST_CLOSED_MS ? [] : (readJson(text, closedShape) ?? []),
  );
}

/** Why the inbox with this folder on this machine is closed; null: it is open. */
export function whyClosedHere(
  closed: readonly ReturnType<typeof closedShape.parse>[],
  folder: string,
): string | null {
  return closed.find((each) => each.folder === folder && each.host === hostname())?.why ?? null;
}

/**
 * Files that a watcher reads for the first time: no run of them has begun, so that people name them
 * by the file. Kept in the engine while the file is read, or until its job is over.
 */
import { hostname } from 'node:os';
import { z } from 'zod';
import { readJson } from '../core/json-text.js';
import type { KeyValueStore } from '../stores/key-value-store.js';
import type { Job } from './job-folder.js';

/** Of the key-value store; entries have the names of jobs. */
const SCOPE = 'reading';
/** A watcher that was killed left an older one, and its folder was removed. */
const OLDEST_MS = 7 * 86_400_000;
const shape = z.object({ host: z.string(), file: z.string() });

export interface FileInReading {
  /** Of its record: what is ordered is kept under it. */
  readonly job: string;
  readonly host: string;
  readonly file: string;
}

/** Throws what the engine throws; the function that it returns does not. */
export async function noteReading(
  keyValues: KeyValueStore,
  { file, record }: Pick<Job, 'file' | 'record'>,
): Promise<() => Promise<unknown>> {
  await keyValues.put(SCOPE, record.id, JSON.stringify({ host: hostname(), file }));
  return () => keyValues.remove(SCOPE, record.id, null).catch(() => undefined);
}

export async function listReading(keyValues: KeyValueStore): Promise<FileInReading[]> {
  return (await keyValues.list(SCOPE)).flatMap(({ name, text, ageMs }) => {
    const known = readJson(text, shape);
    return known === null || ageMs > OLDEST_MS ? [] : { job: name, ...known };
  });
}

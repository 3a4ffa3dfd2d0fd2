/**
 * The files that this process reads now. Each record says whether its file was the only one, so
 * after a death the next watcher knows which file may be the cause, and reads such files alone.
 */
import { EventEmitter, once } from 'node:events';
import pLimit from 'p-limit';
import { openPlainFile } from '../core/plain-file.js';
import { packingOf } from '../input/binary-signature.js';
import { lookAt } from './inbox-file.js';
import { type Job, type JobRecord, writeRecord } from './job-folder.js';

/** The largest file for the last place of a watcher. */
export const SMALL_BYTES = 100_000;
/** The largest workbook or gzip; a small Parquet file can have any number of rows. */
const SMALL_PACKED_BYTES = 16_384;

/** True if reading a file may take long; false if the file cannot be opened. */
export async function mayTakeLong(path: string): Promise<boolean> {
  const size = (await lookAt(path))?.size ?? 0;
  if (size > SMALL_BYTES) return true;
  const handle = await openPlainFile(path, { followsLinks: false }).catch(() => null);
  if (handle === null) return false;
  const start = Buffer.alloc(4);
  await handle.read(start, 0, 4, 0).catch(() => undefined);
  await handle.close();
  const packing = packingOf(start);
  return packing === 'parquet' || (packing !== null && size > SMALL_PACKED_BYTES);
}

interface Reader {
  readonly folder: string;
  record: JobRecord;
  readonly isSuspect: boolean;
  readonly isLong: boolean;
}

/** Readers of all inboxes of this process, since its death ends them all. */
const readers = new Set<Reader>();
const ends = new EventEmitter();
/** Long files begin in their order. */
const oneByOne = pLimit(1);
const marking = pLimit(1);

async function mark(reader: Reader, reading: JobRecord['reading']): Promise<void> {
  if (reader.record.reading === reading) return;
  reader.record = { ...reader.record, reading };
  // Writing results reports a full disk; a folder that is gone belongs to another watcher.
  await writeRecord(reader.folder, reader.record).catch(() => undefined);
}

async function markAll(): Promise<void> {
  for (const reader of readers) await mark(reader, readers.size === 1 ? 'alone' : 'with others');
}

/** Waits while suspects and long files would be read together; returns the end of the reading. */
export async function beginReading({ folder, path, record }: Job): Promise<() => Promise<void>> {
  const isSuspect = record.deaths !== undefined;
  const isLong = isSuspect || (await mayTakeLong(path));
  const reader: Reader = { folder, record, isSuspect, isLong };
  const isBlocked = () => [...readers].some((each) => each.isSuspect || (isSuspect && each.isLong));
  const enter = async () => {
    while (isLong && isBlocked()) await once(ends, 'end');
    readers.add(reader);
  };
  await (isLong ? oneByOne(enter) : enter());
  await marking(markAll);
  return async () => {
    if (!readers.delete(reader)) return;
    ends.emit('end');
    await marking(() => mark(reader, undefined).then(markAll));
  };
}

/** Returns the record after a death of the watcher, counted if it read only this file. Pure. */
export function afterDeath({ reading, ...record }: JobRecord): JobRecord {
  if (reading === undefined) return record;
  return { ...record, deaths: (record.deaths ?? 0) + (reading === 'alone' ? 1 : 0) };
}

/**
 * The files that this process reads now, and whether each is the only one: so after its death the
 * next watcher knows whose fault it may be. Files that were being read then are read one at a time.
 */
import { EventEmitter, once } from 'node:events';
import pLimit from 'p-limit';
import { openPlainFile } from '../core/plain-file.js';
import { packingOf } from '../input/binary-signature.js';
import { lookAt } from './inbox-file.js';
import { type Job, type JobRecord, writeRecord } from './job-folder.js';

/** The last place of a watcher is for files of at most this size. */
export const SMALL_BYTES = 100_000;
/** The same for a workbook or gzip. In Parquet a few bytes can be any number of rows. */
const SMALL_PACKED_BYTES = 16_384;

/** True if a file may take long; false if it cannot be opened, which is seen later. */
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

/** Of all inboxes of this process: its death ends the reading of all. */
const readers = new Set<Reader>();
const ends = new EventEmitter();
/** Long files enter in their order. Several may read at once, unless one is a suspect. */
const oneByOne = pLimit(1);
const marking = pLimit(1);

async function mark(reader: Reader, reading: JobRecord['reading']): Promise<void> {
  if (reader.record.reading === reading) return;
  reader.record = { ...reader.record, reading };
  // A folder that is gone belongs to another watcher, and a full disk is met by the results.
  await writeRecord(reader.folder, reader.record).catch(() => undefined);
}

async function markAll(): Promise<void> {
  for (const reader of readers) await mark(reader, readers.size === 1 ? 'alone' : 'with others');
}

/**
 * Waits until a file may be read; the returned function ends the reading. Suspects, and files that
 * may take long, wait for a suspect and it for them; other small files wait for none.
 */
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

/** Returns the record of a file whose watcher died. It counts if only this was read. Pure. */
export function afterDeath({ reading, ...record }: JobRecord): JobRecord {
  if (reading === undefined) return record;
  return { ...record, deaths: (record.deaths ?? 0) + (reading === 'alone' ? 1 : 0) };
}

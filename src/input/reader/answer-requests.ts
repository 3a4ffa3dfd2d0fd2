/** The side of the reading process: answers requests about the file that it was given. */
import { fstatSync } from 'node:fs';
import {
  type BinaryFile,
  type BinaryRows,
  type BinaryTable,
  MOST_RATIO,
  OverBounds,
  readAt,
} from '../binary-table.js';
import type { ZipArchive } from '../zip-archive.js';
import { bytesFrame, errorFrame, jsonFrame, type ReaderRequest, RowsFrame } from './messages.js';

const SPLIT = 'save it as CSV (UTF-8), or split it into several smaller files';
/** More are too many to choose from. */
const MOST_SHEETS = 1_000;

/** The next reply of what was begun; null: it has ended. */
type Series = AsyncIterator<Buffer>;

/** `descriptor`: of the open file. Never rejects; loads modules when a file needs them. */
export function createAnswers(descriptor = 3) {
  let table: BinaryTable | null = null;
  let archive: ZipArchive | null = null;
  let series: Series | null = null;

  async function openArchive(name: string): Promise<ZipArchive> {
    const { ZipArchive } = await import('../zip-archive.js');
    archive ??= await ZipArchive.of(name, descriptor);
    return archive;
  }

  async function begin(next: AsyncGenerator<Buffer>): Promise<Buffer> {
    await series?.return?.();
    series = next;
    return jsonFrame(null);
  }

  async function answer(request: ReaderRequest): Promise<Buffer> {
    const { name } = request;
    switch (request.type) {
      case 'open': {
        const file = fileOf(name, descriptor);
        if (readAt(file, 0, 4).toString('latin1') === 'PAR1')
          table = await (await import('../parquet/parquet-table.js')).openParquetTable(file);
        else {
          const opened = await openArchive(name);
          const part = (await import('../binary-signature.js')).tableInside(opened);
          if (part !== null) return jsonFrame({ type: 'inside', part });
          table = await (await import('../xlsx/xlsx-table.js')).openXlsxTable(opened, request.opening);
        }
        const { shape, detected, warnings } = table;
        return jsonFrame({ type: 'table', shape, detected, warnings });
      }
      case 'sheets': {
        const { sheets } = await (await import('../xlsx/workbook.js')).readSheets(await openArchive(name));
        const shown = sheets.flatMap(({ name, isHidden }) => (isHidden ? [] : [name]));
        return jsonFrame(shown.slice(0, MOST_SHEETS));
      }
      case 'rows': {
        if (table === null) throw new Error('rows were asked for before the table');
        const { limit, wanted } = request;
        return begin(rowFrames(table.openRows(limit, wanted), wanted, fstatSync(descriptor).size));
      }
      case 'bytes':
        return begin(byteFrames((await openArchive(name)).read(request.part)));
      case 'count':
        return begin(countFrames(name, request.part));
      case 'next':
        return (await series?.next())?.value ?? jsonFrame(null);
    }
  }

  /** The rows of our own outputs, as often as some thousand are counted. */
  async function* countFrames(name: string, part: string | null): AsyncGenerator<Buffer> {
    const counts =
      part === null
        ? (await import('../parquet/parquet-table.js')).countParquetRows(fileOf(name, descriptor))
        : (await import('../xlsx/sheet-rows.js')).countSheetRows(await openArchive(name), part);
    for await (const rows of counts) yield jsonFrame(rows);
  }

  return (request: ReaderRequest): Promise<Buffer> =>
    answer(request).catch((error: unknown) => errorFrame(request.name, error));
}

/** Many rows may refer to one text, so that a small file fills any disk, and takes as long. */
const SMALL_CHARS = 256 * 1024 * 1024;
const MOST_CHARS = 64 * 1024 * 1024 * 1024;

async function* rowFrames(
  { batches, width, notes }: BinaryRows,
  wanted: readonly number[] | null,
  size: number,
): AsyncGenerator<Buffer> {
  let left = Math.min(MOST_CHARS, Math.max(SMALL_CHARS, size * MOST_RATIO));
  const frame = new RowsFrame(wanted);
  for await (const batch of batches) {
    for (const row of batch) {
      left -= row.raw.length;
      if (left < 0) throw new OverBounds('its rows have far more text than the file', SPLIT);
      frame.add(row);
      if (frame.isFull) yield frame.take(width());
    }
  }
  if (!frame.isEmpty) yield frame.take(width());
  yield jsonFrame({ width: width(), notes: notes() });
}

const MOST_BYTES = 256 * 1024;

async function* byteFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < MOST_BYTES) continue;
    yield bytesFrame(Buffer.concat(waiting));
    waiting = [];
    size = 0;
  }
  if (size > 0) yield bytesFrame(Buffer.concat(waiting));
}

function fileOf(name: string, descriptor: number): BinaryFile {
  return { name, descriptor, size: fstatSync(descriptor).size };
}

/** Answers a pass, inside the reading process. */
import { fstatSync } from 'node:fs';
import {
  type BinaryFile,
  type BinaryRows,
  type BinaryTable,
  MOST_RATIO,
  OverBounds,
  readAt,
} from '../binary-table.js';
import { ZipArchive } from '../zip-archive.js';
import { type FoundTable, type Pass, type Reply, sentError, sentRow, type TableOpening } from './replies.js';

const SPLIT = 'save it as CSV (UTF-8), or split it into several smaller files';
const MOST_SHEETS = 1_000;

/** Yields the replies to a pass. `descriptor`: of the open file. Never rejects. */
export async function* answerPass(pass: Pass, descriptor = 3): AsyncGenerator<Reply> {
  try {
    yield* answer(pass, { name: pass.name, descriptor, size: fstatSync(descriptor).size });
  } catch (error) {
    yield { error: sentError(pass.name, error) };
  }
}

async function* answer(pass: Pass, file: BinaryFile): AsyncGenerator<Reply> {
  switch (pass.type) {
    case 'open': {
      const table = await openTable(file, pass.opening);
      if ('part' in table) return yield { end: table satisfies FoundTable };
      const { shape, detected, warnings } = table;
      return yield { end: { shape, detected, warnings } satisfies FoundTable };
    }
    case 'rows': {
      const table = await openTable(file, pass.opening);
      if ('part' in table) throw new Error('it is an archive');
      return yield* rowReplies(table.openRows(pass.wanted), pass, file.size);
    }
    case 'sheets': {
      const { sheets } = await (await import('../xlsx/workbook.js')).readSheets(await archiveOf(file));
      const shown = sheets.flatMap(({ name, isHidden }) => (isHidden ? [] : [name]));
      return yield { end: shown.slice(0, MOST_SHEETS) };
    }
    case 'bytes':
      for await (const bytes of (await archiveOf(file)).read(pass.part))
        yield { bytes: bytes.toString('base64') };
      return yield { end: null };
    case 'count': {
      let total = 0;
      for await (const rows of await countsOf(file, pass.part)) {
        total += rows;
        yield { counted: total };
      }
      return yield { end: total };
    }
  }
}

const archiveOf = ({ name, descriptor }: BinaryFile) => ZipArchive.of(name, descriptor);

async function openTable(
  file: BinaryFile,
  opening: TableOpening,
): Promise<BinaryTable | { readonly part: string }> {
  if (readAt(file, 0, 4).toString('latin1') === 'PAR1')
    return (await import('../parquet/parquet-table.js')).openParquetTable(file);
  const archive = await archiveOf(file);
  const part = (await import('../binary-signature.js')).tableInside(archive);
  return part === null ? (await import('../xlsx/xlsx-table.js')).openXlsxTable(archive, opening) : { part };
}

/** Counts the rows of an output of ours. Yields numbers to add up. */
async function countsOf(file: BinaryFile, part: string | null): Promise<AsyncIterable<number>> {
  return part === null
    ? (await import('../parquet/parquet-table.js')).countParquetRows(file)
    : (await import('../xlsx/sheet-rows.js')).countSheetRows(await archiveOf(file), part);
}

/** Limits of the text of all rows: many may share one text, so a small file could fill any disk. */
const SMALL_CHARS = 256 * 1024 * 1024;
const MOST_CHARS = 64 * 1024 * 1024 * 1024;

const REPLY_ROWS = 4_096;
const REPLY_CHARS = 128 * 1024;

async function* rowReplies(
  { batches, width, notes }: BinaryRows,
  { limit, wanted }: Pass & { type: 'rows' },
  size: number,
): AsyncGenerator<Reply> {
  const most = Math.min(MOST_CHARS, Math.max(SMALL_CHARS, size * MOST_RATIO));
  let all = 0;
  let chars = 0;
  let first = 1;
  let rows: ReturnType<typeof sentRow>[] = [];
  const take = (): Reply => {
    const reply = { first, rows, width: width() };
    first += rows.length;
    rows = [];
    chars = 0;
    return reply;
  };
  reading: for await (const batch of batches) {
    for (const row of batch) {
      all += row.raw.length;
      if (all > most) throw new OverBounds('its rows have far more text than the file', SPLIT);
      chars += row.raw.length;
      rows.push(sentRow(row, wanted));
      if (row.number === limit) break reading;
      if (rows.length >= REPLY_ROWS || chars >= REPLY_CHARS) yield take();
    }
  }
  if (rows.length > 0) yield take();
  yield { end: { width: width(), notes: notes() } };
}

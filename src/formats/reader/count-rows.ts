/** Counts the rows of workbooks and Parquet files that we wrote, independent of their writers. */
import { parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { type BinaryFile, readAt } from '../binary-table.js';
import type { ZipArchive } from '../zip-archive.js';

const ROWS_AT_ONCE = 20_000;

/** Numbers of rows, to be added. Throws Error for a damaged file. */
export async function* countSheetRows(archive: ZipArchive, part: string): AsyncGenerator<number> {
  // The texts of cells escape `<`, so this is always a row.
  const mark = '<row ';
  let rest = '';
  let rows = 0;
  for await (const chunk of archive.read(part)) {
    const text = rest + chunk.toString('latin1');
    rows += text.split(mark).length - 1;
    rest = text.endsWith(mark) ? '' : text.slice(1 - mark.length);
    if (rows < ROWS_AT_ONCE) continue;
    yield rows;
    rows = 0;
  }
  yield rows;
}

/** The same, counting the values of the last column, row group by row group. */
export async function* countParquetRows(input: BinaryFile): AsyncGenerator<number> {
  const { size: byteLength } = input;
  const slice = (start: number, end = byteLength) => {
    const { buffer, byteOffset, length } = readAt(input, start, end - start);
    return buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  };
  const file = { byteLength, slice };
  const metadata = await parquetMetadataAsync(file);
  const last = parquetSchema(metadata).children.at(-1)?.element.name ?? '';
  for (let rowStart = 0; rowStart < metadata.num_rows; rowStart += ROWS_AT_ONCE) {
    const rowEnd = rowStart + ROWS_AT_ONCE;
    let rows = 0;
    const onComplete = (values: readonly unknown[]) => {
      rows = values.length;
    };
    await parquetRead({ file, metadata, columns: [last], rowStart, rowEnd, onComplete });
    yield rows;
  }
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { openInput } from '../../../src/input/open-input.js';
import { createParquetFile } from '../../../src/input/parquet/parquet-file.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { parquetPlan, typesOfRows } from '../../../src/run/output/render-typed.js';
import { RowSpool } from '../../../src/run/scan/row-spool.js';
import { SpoolFile } from '../../../src/run/scan/spool-file.js';
import { MATCHED, planFor } from '../../run/output/plans.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { READING, readHere } from '../reading.js';

export async function readTable(path: string) {
  const input = await openInput(path, READING, { spoolFolder: '/nowhere', readBinary: readHere });
  try {
    const raws: string[] = [];
    const cells: (readonly string[])[] = [];
    for await (const batch of input.rows()) {
      raws.push(...batch.map(({ raw }) => raw));
      cells.push(...batch.map((row) => row.cells));
    }
    const { shape, warnings } = input;
    return { shape, warnings, raws, cells, columns: input.content().columns };
  } finally {
    await input.close();
  }
}

/** Writes these rows as a run does; each is matched. */
export async function writeTable(raws: readonly string[], changes: Partial<OutputPlan>): Promise<string> {
  const plan = planFor({
    fields: ['name', 'qualityScore', 'logo_url', 'claimed'],
    ...changes,
    format: 'parquet',
  });
  const folder = await temporaryFolder();
  const rows = new RowSpool(new SpoolFile(folder, 'rows', 'list.csv'));
  for (const raw of raws) rows.add(1, 'asked', [0], '', raw);
  const bytes: Buffer[] = [];
  const send = async (piece: Buffer) => void bytes.push(piece);
  const file = createParquetFile(send, parquetPlan(plan, typesOfRows(plan, rows)));
  const renderer = createRenderer(plan);
  await file.write(renderer.header() ?? '');
  for (const raw of raws) await file.write(renderer.row(raw, renderer.answer(MATCHED), 7));
  await file.finish();
  const path = join(folder, 'out.parquet');
  await writeFile(path, Buffer.concat(bytes));
  return path;
}

export async function objectsOf(path: string | URL) {
  const bytes = await readFile(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const { schema } = parquetMetadata(file);
  // hyparquet itself reads no INTERVAL.
  const columns = parquetSchema({ schema }).children.map(({ element }) => element.name);
  const rows = await parquetReadObjects({
    file,
    columns: columns.filter((name) => name !== 'iv'),
    compressors,
    utf8: false,
    parsers: { jsonFromBytes: (it) => it },
  });
  return { rows, schema };
}

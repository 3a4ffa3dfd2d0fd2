/** Files of any bytes: a named error, or every record has a status and comes back as it was. */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { writeXlsx } from 'hucre/xlsx';
import { parquetWriteBuffer } from 'hyparquet-writer';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, expect } from 'vitest';
import { BrandEnrichError } from '../../src/core/errors.js';
import { parseIdentifierText } from '../../src/core/identifier.js';
import { withReleasers } from '../../src/core/lifecycle.js';
import { isJson, isTyped, type Row, TABLE_FORMATS, type TableShape } from '../../src/core/table.js';
import type { Input, ReadingSettings } from '../../src/input/input.js';
import { openInput } from '../../src/input/open-input.js';
import { columnsFor } from '../../src/run/output/columns.js';
import { namesOfRun } from '../../src/run/output/output-names.js';
import { createRenderer } from '../../src/run/output/render.js';
import { writeOutput } from '../../src/run/output/write-output.js';
import { readRow } from '../../src/run/scan/row-spool.js';
import { openAndScan } from '../../src/run/scan/scan.js';
import { READING } from '../input/reading.js';
import { planFor } from '../run/output/plans.js';
import { settingsWith } from '../support/default-settings.js';
import { share } from '../support/properties.js';
import { zipOf } from '../support/workbooks.js';
import { fuzz } from './fuzz.js';
import { type Mutation, mutate, mutations, wordsOf } from './mutations.js';

/** A fixture: one file, or an archive part by part. */
type Content = Buffer | Readonly<Record<string, Buffer>>;

const repository = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url));
const CUSTOMERS = repository('fixtures/customers.csv');
const COINS = repository('fixtures/coins.jsonl');
const LIST =
  'Firma;Webseite;Notiz\r\n"Müller ""A"" GmbH";bücher.de;"a\r\nb"\r\nÄcme;acme.com;\r\n;;\r\nx;y.de;1,10\r\n';
const CELLS = LIST.replace(/"a\r\nb"/, 'ab')
  .trim()
  .split('\r\n')
  .map((line) => line.split(';'));

const FIXTURES = {
  'customers.csv': () => CUSTOMERS,
  'securities.csv': () => repository('fixtures/securities.csv'),
  'brands.psv': () => repository('fixtures/source/countries.psv'),
  'coins.jsonl': () => COINS,
  'coins.json': () => Buffer.from(`[\n${COINS.toString().trim().split('\n').join(',\n')}\n]\n`),
  'list.csv': () => Buffer.from(LIST),
  'list-1252.csv': () => iconv.encode(LIST, 'windows-1252'),
  'list-utf16.csv': () => iconv.encode(LIST, 'utf-16le', { addBOM: true }),
  'list.tsv': () => Buffer.from(`\ufeff${LIST.replaceAll(';', '\t')}`),
  'bare.txt': () => Buffer.from('acme.com\nexample.org\nbücher.de\n\nacme.com\n'),
  'list.xlsx': async () => partsOf(await writeXlsx({ sheets: [{ name: 'One', rows: CELLS }] })),
  'list.zip': () => ({ 'list.csv': Buffer.from(LIST), '__MACOSX/._list.csv': Buffer.from('x') }),
  'duckdb.parquet': () => repository('test/fixtures/duckdb.parquet'),
  'pyarrow.parquet': () => repository('test/fixtures/pyarrow-integers.parquet'),
  'list.parquet': () => {
    const [header = [], ...rows] = CELLS;
    const columnData = header.map((name, at) => ({ name, data: rows.map((row) => row[at] ?? null) }));
    return Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' }));
  },
} satisfies Record<string, () => Content | Promise<Content>>;
type FixtureName = keyof typeof FIXTURES;
const NAMES = Object.keys(FIXTURES) as FixtureName[];

const WORDS = [
  'sep=;\n',
  ...wordsOf('[{ }] {"a":1} ,, "" ",'),
  '\n"',
  'website',
  'brand_status',
  'acme.com',
  'PAR1',
  'PK\x03\x04',
  '\x1f\x8b',
  '<row>',
  '<c r="XFD1"',
  ...wordsOf('</c> <v>1e309</v> t="s" t="d" r="1048577"'),
  ...['<!DOCTYPE a>', '_x0000_', '_xD800_', '&#xD800;', 's="4294967295"', '<is><t>', '<f>', 'utf-16'],
];

interface Recipe {
  readonly fixture: FixtureName;
  /** Which part of an archive the inner damage hits. */
  readonly part: number;
  readonly inner: readonly Mutation[];
  readonly outer: readonly Mutation[];
  readonly isGzip: boolean;
  readonly options: Partial<Pick<ReadingSettings, 'header' | 'skipLines' | 'limit' | 'ragged' | 'delimiter'>>;
}

const recipe: fc.Arbitrary<Recipe> = fc.record({
  fixture: fc.constantFrom(...NAMES),
  part: fc.nat({ max: 20 }),
  inner: mutations(WORDS),
  outer: fc.oneof(share(4, fc.constant([])), share(1, mutations(WORDS, 3))),
  isGzip: fc.oneof(share(6, fc.constant(false)), share(1, fc.constant(true))),
  options: fc.record(
    {
      header: fc.boolean(),
      skipLines: fc.nat({ max: 3 }),
      limit: fc.constantFrom(null, 1, 3),
      ragged: fc.constantFrom('take' as const, 'invalid'),
      delimiter: fc.constantFrom(',', ';', 'tab', '|'),
    },
    { requiredKeys: [] },
  ),
});

let folder = '';
const contents = new Map<FixtureName, Content>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'intake-fuzz-'));
  for (const name of NAMES) contents.set(name, await FIXTURES[name]());
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

/** The parts of an archive that has no compressed or encrypted surprises. */
async function partsOf(zip: Uint8Array): Promise<Readonly<Record<string, Buffer>>> {
  const { fromBufferPromise } = await import('yauzl');
  const archive = await fromBufferPromise(Buffer.from(zip), { lazyEntries: true });
  const parts: Record<string, Buffer> = {};
  for await (const entry of archive.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk);
    parts[entry.fileName] = Buffer.concat(chunks);
  }
  return parts;
}

async function fileOf({ fixture, part, inner, outer, isGzip }: Recipe): Promise<string> {
  const content = contents.get(fixture) ?? Buffer.alloc(0);
  let bytes: Buffer;
  if (Buffer.isBuffer(content)) bytes = mutate(content, inner);
  else {
    const names = Object.keys(content);
    const hit = names[part % names.length];
    const parts = Object.entries(content).map(([name, it]) => [name, name === hit ? mutate(it, inner) : it]);
    bytes = await zipOf(Object.fromEntries(parts));
  }
  const packed = isGzip ? gzipSync(bytes) : bytes;
  const path = join(folder, `${fixture}${isGzip ? '.gz' : ''}`);
  await writeFile(path, mutate(packed, outer));
  return path;
}

const MOST_MEMORY = 1_500 * 1_048_576;

/** An error of the catalogue, in words for people; anything else is a bug. */
function expectNamed(error: unknown): void {
  if (!(error instanceof BrandEnrichError)) throw error;
  expect(error.code).toMatch(/^(input|column)-|^usage-invalid$/);
  expect(error.code).not.toBe('input-changed');
  expect(error.subject.length, error.message).toBeLessThan(2_000);
}

async function readAll(input: Input): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of input.rows()) rows.push(...batch);
  return rows;
}

function expectRows(rows: readonly Row[], columns: readonly string[]): void {
  let line = 0;
  for (const [at, row] of rows.entries()) {
    expect(row.number).toBe(at + 1);
    expect(row.line).toBeGreaterThanOrEqual(line);
    line = row.line;
    if (row.problem === null) expect(row.cells.length).toBeLessThanOrEqual(columns.length);
    else expect(row.cells).toEqual([]);
  }
}

/** Nothing of the text is lost: between the raw texts of the rows is only what parts records. */
function expectText(text: string, shape: TableShape, rows: readonly Row[], limit: number | null = null) {
  const between = isJson(shape.format) ? /^[\s,[\]]*$/ : /^\s*$/;
  let at = 0;
  if (shape.rawHeader !== null) {
    // A header is as wide as its rows: it may have got delimiters.
    let header = shape.rawHeader;
    while (!text.includes(header, at) && header.endsWith(shape.delimiter)) header = header.slice(0, -1);
    const found = text.indexOf(header, at);
    // Lines above the table are counted: with a foreign delimiter a header may look like one.
    const above = text.slice(at, found);
    if (shape.leftOut?.linesAbove)
      expect(above.trimEnd().split(/\r\n?|\n/)).toHaveLength(shape.leftOut.linesAbove);
    else expect(above).toMatch(/^\s*("?sep=."?)?\s*$/i);
    at = found + header.length;
  }
  let isLoose = shape.rawHeader === null && shape.format === 'csv';
  for (const row of rows) {
    const found = text.indexOf(row.raw, at);
    expect(found, `row ${row.number} ${JSON.stringify(row.raw.slice(0, 200))}`).toBeGreaterThanOrEqual(at);
    if (!isLoose) expect(text.slice(at, found)).toMatch(between);
    at = found + row.raw.length;
    // Only the beginning of a record that is too long is kept.
    isLoose = row.problem?.code === 'large_record' || row.problem?.code === 'long_cell';
  }
  if (limit === null && !isLoose) expect(text.slice(at)).toMatch(between);
}

fuzz('a file is refused by name, or its records come back twice alike and whole', recipe, async (made) => {
  const path = await fileOf(made);
  const { options } = made;
  const full = { ...READING, ...options };
  let input: Input | null = null;
  try {
    input = await openInput(path, full, { spoolFolder: folder });
    const rows = await readAll(input);
    const { shape } = input;
    expectRows(rows, input.content().columns);
    expect(await readAll(input)).toEqual(rows);
    expect(input.content().contentHash).toMatch(/^[0-9a-f]{64}$/);
    for (const sentence of input.warnings) expect(sentence.length).toBeLessThan(2_000);
    if (isTyped(shape.format)) {
      for (const { raw, problem } of rows)
        if (problem === null) expect(Array.isArray(JSON.parse(raw))).toBe(true);
    } else if (!made.fixture.endsWith('.zip') && full.skipLines === 0) {
      const bytes = await readFile(path);
      const plain = shape.isGzip ? gunzipSync(bytes) : bytes;
      const text = iconv.decode(plain, shape.encoding, { stripBOM: true });
      expectText(text, shape, rows, options.limit);
    }
  } catch (error) {
    expectNamed(error);
  } finally {
    await input?.close();
  }
  expect(process.memoryUsage.rss()).toBeLessThan(MOST_MEMORY);
});

const format = fc.constantFrom(null, ...TABLE_FORMATS);

/** Whether an output in this format has the input's own text. */
const keepsText = (shape: TableShape, to: string) => shape.format === 'csv' && to === 'csv';

fuzz(
  'a file that is accepted can be written in every format, with a status for every record',
  fc.record({ recipe, format, isSorted: fc.boolean() }),
  async ({ recipe: made, format, isSorted }) => {
    const path = await fileOf(made);
    const target = format === null ? null : join(folder, `out.${format}`);
    const request = {
      input: path,
      stdin: null,
      stateFolder: join(folder, 'state'),
      settings: settingsWith({
        ...made.options,
        ragged: made.options.ragged ?? 'invalid',
        allowMismatch: true,
      }),
    } as const;
    const output = {
      output: target,
      format,
      fields: null,
      escapeFormulas: 'ours',
      errors: null,
      errorsInclude: ['not_found'],
      minQuality: 0.5,
      report: null,
    } as const;
    const stop = new AbortController().signal;
    await withReleasers(async (releasers) => {
      const around = { stop, onRows: () => undefined };
      const opened = await openAndScan(request, null, around, releasers).catch((error: unknown) => {
        expectNamed(error);
        return null;
      });
      if (opened === null) return;
      const { input, scan } = opened;
      const { format: ours, names } = namesOfRun(request.input, input.shape, output);
      const plan = planFor({
        ...output,
        format: ours,
        input: input.shape,
        replacedColumns: scan.chosen.ours,
        hasUnreadable: scan.counts.unreadable > 0,
        hasSurplus: scan.counts.long > 0,
        hasShort: scan.counts.short > 0,
        allColumns: scan.columns,
      });
      const renderer = createRenderer(plan);
      if (plan.format === 'xlsx' && plan.allColumns.length + columnsFor(null, 'brand_').length > 16_384)
        return;
      // From here on a run spends money: whatever was read can be written.
      const texts = [...scan.identifiers.batches()].flatMap((batch) => batch.texts);
      const brand = JSON.stringify({ name: '=A\u0001\ud800', qualityScore: 0.4, domain: 'x' });
      for (const [index, text] of texts.entries()) {
        const status = (['matched', 'not_found', 'failed', 'deferred'] as const)[index % 4] ?? 'matched';
        const view = {
          status,
          identifier: parseIdentifierText(text),
          profile: status === 'matched' ? brand : null,
          source: 'api',
          fetchedAt: Date.UTC(2026, 8, 1),
          error: status === 'failed' ? 'the service answered 500' : null,
        } as const;
        scan.answers.set(index, status, status === 'matched' ? 0.4 : null, renderer.answer(view));
      }
      const written = await writeOutput({
        scan,
        renderer,
        plan,
        names,
        isSorted,
        isComplete: true,
        reasons: new Map(),
        stdout: null,
        onRows: () => undefined,
      });
      expect(written.readBack).toBe(scan.rows.count);
      const text = await readFile(names.complete, 'latin1');
      const isWhole = !input.shape.isGzip && plan.replacedColumns.length === 0;
      if (keepsText(input.shape, plan.format) && !isSorted && isWhole) {
        let at = 0;
        for (const batch of scan.rows.records()) {
          for (const { raw, kind } of batch.map(readRow)) {
            if (kind === 'unreadable') continue;
            at = text.indexOf(Buffer.from(raw).toString('latin1'), at);
            expect(at).toBeGreaterThanOrEqual(0);
          }
        }
      }
      for (const name of [names.complete, written.errors]) if (name !== null) await rm(name, { force: true });
    });
    expect(process.memoryUsage.rss()).toBeLessThan(MOST_MEMORY);
  },
);

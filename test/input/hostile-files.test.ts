import { describe, expect, it } from 'vitest';
import { openInput } from '../../src/input/open-input.js';
import { readInProcess } from '../../src/input/reader/reading-process.js';
import { cell, HOSTILE, parquetOf, row } from '../support/hostile-files.js';
import { workbookOf, zipOf } from '../support/workbooks.js';
import { folderOfFile, intakeOptions, readContent, readHere } from './reading.js';

const LONG_NAME = 'n'.repeat(60_000);

const folder = folderOfFile();

/** What this process itself spends, in milliseconds of computing and bytes of memory. */
async function costOf(action: () => Promise<unknown>) {
  const [cpu, memory] = [process.cpuUsage(), process.memoryUsage.rss()];
  await action();
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1_000, memory: process.memoryUsage.rss() - memory };
}

async function drain(
  path: string,
  readBinary: typeof readInProcess = readHere,
): Promise<{ rows: number; invalid: number }> {
  const input = await openInput(path, ...intakeOptions(folder, { readBinary }));
  const seen = { rows: 0, invalid: 0 };
  try {
    for await (const batch of input.rows()) {
      seen.rows += batch.length;
      seen.invalid += batch.filter(({ problem }) => problem !== null).length;
      for (const { raw, problem } of batch)
        if (problem === null) expect(raw.length).toBeLessThanOrEqual(1_048_576);
        else expect(raw.length).toBeGreaterThan(0);
    }
    for (const sentence of [...input.warnings]) expect(sentence.length).toBeLessThan(1_000);
  } finally {
    await input.close();
  }
  return seen;
}

it.each(HOSTILE)('a hostile file: %s', { tags: ['long'] }, async (name, make, words) => {
  const path = await folder.write(`${name}.bin`, await make());
  let seen: unknown = null;
  const cost = await costOf(async () => {
    seen = await drain(path, readInProcess).catch((error: unknown) => error);
  });
  if (words === null) expect(seen).toMatchObject({ rows: expect.any(Number) });
  else
    expect(seen).toMatchObject({
      code: expect.stringMatching(/^input-/),
      message: expect.stringMatching(words),
    });
  if (seen instanceof Error) expect(seen.message.length).toBeLessThan(1_000);
  expect(cost.memory).toBeLessThan(500 * 1_048_576);
  expect(cost.cpuMs).toBeLessThan(20_000);
});

describe('the bounds of a workbook', () => {
  const read = async (rows: string, parts = {}) =>
    readContent(folder, await workbookOf(rows, parts), { name: 'book.xlsx' });
  const shared = (text: string) => ({ 'xl/sharedStrings.xml': `<sst><si><t>${text}</t></si></sst>` });

  it.each([
    ['inline', (text: string) => [cell(text), {}] as const],
    ['shared', (text: string) => ['<c t="s"><v>0</v></c>', shared(text)] as const],
    ['of a formula', (text: string) => [`<c t="str"><f>A1</f><v>${text}</v></c>`, {}] as const],
    ['of a number', (text: string) => [`<c><v>${text.replaceAll('x', '1')}</v></c>`, {}] as const],
  ])('a cell has at most 32,767 characters: %s', async (_how, make) => {
    const of = async (length: number) => {
      const [long, parts] = make('x'.repeat(length));
      const head = row(cell('website'), cell('note'));
      return (await read(head + row(cell('a.com'), long) + row(cell('b.com'), cell('y')), parts)).rows;
    };
    expect((await of(32_767)).map(({ problem }) => problem)).toEqual([null, null]);
    const [over, next] = await of(32_768);
    expect(over).toMatchObject({ line: 2, cells: [], problem: { code: 'long_cell', most: 32_767 } });
    expect(over?.raw).toContain('a.com');
    expect(next).toMatchObject({ line: 3, cells: ['b.com', 'y'], problem: null });
  });

  it('a row has at most 1 MiB, and a longer one comes back as invalid', async () => {
    const cells = (count: number) => Array.from({ length: count }, () => cell('x'.repeat(32_000)));
    const head = row(...Array.from({ length: 40 }, (_, at) => cell(`c${at}`)));
    const { rows } = await read(head + row(...cells(32)) + row(...cells(33)) + row(cell('b')));
    expect(rows.map(({ line, problem }) => [line, problem])).toEqual([
      [2, null],
      [3, { code: 'large_record' }],
      [4, null],
    ]);
  });

  it('escapes count as the character that they mean', async () => {
    const text = '_x0041_'.repeat(32_767);
    const { rows } = await read(row(cell('website')) + row(cell(text)));
    expect(rows[0]).toMatchObject({ cells: ['A'.repeat(32_767)], problem: null });
  });

  it('names of columns and sheets are cut in messages', async () => {
    const long = 'n'.repeat(30_000);
    const { input } = await read(row(cell(long), cell(long)) + row(cell('a.com'), cell('b')));
    const about = input.warnings.join('\n');
    expect(about).toContain(`${'n'.repeat(99)}…`);
    expect(about).not.toContain('n'.repeat(101));
  });
});

describe('a small file of many columns or row groups costs no more than its rows', () => {
  const names = Array.from({ length: 4_000 }, (_, at) => `c${at}`);

  it('a workbook whose header is wide', async () => {
    const short = row(cell('a.com')).repeat(2_000);
    const file = await workbookOf(row(cell('website'), ...names.map(cell)) + short);
    const { rows } = await readContent(folder, file, { name: 'wide.xlsx' });
    expect(rows).toHaveLength(2_000);
    for (const { cells } of rows) expect(cells).toEqual(['a.com']);
  });

  it('JSON lines, of which one has many keys', async () => {
    const first = JSON.stringify({ website: 'a.com', ...Object.fromEntries(names.map((key) => [key, 1])) });
    const { rows } = await readContent(folder, `${first}\n${'{"website":"b.com"}\n'.repeat(2_000)}`);
    expect(rows.slice(1).map(({ cells }) => cells)).toEqual(Array(2_000).fill(['b.com']));
  });

  it('a Parquet file of a row group for each row', { tags: ['long'] }, async () => {
    const website = Array.from({ length: 12_000 }, (_, at) => `c${at}.com`);
    const path = await folder.write('groups.parquet', parquetOf({ website }, 1));
    const few = await folder.write('few.parquet', parquetOf({ website: website.slice(0, 3_000) }, 1));
    const secondsOf = async (each: string) => {
      const started = performance.now();
      await drain(each);
      return performance.now() - started;
    };
    expect(await secondsOf(path)).toBeLessThan((await secondsOf(few)) * 12);
  });
});

describe('an archive', () => {
  it('inside an archive is refused: it may hold itself', async () => {
    const inner = await zipOf({ 'list.csv': 'website\na.com\n' });
    const nested = await folder.write('nested.zip', await zipOf({ 'list.csv': inner }));
    await expect(drain(nested)).rejects.toMatchObject({
      code: 'input-binary',
      message: expect.stringContaining('a ZIP archive inside a ZIP archive; unpack it once'),
    });
  });

  it('with a long name in it has it cut, and keeps its ending', async () => {
    const name = `${'n'.repeat(60_000)}.jsonl`;
    const content = await zipOf({ [name]: '{"website":"a.com"}\n{"website":\n' });
    const { input, rows } = await readContent(folder, content, { name: 'long.zip' });
    expect(rows).toHaveLength(2);
    expect(input.shape.format).toBe('jsonl');
    expect(input.name).toMatch(/long\.zip\/n{99}…\.jsonl$/);
  });

  it.each([
    ['tables of long names', () => zipOf({ [`${LONG_NAME}.csv`]: 'a', [`${LONG_NAME}.tsv`]: 'b' })],
    ['a row number that is a long text', () => workbookOf(`<row r="${LONG_NAME}">${cell('a')}</row>`)],
  ])('%s: its message is short', async (what, make) => {
    const path = await folder.write(`${what}.zip`, await make());
    const error = await drain(path).catch((error: Error) => error);
    expect(error).toMatchObject({ code: 'input-binary' });
    expect(String(error).length).toBeLessThan(1_000);
  });
});

describe('a Parquet file', () => {
  const LONG = 'x'.repeat(1_048_570);

  it('loses the rows over 1 MiB, and only these', async () => {
    const file = parquetOf({ website: ['a.com', 'b.com', 'c.com'], note: ['x', LONG, 'y'] });
    const { rows } = await readContent(folder, file, { name: 'p.parquet' });
    expect(rows.map(({ number, problem }) => [number, problem])).toEqual([
      [1, null],
      [2, { code: 'large_record' }],
      [3, null],
    ]);
    expect(rows[1]?.raw.slice(0, 20)).toBe('["b.com","xxxxxxxxxx');
  });

  it('comes back alike in long pages and in short ones', async () => {
    const website = Array.from({ length: 60_000 }, (_, at) => (at % 3 === 0 ? null : `c${at % 1_000}.com`));
    const nested = website.map((name, at) => (at % 5 === 0 ? null : [name, `${at}`]));
    const { rows } = await readContent(folder, parquetOf({ website, nested }), { name: 'p.parquet' });
    expect(rows.length).toBe(60_000);
    expect(rows.map(({ cells: [name] }) => name)).toEqual(website.map((name) => name ?? ''));
    expect(rows[59_998]?.cells[1]).toBe('["c998.com","59998"]');
  });

  it('of many columns is read when each is one long page', { tags: ['long'] }, async () => {
    const column = Array.from({ length: 200_000 }, () => 'acme.com');
    const path = await folder.write(
      'wide.parquet',
      parquetOf(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`c${at}`, column])), 200_000),
    );
    expect(await drain(path)).toEqual({ rows: 200_000, invalid: 0 });
  });
});

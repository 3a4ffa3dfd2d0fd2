/** From scanned rows and their answers to files: byte for byte, under the right names, counted. */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parse } from 'csv-parse/sync';
import type { CellValue } from 'hucre';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseIdentifierText } from '../../../src/core/identifier.js';
import type { OutcomeStatus } from '../../../src/core/outcome.js';
import type { Ragged } from '../../../src/core/table.js';
import { openInput } from '../../../src/input/open-input.js';
import { namesOfRun } from '../../../src/run/output/output-names.js';
import type { AnswerView, OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { type WriteRequest, writeOutput } from '../../../src/run/output/write-output.js';
import { wantNextCandidates } from '../../../src/run/scan/scan.js';
import { READING } from '../../input/reading.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type Scanned, scanText } from '../scanned.js';
import { expectGolden } from './golden.js';
import { planFor } from './plans.js';

const FETCHED_AT = Date.UTC(2026, 8, 1, 10, 20, 30);

/** Scores by identifier; null for a brand without a score. */
type Answered = Readonly<Record<string, number | null | Exclude<OutcomeStatus, 'matched'>>>;

type Texts = Pick<Scanned, 'scan' | 'texts'>;
/** Gives every wanted identifier its answer, wave by wave; returns why some have none. */
function answerAll({ scan, texts }: Texts, plan: OutputPlan, answered: Answered): Map<number, string> {
  const renderer = createRenderer(plan);
  const reasons = new Map<number, string>();
  for (const [index, text] of texts.entries()) {
    if (!scan.answers.isWanted(index) || scan.answers.status(index) !== null) continue;
    const identifier = parseIdentifierText(text);
    const given = answered[identifier.value] === undefined ? 'not_found' : answered[identifier.value];
    const status = typeof given === 'string' ? given : 'matched';
    const score = typeof given === 'number' ? given : null;
    const error =
      status === 'failed' ? 'the service answered 500' : status === 'deferred' ? 'not asked' : null;
    if (error !== null) reasons.set(index, error);
    const brand = {
      id: `id_${identifier.value}`,
      name: `=Brand, "${identifier.value}"`,
      qualityScore: score,
    };
    const view: AnswerView = {
      status,
      identifier,
      profile: status === 'matched' ? JSON.stringify(brand) : null,
      source: error === null ? 'api' : null,
      fetchedAt: error === null ? FETCHED_AT : null,
      error,
    };
    scan.answers.set(index, status, score, renderer.answer(view));
  }
  if (wantNextCandidates(scan) === 0) return reasons;
  return new Map([...reasons, ...answerAll({ scan, texts }, plan, answered)]);
}

async function write(
  input: string | Buffer,
  answered: Answered,
  some: {
    name?: string;
    columns?: readonly { name: string; kind: 'domain' | 'ticker' }[];
    request?: Partial<WriteRequest>;
    plan?: Partial<OutputPlan>;
    before?: (folder: string) => Promise<void>;
    copies?: number;
    ragged?: Ragged;
    nameColumn?: string;
  } = {},
) {
  const name = some.name ?? 'customers.csv';
  const columns = some.columns ?? [{ name: 'website', kind: 'domain' }];
  const scanned = await scanText(input, {
    name,
    columns,
    waterfall: columns.length > 1,
    ...(some.ragged && { ragged: some.ragged }),
    ...(some.nameColumn && { nameColumn: some.nameColumn }),
  });
  const { scan, input: opened, folder } = scanned;
  await some.before?.(folder);
  const plan = planFor({
    input: opened.shape,
    fields: ['name', 'qualityScore'],
    replacedColumns: scan.chosen.ours,
    hasUnreadable: scan.counts.unreadable > 0,
    hasSurplus: scan.counts.long > 0,
    hasShort: scan.counts.short > 0,
    matchesNames: scan.nameColumn !== null,
    allColumns: scan.columns,
    ...some.plan,
  });
  const reasons = answerAll(scanned, plan, answered);
  const naming = { output: null, format: plan.format, errors: null, report: null };
  const renderer = createRenderer(plan);
  const { names } = namesOfRun(join(folder, name), opened.shape, naming);
  const request: WriteRequest = {
    scan,
    renderer: { ...renderer, row: (...row) => renderer.row(...row).repeat(some.copies ?? 1) },
    plan,
    names,
    isSorted: true,
    isComplete: true,
    reasons,
    stdout: null,
    onRows: () => undefined,
    ...some.request,
  };
  const result = await writeOutput(request);
  return {
    folder,
    result,
    counts: scan.counts,
    text: (file: string) => readFile(join(folder, file), 'utf8'),
  };
}

async function workbook(rows: CellValue[][]): Promise<Buffer> {
  return Buffer.from(await writeXlsx({ sheets: [{ name: 'List', rows }] }));
}

async function sheetIn(folder: string, name = 'customers.enriched.xlsx') {
  return (await readXlsx(await readFile(join(folder, name)))).sheets[0];
}

const CUSTOMERS = [
  'id;website;"note; quoted"',
  '1;acme.com;12345678901234567890',
  '2;nobody.org;1.10',
  '3;localhost;"line one',
  'line two"',
  '4;best.com;=SUM(A1)',
  '5;;blank',
  '6;unscored.com;é',
  '7;ACME.com;again',
  '8;failing.com; kept ',
  '9;later.com;""',
  '10;too;many;cells',
  '',
].join('\r\n');

const ANSWERED: Answered = {
  'acme.com': 0.5,
  'best.com': 0.97,
  'unscored.com': null,
  'failing.com': 'failed',
  'later.com': 'deferred',
};

it('the output is a complete, ranked file with our columns after the user’s', async () => {
  const { result, text } = await write(CUSTOMERS, ANSWERED);
  await expectGolden('customers.enriched.csv', await text('customers.enriched.csv'));
  await expectGolden('customers.errors.csv', await text('customers.errors.csv'));
  expect(result.counts).toEqual({ matched: 4, not_found: 1, failed: 1, invalid: 2, skipped: 1, deferred: 1 });
  expect(result.readBack).toBe(10);
});

it('an unsorted output keeps the order of the input', async () => {
  const { text } = await write(CUSTOMERS, ANSWERED, { request: { isSorted: false } });
  await expectGolden('customers.unsorted.csv', await text('customers.enriched.csv'));
});

const RAGGED =
  'id,website,city\n1,acme.com\n2,"acme.com",Berlin,,""\n3\n4,best.com,Rome\n5,failing.com\n6,"x\n';

it('our cells are under our headers, whatever is missing or surplus at the end of a row', async () => {
  const { result, text } = await write(RAGGED, ANSWERED, { ragged: 'take' });
  await expectGolden('ragged.enriched.csv', await text('customers.enriched.csv'));
  await expectGolden('ragged.errors.csv', await text('customers.errors.csv'));
  expect(result.readBack).toBe(6);
});

it('JSON lines made from such rows have the right members', async () => {
  const { text } = await write(RAGGED, ANSWERED, { plan: { format: 'jsonl' }, ragged: 'take' });
  await expectGolden('ragged.enriched.jsonl', await text('customers.enriched.jsonl'));
});

it.each(['csv', 'jsonl'] as const)(
  'unreadable rows keep their text and reason, run after run: %s',
  async (format) => {
    const text = RAGGED.replace('4,', '7,failing.com,Bonn\n4,');
    const first = await write(text, ANSWERED, { plan: { format } });
    expect(first.result.counts).toMatchObject({ matched: 1, failed: 1, invalid: 5 });
    for (const kind of ['enriched', 'errors']) {
      const name = `customers.${kind}.${format}`;
      let content = await first.text(name);
      for (const other of ['jsonl', 'csv'] as const) {
        const again = await write(content, ANSWERED, { name: `again.${format}`, plan: { format: other } });
        expect(again.result.counts.invalid).toBe(5);
        expect(again.counts).toMatchObject({ invalid: 5, unreadable: 0 });
        content = await again.text(`again.${kind === 'errors' ? 'errors' : 'enriched'}.${other}`);
        expect(content).toContain('line 3: 5 cells instead of 3');
        expect(content).toContain('line 8: a quoted cell is never closed');
        expect(content.includes('Berlin,,')).toBe(true);
        if (format !== other) break;
      }
    }
  },
);

it('JSON lines get one key', async () => {
  const lines = [
    '{"website":"acme.com","big":12345678901234567890,"n":1.10}',
    '{"website":"best.com"}',
    'not json',
    '{"website":"failing.com"}',
  ];
  const { text } = await write(`${lines.join('\n')}\n`, ANSWERED, { name: 'customers.jsonl' });
  await expectGolden('customers.enriched.jsonl', await text('customers.enriched.jsonl'));
  await expectGolden('customers.errors.jsonl', await text('customers.errors.jsonl'));
});

it('a row uses the first of several candidates with an outcome', async () => {
  const input = 'website,ticker\nnobody.org,ACME\nacme.com,BEST\nnobody.org,NONE\n,BEST\nfailing.com,BEST\n';
  const columns = [
    { name: 'website', kind: 'domain' },
    { name: 'ticker', kind: 'ticker' },
  ] as const;
  const answered = { ...ANSWERED, ACME: 0.3, BEST: 0.9, NONE: 'not_found' } as const;
  const { text } = await write(input, answered, { columns });
  await expectGolden('waterfall.enriched.csv', await text('customers.enriched.csv'));
});

it('any number of ties keep the order of the input', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => `${at},b${at % 3_000}.com,${'x'.repeat(at % 300)}`);
  const rank = (id: number) => ((id % 3_000) % 7 === 0 ? -1 : ((id % 3_000) % 10) / 10);
  const scores = Array.from({ length: 3_000 }, (_, at) => [`b${at}.com`, rank(at)] as const);
  const answered = Object.fromEntries(scores.filter(([, score]) => score >= 0));
  const { result, text } = await write(`id,website,pad\n${rows.join('\n')}\n`, answered);
  const lines = (await text('customers.enriched.csv')).trimEnd().split('\n').slice(1);
  const ids = lines.map((line) => Number(line.split(',', 1)[0]));
  const expected = rows.map((_, id) => id).sort((a, b) => rank(b) - rank(a) || a - b);
  expect(ids).toEqual(expected);
  expect(result.readBack).toBe(10_000);
});

it('the order distinguishes scores that differ in their last bit', async () => {
  const scores = { 'a.com': 0.1, 'b.com': 0.1 + 2 ** -56, 'c.com': 0.1 - 2 ** -56, 'd.com': 0 };
  const { text } = await write(`website\n${Object.keys(scores).join('\n')}\nx.com\n`, scores);
  const sites = (await text('customers.enriched.csv')).trimEnd().split('\n').slice(1);
  expect(sites.map((line) => line[0]).join('')).toBe('bacdx');
});

it('later rows of an identifier name its first row', async () => {
  const { text } = await write('website\nacme.com\nAcme.com\n', ANSWERED, { plan: { fields: null } });
  const rows = parse(await text('customers.enriched.csv'), { columns: true });
  expect(rows).toMatchObject([{ brand_duplicate_of: '' }, { brand_duplicate_of: '1' }]);
});

describe('writing', () => {
  it('gives an incomplete result a name of its own, and keeps an older complete file', async () => {
    const { folder, result, text } = await write(CUSTOMERS, ANSWERED, {
      request: { isComplete: false },
      before: (at) => writeFile(join(at, 'customers.enriched.csv'), 'of yesterday'),
    });
    expect(result.output).toBe(join(folder, 'customers.enriched.partial.csv'));
    expect(await text('customers.enriched.csv')).toBe('of yesterday');
    expect(await text('customers.enriched.partial.csv')).toContain('deferred');
  });

  it('gives a miscounted result no name', async () => {
    const folders: string[] = [];
    const before = async (at: string) => void folders.push(at);
    await expect(write(CUSTOMERS, ANSWERED, { before, copies: 2 })).rejects.toThrow(/records/);
    expect(await readdir(folders[0] ?? '')).toEqual(['customers.csv']);
  });

  it('removes a partial file and an errors file of an earlier run that this one does not need', async () => {
    const { folder, result } = await write('website\nacme.com\n', ANSWERED, {
      async before(at) {
        for (const kind of ['enriched.partial', 'errors'])
          await writeFile(join(at, `customers.${kind}.csv`), 'of yesterday');
      },
    });
    expect(result.errors).toBeNull();
    expect((await readdir(folder)).sort()).toEqual(['customers.csv', 'customers.enriched.csv']);
  });

  it('leaves a pipe at its path, though it has no rows', async () => {
    const before = async (at: string) => {
      const pipe = join(at, 'customers.errors.csv');
      execFileSync('mkfifo', [pipe]);
      // So that opening it to write does not wait.
      const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      onTestFinished(() => reader.close());
    };
    const { folder } = await write('website\nacme.com\n', ANSWERED, { before });
    expect(await readdir(folder)).toContain('customers.errors.csv');
  });

  it('begins with a byte order mark if the input does, or is a CSV in another encoding', async () => {
    const text = 'id,website,city\n1,acme.com,München\n';
    const first = async (bytes: Buffer) => {
      const { text: written } = await write(bytes, ANSWERED);
      return (await written('customers.enriched.csv')).slice(0, 3);
    };
    expect(await first(Buffer.from(text, 'latin1'))).toBe('\ufeffid');
    expect(await first(Buffer.from(`\ufeff${text}`))).toBe('\ufeffid');
    expect(await first(Buffer.from(text))).toBe('id,');
  });

  it('keeps the files of an earlier run when writing fails', async () => {
    let folder = '';
    const before = async (at: string) => {
      folder = at;
      for (const kind of ['enriched', 'errors']) await writeFile(join(at, `customers.${kind}.csv`), kind);
    };
    const onRows = () => {
      throw new Error('the disk is full');
    };
    await expect(write(CUSTOMERS, ANSWERED, { before, request: { onRows } })).rejects.toThrow('is full');
    for (const kind of ['enriched', 'errors'])
      expect(await readFile(join(folder, `customers.${kind}.csv`), 'utf8')).toBe(kind);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

it('the errors file is input for the next run, with the user’s rows unchanged', async () => {
  const { text } = await write(CUSTOMERS, ANSWERED);
  const { scan, texts } = await scanText(await text('customers.errors.csv'), {
    columns: [{ name: 'website', kind: 'domain' }],
  });
  expect(texts).toEqual(['domain:failing.com', 'domain:later.com']);
  expect(scan.counts).toMatchObject({ asked: 2, unreadable: 0 });
});

it('the output is input for the next run, and the same again for the same answers', async () => {
  const first = await write(CUSTOMERS, ANSWERED);
  const enriched = await first.text('customers.enriched.csv');
  const same = await write(enriched, ANSWERED);
  expect(await same.text('customers.enriched.csv')).toBe(enriched);
  const better = await write(enriched, { ...ANSWERED, 'failing.com': 0.1, 'later.com': 0.2 });
  expect(better.result.counts).toMatchObject({ matched: 6, failed: 0, deferred: 0 });
});

it('standard output is written on request, and not read back', async () => {
  const stdout = new PassThrough();
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const none = { changes: null, differences: null, partialDifferences: null };
  const names = { complete: '-', partial: '-', report: '', reportHtml: '', gzip: false, ...none };
  const { result } = await write('website\nacme.com\n', ANSWERED, {
    request: { stdout, names: { ...names, errors: join(await temporaryFolder(), 'errors.csv') } },
  });
  expect(Buffer.concat(chunks).toString()).toContain('acme.com');
  expect(result).toMatchObject({ output: '-', readBack: null });
});

describe('formats other than lines of text', () => {
  it('a JSON array comes back as an array, each element unchanged with our key', async () => {
    const rows = ['{"n":1.10,\n  "website":"acme.com"}', '7', '{"website":"best.com"}'];
    const { result, text } = await write(`[\n${rows.join(',\n')}\n]`, ANSWERED, { name: 'customers.json' });
    const written = await text('customers.enriched.json');
    expect(JSON.parse(written)).toMatchObject([
      { website: 'best.com', brand: { status: 'matched' } },
      { n: 1.1, website: 'acme.com', brand: { status: 'matched' } },
      { brand: { status: 'invalid', raw: '7' } },
    ]);
    expect(written).toContain('{"n":1.10,\n  "website":"acme.com","brand":{');
    expect(JSON.parse(await text('customers.errors.json'))).toHaveLength(1);
    expect(result.readBack).toBe(3);
    const again = await write(written, ANSWERED, { name: 'customers.json' });
    expect(await again.text('customers.enriched.json')).toBe(written);
  });

  it('an array in an object comes back in that object, and a list of texts as objects', async () => {
    const around = (rows: string) => `{"page": 1,\n "data": {"items": [${rows}], "next": null}}\n`;
    const text = around('{"website":"acme.com"}, {"website":"best.com"}');
    const { result, text: read } = await write(text, ANSWERED, { name: 'customers.json' });
    const written = await read('customers.enriched.json');
    expect(written.startsWith('{"page": 1,\n "data": {"items": [')).toBe(true);
    const { page, data } = JSON.parse(written);
    expect({ page, next: data.next }).toEqual({ page: 1, next: null });
    expect(data.items).toMatchObject([
      { website: 'best.com', brand: { status: 'matched' } },
      { website: 'acme.com', brand: { status: 'matched' } },
    ]);
    expect(result.readBack).toBe(2);
    const again = await write(written, ANSWERED, { name: 'customers.json' });
    expect(await again.text('customers.enriched.json')).toBe(written);

    const list = await write('["acme.com", 7]', ANSWERED, {
      name: 'customers.json',
      columns: [{ name: 'column_1', kind: 'domain' }],
    });
    expect(JSON.parse(await list.text('customers.enriched.json'))).toMatchObject([
      { column_1: 'acme.com', brand: { status: 'matched' } },
      { column_1: 7, brand: { status: 'invalid' } },
    ]);
  });

  it('an object of objects comes back as an array with their names, and inner objects untouched', async () => {
    const members =
      '"a": {"company": {"website":"acme.com", "n":1.10}}, "b" : {"company":{"website":"best.com"}}';
    const columns = [{ name: 'company.website', kind: 'domain' as const }];
    const input = `{"page":1,"data":{${members}}}`;
    const { result, text } = await write(input, ANSWERED, { name: 'customers.json', columns });
    const written = await text('customers.enriched.json');
    expect(JSON.parse(written)).toMatchObject({
      page: 1,
      data: [
        { _key: 'b', company: { website: 'best.com' }, brand: { status: 'matched' } },
        { _key: 'a', company: { website: 'acme.com' }, brand: { status: 'matched' } },
      ],
    });
    expect(written).toContain('{"_key":"a","company": {"website":"acme.com", "n":1.10},"brand":{');
    expect(result.readBack).toBe(2);
    // The result is input again, and nothing under our key is read.
    const again = await write(written, ANSWERED, { name: 'customers.json', columns: [] });
    const second = JSON.parse(await again.text('customers.enriched.json'));
    for (const row of second.data) expect(Object.keys(row)).toEqual(['_key', 'company', 'brand']);
    const asCsv = { name: 'customers.json', columns, plan: { format: 'csv' as const } };
    const table = await write(written, ANSWERED, asCsv);
    expect((await table.text('customers.enriched.csv')).split(',brand_', 1)).toEqual(['_key,company']);
  });

  it('an array as JSON lines, and lines as an array', async () => {
    const lines = await write('[{"a":1,\n"website":"acme.com"}]', ANSWERED, {
      name: 'customers.json',
      plan: { format: 'jsonl' },
    });
    expect(await lines.text('customers.enriched.jsonl')).toMatch(
      /^\{"a":1,"website":"acme.com","brand":.*\}\n$/,
    );
    const toJson = { name: 'customers.jsonl', plan: { format: 'json' } } as const;
    const array = await write('{"website":"acme.com"}\n', {}, toJson);
    expect(JSON.parse(await array.text('customers.enriched.json'))).toHaveLength(1);
    expect(array.result.readBack).toBe(1);
    const empty = await write('website\n', {}, { plan: { format: 'json' } });
    expect(await empty.text('customers.enriched.json')).toBe('[]\n');
  });

  it('a workbook comes back ranked, with an errors file and without invented cells', async () => {
    const book = await workbook([
      ['id', 'website', 'since'],
      [1, 'acme.com', new Date('2024-01-15T00:00:00Z')],
      ['007', 'best.com', null],
      [3, 'localhost', true],
    ]);
    const { folder, result } = await write(book, ANSWERED, { name: 'customers.xlsx' });
    expect(result.readBack).toBe(3);
    const sheet = await sheetIn(folder);
    expect(sheet?.name).toBe('List');
    expect(sheet?.rows.map((cells) => cells.slice(0, 4))).toEqual([
      ['id', 'website', 'since', 'brand_status'],
      ['007', 'best.com', null, 'matched'],
      [1, 'acme.com', new Date('2024-01-15T00:00:00Z'), 'matched'],
      [3, 'localhost', true, 'invalid'],
    ]);
    expect((await sheetIn(folder, 'customers.errors.xlsx'))?.rows).toHaveLength(2);
    const enriched = await readFile(join(folder, 'customers.enriched.xlsx'));
    const again = await write(enriched, ANSWERED, { name: 'customers.xlsx' });
    expect(await sheetIn(again.folder)).toEqual(sheet);
  });
});

describe('more rows in the errors file', () => {
  const rows = 'website\nacme.com\nnobody.org\nbest.com\nunscored.com\nlocalhost\n';

  it('are those not found, with --errors-include', async () => {
    const { text, result } = await write(rows, ANSWERED, { plan: { errorsInclude: ['not_found'] } });
    expect(parse(await text('customers.errors.csv'), { columns: true })).toMatchObject([
      { website: 'nobody.org', brand_status: 'not_found', brand_identifier: 'nobody.org', brand_error: '' },
      { website: 'localhost', brand_status: 'invalid' },
    ]);
    expect(result.counts).toMatchObject({ not_found: 1, matched: 3 });
  });

  it('are brands of low quality, which are marked and stay in the output', async () => {
    const { text, result } = await write(rows, ANSWERED, { plan: { minQuality: 0.6 } });
    const reason = 'quality score 0.5 is below 0.6: probably not a real brand';
    const all: Record<string, string>[] = parse(await text('customers.enriched.csv'), { columns: true });
    expect(all.map((row) => [row.website, row.brand_status, row.brand_error])).toEqual([
      ['best.com', 'matched', ''],
      ['acme.com', 'matched', reason],
      ['unscored.com', 'matched', ''],
      ['nobody.org', 'not_found', ''],
      ['localhost', 'invalid', expect.any(String)],
    ]);
    expect(parse(await text('customers.errors.csv'), { columns: true })).toMatchObject([
      { website: 'acme.com', brand_status: 'matched', brand_error: reason },
      { website: 'localhost' },
    ]);
    expect(result.readBack).toBe(5);
  });
});

describe('names of the list', () => {
  const rows =
    'website,company\nacme.com,"Brand ""acme.com"" GmbH"\nACME.com,Elsewhere\nbest.com,\nnobody.org,Nobody\ntoo,many,cells\n';
  const nameColumn = 'company';
  const LOW = {
    website: 'ACME.com',
    brand_status: 'matched',
    brand_name_match: expect.stringMatching(/^0\.[0-6]/),
    brand_error: expect.stringMatching(
      /^the brand is called "=Brand, "acme.com"" \(name match 0\.[0-6]\d?, below/,
    ),
  };

  it.each<[string[] | null, number]>([
    [null, 24],
    [['name'], 5],
  ])('are compared row by row with the brand, low ones are errors too: fields %j', async (fields, at) => {
    const { text, result } = await write(rows, ANSWERED, { nameColumn, plan: { fields } });
    const [header = [], ...all] = parse(await text('customers.enriched.csv'));
    expect(header.indexOf('brand_name_match')).toBe(at);
    expect(header.indexOf('brand_fetched_at')).toBe(at + 1);
    const matches = all.map((row) => [row[0], row[at], row[header.indexOf('brand_status')]]);
    expect(matches).toEqual([
      ['best.com', '', 'matched'],
      ['acme.com', '1', 'matched'],
      ['ACME.com', LOW.brand_name_match, 'matched'],
      ['nobody.org', '', 'not_found'],
      ['', '', 'invalid'],
    ]);
    const errors = parse(await text('customers.errors.csv'), { columns: true });
    expect(errors).toMatchObject([LOW, { brand_status: 'invalid' }]);
    expect(result).toMatchObject({ names: { compared: 2, low: 1 }, readBack: 5 });
  });

  it('are compared in JSON under our key', async () => {
    const lines =
      '{"website":"acme.com","company":"Brand acme.com"}\n{"website":"nobody.org","company":"Nobody"}\nbroken\n';
    const { text } = await write(lines, ANSWERED, { name: 'customers.jsonl', nameColumn });
    const written = (await text('customers.enriched.jsonl')).trim().split('\n');
    expect(written.map((line) => JSON.parse(line).brand.nameMatch as unknown)).toEqual([1, null, null]);
  });

  it('are compared in workbooks and Parquet, as numbers', async () => {
    const book = await workbook([
      ['website', 'company'],
      ['acme.com', 'Brand acme.com'],
      ['best.com', 'Elsewhere'],
      ['nobody.org', 'Nobody'],
    ]);
    const { folder } = await write(book, ANSWERED, { name: 'customers.xlsx', nameColumn });
    const [header = [], ...all] = (await sheetIn(folder))?.rows ?? [];
    const at = header.indexOf('brand_name_match');
    expect(all.map((row) => [row[0], row[at]])).toEqual([
      ['best.com', expect.any(Number)],
      ['acme.com', 1],
      ['nobody.org', null],
    ]);
    const parquet = await write(rows, ANSWERED, { nameColumn, plan: { format: 'parquet', fields: null } });
    const opening = { spoolFolder: parquet.folder };
    const read = await openInput(join(parquet.folder, 'customers.enriched.parquet'), READING, opening);
    const place = read.shape.columns.indexOf('brand_name_match');
    expect(read.sample.map((cells) => cells[place])).toEqual(['', '1', LOW.brand_name_match, '', '']);
    await read.close();
  });
});

describe('the first rows without a brand', () => {
  it('have their lines, what was asked, and the reason', async () => {
    const { result } = await write(CUSTOMERS, ANSWERED);
    expect(result.listed).toEqual({
      not_found: [{ line: 3, value: 'nobody.org', reason: 'the service has no such brand, or withholds it' }],
      failed: [{ line: 10, value: 'failing.com', reason: 'the service answered 500' }],
    });
  });

  it('are at most a hundred of each, cut where they are long', async () => {
    const domains = Array.from({ length: 300 }, (_, at) => `b${at}.com`);
    const outcomes = domains.map((domain, at) => [domain, at % 2 ? 'failed' : 'not_found'] as const);
    const { result } = await write(`website\n${domains.join('\n')}\n`, Object.fromEntries(outcomes));
    expect(result.counts).toMatchObject({ not_found: 150, failed: 150 });
    expect(result.listed.failed).toHaveLength(100);
    const lines = result.listed.not_found.map(({ line }) => line);
    expect(lines).toEqual(Array.from({ length: 100 }, (_, at) => 2 * at + 2));
  });
});

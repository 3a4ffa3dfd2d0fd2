import { describe, expect, it } from 'vitest';
import type { TableFormat } from '../../../src/core/table.js';
import { namesOfRun, writeFailure } from '../../../src/run/output/output-names.js';
import type { Settings } from '../../../src/settings/settings.js';

interface Naming extends Partial<Pick<Settings, 'output' | 'format' | 'errors' | 'report'>> {
  readonly input?: string;
  readonly isGzip?: boolean;
  readonly inputFormat?: TableFormat;
  readonly rawHeader?: string | null;
}

function namesOf({
  input = 'customers.csv',
  isGzip = false,
  inputFormat = 'csv',
  rawHeader = 'website',
  ...asked
}: Naming) {
  const settings = { output: null, format: null, errors: null, report: null, ...asked };
  return namesOfRun(input, { isGzip, format: inputFormat, rawHeader }, settings).names;
}

it('says how a file could be written as its reader names settings', () => {
  const error = writeFailure('out.csv', Object.assign(new Error('read-only'), { code: 'EROFS' }));
  expect([error.todo, error.inWords('keys').todo]).toEqual([
    'the file system is read-only: choose another place with -o',
    'the file system is read-only: choose another place with output',
  ]);
});

describe('the names of a run', () => {
  it.each<[Naming, string]>([
    [{ input: 'c.xlsx', inputFormat: 'xlsx', format: 'xlsx' }, 'c.enriched.xlsx'],
    [{ input: 'c.xlsx', inputFormat: 'xlsx', format: 'csv' }, 'c.enriched.csv'],
    [{ input: 'c.csv.gz', isGzip: true, format: 'xlsx' }, 'c.enriched.xlsx'],
    [{ input: 'c.xlsm', inputFormat: 'xlsx', format: 'xlsx' }, 'c.enriched.xlsx'],
    [{ input: 'c.csv', inputFormat: 'parquet', format: 'parquet' }, 'c.enriched.parquet'],
    [{ input: 'c.zip' }, 'c.enriched.csv'],
    [{ input: 'c.txt' }, 'c.enriched.txt'],
    [{ input: 'c.txt', rawHeader: null }, 'c.enriched.csv'],
    [{ input: 'c.zip', inputFormat: 'json', format: 'json' }, 'c.enriched.json'],
  ])('of another format: %j gives %s', (options, complete) => {
    expect(namesOf(options)).toMatchObject({ complete, gzip: complete.endsWith('.gz') });
  });

  it.each<[Naming, string]>([
    [{ format: 'xlsx', output: 'o.xlsx.gz' }, 'xlsx files are already compressed: -o o.xlsx.gz; omit .gz'],
    [{ output: 'o.parquet.gz' }, 'omit .gz'],
    [{ output: 'o.zip' }, 'a name that ends in .zip is not that of a csv file: -o o.zip; end it in .csv'],
    [{ output: 'O.XLS' }, 'end it in .csv'],
    [{ format: 'xlsx', output: 'o.xlsm' }, 'end it in .xlsx'],
    [{ format: 'csv', output: 'o.xlsx' }, 'end it in .csv'],
    [{ format: 'parquet', output: 'o.jsonl' }, 'end it in .parquet'],
  ])('programs must be able to open the output: %j is refused', (options, words) => {
    expect(() => namesOf(options)).toThrow(words);
  });

  it.each<Naming>([
    { format: 'jsonl', output: 'o.json' },
    { format: 'csv', output: 'o.txt' },
    { format: 'xlsx', output: 'o' },
    { output: 'o.dat.gz' },
  ])('a name that people choose for text, or without an ending, is theirs: %j', (options) => {
    expect(namesOf(options).complete).toBe(options.output);
  });

  it.each<[Naming, string[]]>([
    [
      {},
      [
        'customers.enriched.csv',
        'customers.enriched.partial.csv',
        'customers.errors.csv',
        'customers.report.json',
      ],
    ],
    [{ output: 'out.csv' }, ['out.csv', 'out.partial.csv', 'out.errors.csv', 'out.report.json']],
    [
      { input: '/data/v1.2/a.b.tsv' },
      [
        '/data/v1.2/a.b.enriched.tsv',
        '/data/v1.2/a.b.enriched.partial.tsv',
        '/data/v1.2/a.b.errors.tsv',
        '/data/v1.2/a.b.report.json',
      ],
    ],
    [
      { input: 'c.csv.gz', isGzip: true },
      ['c.enriched.csv.gz', 'c.enriched.partial.csv.gz', 'c.errors.csv.gz', 'c.report.json'],
    ],
    [
      { input: 'c.csv', isGzip: true },
      ['c.enriched.csv.gz', 'c.enriched.partial.csv.gz', 'c.errors.csv.gz', 'c.report.json'],
    ],
    [
      { input: 'c.csv.gz', isGzip: true, output: 'o.csv' },
      ['o.csv', 'o.partial.csv', 'o.errors.csv', 'o.report.json'],
    ],
    [{ output: 'd/o.csv.gz' }, ['d/o.csv.gz', 'd/o.partial.csv.gz', 'd/o.errors.csv.gz', 'd/o.report.json']],
    [
      { format: 'jsonl' },
      [
        'customers.enriched.jsonl',
        'customers.enriched.partial.jsonl',
        'customers.errors.jsonl',
        'customers.report.json',
      ],
    ],
    [
      { input: 'x.ndjson', inputFormat: 'jsonl', format: 'jsonl' },
      ['x.enriched.ndjson', 'x.enriched.partial.ndjson', 'x.errors.ndjson', 'x.report.json'],
    ],
    [
      { input: 'list' },
      ['list.enriched.csv', 'list.enriched.partial.csv', 'list.errors.csv', 'list.report.json'],
    ],
    [
      { input: '.list' },
      ['.list.enriched.csv', '.list.enriched.partial.csv', '.list.errors.csv', '.list.report.json'],
    ],
    [{ input: './a.csv' }, ['a.enriched.csv', 'a.enriched.partial.csv', 'a.errors.csv', 'a.report.json']],
    [
      { input: '../a.csv' },
      ['../a.enriched.csv', '../a.enriched.partial.csv', '../a.errors.csv', '../a.report.json'],
    ],
    [{ output: 'out' }, ['out', 'out.partial', 'out.errors', 'out.report.json']],
    [
      { input: '-' },
      ['stdin.enriched.csv', 'stdin.enriched.partial.csv', 'stdin.errors.csv', 'stdin.report.json'],
    ],
    [{ output: '-' }, ['-', '-', 'customers.errors.csv', 'customers.report.json']],
    [{ input: '-', output: '-' }, ['-', '-', 'stdin.errors.csv', 'stdin.report.json']],
    [{ output: '/dev/fd/63' }, ['/dev/fd/63', '/dev/fd/63', 'customers.errors.csv', 'customers.report.json']],
    [
      { errors: 'bad.csv', report: 'r.json' },
      ['customers.enriched.csv', 'customers.enriched.partial.csv', 'bad.csv', 'r.json'],
    ],
  ])('for %j', (changes, expected) => {
    const { complete, partial, errors, report } = namesOf(changes);
    expect([complete, partial, errors, report]).toEqual(expected);
  });

  it('compresses by the name of the input or by the given name, and never a pipe', () => {
    expect(namesOf({ isGzip: true }).gzip).toBe(true);
    expect(namesOf({ isGzip: true, output: 'o.csv' }).gzip).toBe(false);
    expect(namesOf({ output: 'o.csv.gz' }).gzip).toBe(true);
    expect(namesOf({ isGzip: true, output: '-' }).gzip).toBe(false);
  });

  it('puts the HTML report beside the JSON one', () => {
    expect(namesOf({}).reportHtml).toBe('customers.report.html');
    expect(namesOf({ report: 'd/r' }).reportHtml).toBe('d/r.html');
  });
});

describe('the name of the output', () => {
  it.each([
    ['a.csv', 'csv'],
    ['a.TSV', 'csv'],
    ['a.jsonl.gz', 'jsonl'],
    ['dir.csv/a.ndjson', 'jsonl'],
    ['a.txt', 'json'],
    ['a', 'json'],
    ['-', 'json'],
  ])('%s, for an input in JSON, implies %s', (output, format) => {
    const settings = { output, format: null, errors: null, report: null };
    expect(namesOfRun('a.json', { isGzip: false, format: 'json', rawHeader: null }, settings).format).toBe(
      format,
    );
  });
});

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

const besides = (stem: string, ending: string) => ({
  errors: `${stem}.errors${ending}`,
  report: `${stem}.report.json`,
});

it('the advice on a file that cannot be written names settings as its reader does', () => {
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
    [{ output: 'o.zip' }, 'the name ends in .zip, but the format is csv: -o o.zip; end it in .csv'],
    [{ output: 'O.XLS' }, 'end it in .csv'],
    [{ format: 'xlsx', output: 'o.xlsm' }, 'end it in .xlsx'],
    [{ format: 'csv', output: 'o.xlsx' }, 'end it in .csv'],
    [{ format: 'parquet', output: 'o.jsonl' }, 'end it in .parquet'],
  ])('an output that programs could not open is refused: %j', (options, words) => {
    expect(() => namesOf(options)).toThrow(words);
  });

  it.each<Naming>([
    { format: 'jsonl', output: 'o.json' },
    { format: 'csv', output: 'o.txt' },
    { format: 'xlsx', output: 'o' },
    { output: 'o.dat.gz' },
  ])('are kept for text, or without an ending: %j', (options) => {
    expect(namesOf(options).complete).toBe(options.output);
  });

  it.each<[Naming, stem: string, ending: string]>([
    [{}, 'customers', '.csv'],
    [{ input: '/data/v1.2/a.b.tsv' }, '/data/v1.2/a.b', '.tsv'],
    [{ input: 'c.csv.gz', isGzip: true }, 'c', '.csv.gz'],
    [{ input: 'c.csv', isGzip: true }, 'c', '.csv.gz'],
    [{ format: 'jsonl' }, 'customers', '.jsonl'],
    [{ input: 'x.ndjson', inputFormat: 'jsonl', format: 'jsonl' }, 'x', '.ndjson'],
    [{ input: 'list' }, 'list', '.csv'],
    [{ input: '.list' }, '.list', '.csv'],
    [{ input: './a.csv' }, 'a', '.csv'],
    [{ input: '../a.csv' }, '../a', '.csv'],
    [{ input: '-' }, 'stdin', '.csv'],
  ])('follow the input, for %j', (changes, stem, ending) => {
    const output = { complete: `${stem}.enriched${ending}`, partial: `${stem}.enriched.partial${ending}` };
    expect(namesOf(changes)).toMatchObject({ ...output, ...besides(stem, ending) });
  });

  it.each<[Naming & { output: string }, stem: string, ending: string]>([
    [{ output: 'out.csv' }, 'out', '.csv'],
    [{ input: 'c.csv.gz', isGzip: true, output: 'o.csv' }, 'o', '.csv'],
    [{ output: 'd/o.csv.gz' }, 'd/o', '.csv.gz'],
    [{ output: 'out' }, 'out', ''],
  ])('follow the requested output: %j', (changes, stem, ending) => {
    const output = { complete: changes.output, partial: `${stem}.partial${ending}` };
    expect(namesOf(changes)).toMatchObject({ ...output, ...besides(stem, ending) });
  });

  it.each<[Naming & { output: string }, stem: string]>([
    [{ output: '-' }, 'customers'],
    [{ input: '-', output: '-' }, 'stdin'],
    [{ output: '/dev/fd/63' }, 'customers'],
  ])('follow the input beside an output that is a stream: %j', (changes, stem) => {
    const output = { complete: changes.output, partial: changes.output };
    expect(namesOf(changes)).toMatchObject({ ...output, ...besides(stem, '.csv') });
  });

  it('can be set one by one', () => {
    const named = { errors: 'bad.csv', report: 'r.json' };
    expect(namesOf(named)).toMatchObject({ complete: 'customers.enriched.csv', ...named });
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

it.each([
  ['a.csv', 'csv'],
  ['a.TSV', 'csv'],
  ['a.jsonl.gz', 'jsonl'],
  ['dir.csv/a.ndjson', 'jsonl'],
  ['a.txt', 'json'],
  ['a', 'json'],
  ['-', 'json'],
])('the name of the output: %s, for an input in JSON, implies %s', (output, format) => {
  const settings = { output, format: null, errors: null, report: null };
  const shape = { isGzip: false, format: 'json', rawHeader: null } as const;
  expect(namesOfRun('a.json', shape, settings).format).toBe(format);
});

/** Files of one shape each, of any size; most hold few rows, so that a run buys next to nothing. */
import { gzipSync } from 'node:zlib';
import { generatedDomain } from '../local-service/generate-keys.js';
import { parquetOf } from '../support/hostile-files.ts';
import { OFFICE, workbookOf, zipOf } from '../support/workbooks.ts';

/** A domain that local services of benchmarks know. */
const KNOWN = generatedDomain(0);

export interface Shape {
  readonly file: string;
  /** The size at which planning takes about 0.3 s of CPU time beyond the start, or the most. */
  readonly size: number;
  readonly make: (size: number) => string | Buffer | Promise<string | Buffer>;
}

const many = (count: number, part: (at: number) => string, between = ',') =>
  Array.from({ length: count }, (_, at) => part(at)).join(between);
/** A record has at most 1 MiB, so several of half as much take the time. A short one is first. */
const ROWS = 10;
const csvOf = (text: string) => `website,note\n${KNOWN},\n${`${KNOWN},${text}\n`.repeat(ROWS)}`;
const jsonlOf = (text: string) =>
  `{"website":"${KNOWN}"}\n${`{"website":"${KNOWN}","note":${text}}\n`.repeat(ROWS)}`;
const cellsOf = (text: string) => `website\n${KNOWN}\n${`${text}\n`.repeat(ROWS)}`;
const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
const row = (cells: string) => `<row>${cells}</row>`;
const sheets = (count: number) =>
  many(count, (at) => `<sheet name="S${at}" sheetId="${at + 1}" r:id="r0"/>`, '');

const ALL: Readonly<Record<string, Shape>> = {
  'deep objects, packed': { file: 'a.json.gz', size: 1_000_000, make: (n) => gzipSync('{"a":'.repeat(n)) },
  'deep arrays': { file: 'a.json', size: 1_000_000, make: (n) => '['.repeat(n) },
  'deep values': { file: 'a.jsonl', size: 60_000, make: (n) => jsonlOf('['.repeat(n) + ']'.repeat(n)) },
  'wide rows': {
    file: 'a.csv',
    size: 2_000,
    make: (n) =>
      `website,${many(n, (at) => `q${at} how satisfied`)}\n${`${KNOWN},${many(n, () => 'yes')}\n`.repeat(20)}`,
  },
  'wide rows in capitals': {
    file: 'a.tsv',
    size: 2_000,
    make: (n) =>
      `${many(n, (at) => `COL_${at}_SECURITY`, '\t')}\n${`${many(n, (at) => `AB${at}`, '\t')}\n`.repeat(20)}`,
  },
  'empty columns': {
    file: 'a.tsv',
    size: 2_000,
    make: (n) => `website\n${`${KNOWN}${'\t'.repeat(n)}\n`.repeat(ROWS)}`,
  },
  'wide objects': {
    file: 'a.jsonl',
    size: 2_000,
    make: (n) => `{"website":"${KNOWN}",${many(n, (at) => `"key ${at}":${at}`)}}\n`.repeat(20),
  },
  'other keys in each row': {
    file: 'a.jsonl',
    size: 1_000,
    make: (n) => many(n, (at) => `{"website":"${KNOWN}","k${at}":1}`, '\n'),
  },
  'a long text': { file: 'a.csv', size: 100_000, make: (n) => csvOf('word '.repeat(n)) },
  'a long word': { file: 'a.csv', size: 500_000, make: (n) => cellsOf('a'.repeat(n)) },
  'a long domain': { file: 'a.csv', size: 250_000, make: (n) => cellsOf('a.'.repeat(n)) },
  'slashes and dots': {
    file: 'a.csv',
    size: 200_000,
    make: (n) => cellsOf(`${'//'.repeat(n)}..\n${'. '.repeat(n)}x`),
  },
  'escapes without an end': {
    file: 'a.json',
    size: 2_000_000,
    make: (n) => `{"a":1,"b":"${'\\"'.repeat(n)}`,
  },
  escapes: { file: 'a.jsonl', size: 250_000, make: (n) => jsonlOf(`"${'\\"'.repeat(n)}"`) },
  'blanks between values': { file: 'a.jsonl', size: 500_000, make: (n) => jsonlOf(`${' '.repeat(n)}1`) },
  'blanks and commas': {
    file: 'a.json',
    size: 1_000_000,
    make: (n) => `[${jsonlOf('1')},${' ,'.repeat(n)}${' '.repeat(n)}`,
  },
  'blanks in a cell': { file: 'a.csv', size: 500_000, make: (n) => csvOf(`a${' '.repeat(n)}b`) },
  'empty lines': { file: 'a.csv', size: 20_000, make: (n) => `website\n${KNOWN}${'\n'.repeat(n)}` },
  quotes: { file: 'a.csv', size: 250_000, make: (n) => csvOf(`"${'""'.repeat(n)}"`) },
  'quotes without an end': { file: 'a.csv', size: 50_000, make: (n) => csvOf(`"${'"",\n'.repeat(n)}`) },
  comments: { file: 'a.json', size: 500_000, make: (n) => `${'/**/'.repeat(n)}[{"website":"${KNOWN}"}]` },
  'digits and zeros': {
    file: 'a.csv',
    size: 150_000,
    make: (n) => csvOf(`${'10'.repeat(n)}.${'0'.repeat(n)}`),
  },
  rows: {
    file: 'a.csv',
    size: 60_000,
    make: (n) => `website,id\n${many(n, (at) => `${KNOWN},${at}`, '\n')}\n`,
  },
  'rows in an envelope': {
    file: 'a.json',
    size: 30_000,
    make: (n) => `{"data":{"rows":[${many(n, (at) => `{"id":${at},"website":"${KNOWN}"}`)}]}}`,
  },
  'sheets of a workbook': {
    file: 'a.xlsx',
    size: 1_000,
    make: (n) =>
      workbookOf(row(cell('website')) + row(cell(KNOWN)), {
        'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets>${sheets(n)}</sheets></workbook>`,
      }),
  },
  'columns of a workbook': {
    file: 'a.xlsx',
    size: 2_000,
    make: (n) =>
      workbookOf(row(cell('website') + many(n, (at) => cell(`c${at}`), '')) + row(cell(KNOWN)).repeat(2)),
  },
  'shared texts of a workbook': {
    file: 'a.xlsx',
    size: 100_000,
    make: (n) =>
      workbookOf(row(cell('website')) + row(cell(KNOWN)), {
        'xl/sharedStrings.xml': `<sst>${'<si><t>a</t></si>'.repeat(n)}</sst>`,
      }),
  },
  'columns of Parquet': {
    file: 'a.parquet',
    size: 1_000,
    make: (n) => {
      const others = Array.from({ length: n }, (_, at) => [`c${at}`, ['x']]);
      return parquetOf({ website: [KNOWN], ...Object.fromEntries(others) });
    },
  },
  'a long text of Parquet': {
    file: 'a.parquet',
    size: 300_000,
    make: (n) => parquetOf({ website: [KNOWN], note: [' \\"'.repeat(n)] }),
  },
  'parts of an archive': {
    file: 'a.zip',
    size: 5_000,
    make: (n) => zipOf(Object.fromEntries(Array.from({ length: n }, (_, at) => [`${at}.csv`, 'website\n']))),
  },
};

/** A column of one site would only be asked about. */
const SITES = Array.from({ length: 12 }, (_, at) => generatedDomain(at));
function withSites(made: string | Buffer): string | Buffer {
  let next = 0;
  const another = () => {
    next += 1;
    return SITES[next % SITES.length] ?? KNOWN;
  };
  return typeof made === 'string' ? made.replaceAll(KNOWN, another) : made;
}

export const SHAPES: Readonly<Record<string, Shape>> = Object.fromEntries(
  Object.entries(ALL).map(([name, { make, ...shape }]) => [
    name,
    { ...shape, make: async (size: number) => withSites(await make(size)) },
  ]),
);

/** Files of one shape each, of any size; most hold few rows, so that a run buys next to nothing. */
import { gzipSync } from 'node:zlib';
import { generatedDomain } from '../local-service/generate-keys.js';
import { cell, parquetOf, row } from '../support/hostile-files.ts';
import { OFFICE, workbookOf, zipOf } from '../support/workbooks.ts';

/** A domain that local services of benchmarks know. */
const KNOWN = generatedDomain(0);

type Made = string | Buffer;

export interface Shape {
  readonly file: string;
  /** The size at which planning takes about 0.3 s of CPU time beyond the start, or the most. */
  readonly size: number;
  readonly make: (size: number) => Promise<Made>;
}

const many = (count: number, part: (at: number) => string, between = ',') =>
  Array.from({ length: count }, (_, at) => part(at)).join(between);
/** A record has at most 1 MiB, so several of half as much take the time. A short one is first. */
const ROWS = 10;
const csvOf = (text: string) => `website,note\n${KNOWN},\n${`${KNOWN},${text}\n`.repeat(ROWS)}`;
const jsonlOf = (text: string) =>
  `{"website":"${KNOWN}"}\n${`{"website":"${KNOWN}","note":${text}}\n`.repeat(ROWS)}`;
const cellsOf = (text: string) => `website\n${KNOWN}\n${`${text}\n`.repeat(ROWS)}`;
const sheets = (count: number) =>
  many(count, (at) => `<sheet name="S${at}" sheetId="${at + 1}" r:id="r0"/>`, '');

/** A column of one site would only be asked about. */
const SITES = Array.from({ length: 12 }, (_, at) => generatedDomain(at));
function withSites(made: Made): Made {
  let next = 0;
  const another = () => {
    next += 1;
    return SITES[next % SITES.length] ?? KNOWN;
  };
  return typeof made === 'string' ? made.replaceAll(KNOWN, another) : made;
}

const shape = (file: string, size: number, make: (size: number) => Made | Promise<Made>): Shape => ({
  file,
  size,
  make: async (count) => withSites(await make(count)),
});

export const SHAPES: Readonly<Record<string, Shape>> = {
  'deep objects, packed': shape('a.json.gz', 1_000_000, (n) => gzipSync('{"a":'.repeat(n))),
  'deep arrays': shape('a.json', 1_000_000, (n) => '['.repeat(n)),
  'deep values': shape('a.jsonl', 60_000, (n) => jsonlOf('['.repeat(n) + ']'.repeat(n))),
  'wide rows': shape(
    'a.csv',
    2_000,
    (n) =>
      `website,${many(n, (at) => `q${at} how satisfied`)}\n${`${KNOWN},${many(n, () => 'yes')}\n`.repeat(20)}`,
  ),
  'wide rows in capitals': shape(
    'a.tsv',
    2_000,
    (n) =>
      `${many(n, (at) => `COL_${at}_SECURITY`, '\t')}\n${`${many(n, (at) => `AB${at}`, '\t')}\n`.repeat(20)}`,
  ),
  'empty columns': shape('a.tsv', 2_000, (n) => `website\n${`${KNOWN}${'\t'.repeat(n)}\n`.repeat(ROWS)}`),
  'wide objects': shape('a.jsonl', 2_000, (n) =>
    `{"website":"${KNOWN}",${many(n, (at) => `"key ${at}":${at}`)}}\n`.repeat(20),
  ),
  'other keys in each row': shape('a.jsonl', 1_000, (n) =>
    many(n, (at) => `{"website":"${KNOWN}","k${at}":1}`, '\n'),
  ),
  'a long text': shape('a.csv', 100_000, (n) => csvOf('word '.repeat(n))),
  'a long word': shape('a.csv', 500_000, (n) => cellsOf('a'.repeat(n))),
  'a long domain': shape('a.csv', 250_000, (n) => cellsOf('a.'.repeat(n))),
  'slashes and dots': shape('a.csv', 200_000, (n) => cellsOf(`${'//'.repeat(n)}..\n${'. '.repeat(n)}x`)),
  'escapes without an end': shape('a.json', 2_000_000, (n) => `{"a":1,"b":"${'\\"'.repeat(n)}`),
  escapes: shape('a.jsonl', 250_000, (n) => jsonlOf(`"${'\\"'.repeat(n)}"`)),
  'blanks between values': shape('a.jsonl', 500_000, (n) => jsonlOf(`${' '.repeat(n)}1`)),
  'blanks and commas': shape(
    'a.json',
    1_000_000,
    (n) => `[${jsonlOf('1')},${' ,'.repeat(n)}${' '.repeat(n)}`,
  ),
  'blanks in a cell': shape('a.csv', 500_000, (n) => csvOf(`a${' '.repeat(n)}b`)),
  'empty lines': shape('a.csv', 20_000, (n) => `website\n${KNOWN}${'\n'.repeat(n)}`),
  quotes: shape('a.csv', 250_000, (n) => csvOf(`"${'""'.repeat(n)}"`)),
  'quotes without an end': shape('a.csv', 50_000, (n) => csvOf(`"${'"",\n'.repeat(n)}`)),
  comments: shape('a.json', 500_000, (n) => `${'/**/'.repeat(n)}[{"website":"${KNOWN}"}]`),
  'digits and zeros': shape('a.csv', 150_000, (n) => csvOf(`${'10'.repeat(n)}.${'0'.repeat(n)}`)),
  rows: shape('a.csv', 60_000, (n) => `website,id\n${many(n, (at) => `${KNOWN},${at}`, '\n')}\n`),
  'rows in an envelope': shape(
    'a.json',
    30_000,
    (n) => `{"data":{"rows":[${many(n, (at) => `{"id":${at},"website":"${KNOWN}"}`)}]}}`,
  ),
  'sheets of a workbook': shape('a.xlsx', 1_000, (n) =>
    workbookOf(row(cell('website')) + row(cell(KNOWN)), {
      'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets>${sheets(n)}</sheets></workbook>`,
    }),
  ),
  'columns of a workbook': shape('a.xlsx', 2_000, (n) =>
    workbookOf(row(cell('website') + many(n, (at) => cell(`c${at}`), '')) + row(cell(KNOWN)).repeat(2)),
  ),
  'shared texts of a workbook': shape('a.xlsx', 100_000, (n) =>
    workbookOf(row(cell('website')) + row(cell(KNOWN)), {
      'xl/sharedStrings.xml': `<sst>${'<si><t>a</t></si>'.repeat(n)}</sst>`,
    }),
  ),
  'columns of Parquet': shape('a.parquet', 1_000, (n) => {
    const others = Array.from({ length: n }, (_, at) => [`c${at}`, ['x']]);
    return parquetOf({ website: [KNOWN], ...Object.fromEntries(others) });
  }),
  'a long text of Parquet': shape('a.parquet', 300_000, (n) =>
    parquetOf({ website: [KNOWN], note: [' \\"'.repeat(n)] }),
  ),
  'parts of an archive': shape('a.zip', 5_000, (n) =>
    zipOf(Object.fromEntries(Array.from({ length: n }, (_, at) => [`${at}.csv`, 'website\n']))),
  ),
};

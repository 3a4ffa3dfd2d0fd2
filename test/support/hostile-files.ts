/** Small files made to exhaust memory, time, disk or a log, as anybody may send them. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { OFFICE, workbookOf, zipOf } from './workbooks.js';

export const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
export const row = (...cells: readonly string[]) => `<row>${cells.join('')}</row>`;
/** A text of so many million characters, as many runs. */
const runs = (millions: number) => `<r><t>${'a'.repeat(1_000)}</t></r>`.repeat(millions * 1_000);

export function parquetOf(columns: Readonly<Record<string, readonly unknown[]>>, rowGroupSize?: number) {
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data] }));
  return Buffer.from(parquetWriteBuffer({ columnData, ...(rowGroupSize && { rowGroupSize }) }));
}

/** Text that does not compress, the same each time. */
function noise(characters: number): string {
  const parts: string[] = [];
  for (let at = 0; at * 64 < characters; at += 1)
    parts.push(createHash('sha256').update(String(at)).digest('hex'));
  return parts.join('').slice(0, characters);
}

const WEBSITE = row(cell('website')) + row(cell('acme.com'));

/** Name, content, and words of the error; null for a file that is read. */
type Hostile = readonly [name: string, make: () => Buffer | Promise<Buffer>, words: RegExp | null];
export const HOSTILE: readonly Hostile[] = [
  [
    'one header cell of many runs',
    () => workbookOf(row(`<c t="inlineStr"><is>${runs(40)}</is></c>`) + row(cell('a'))),
    /the header cannot be read/,
  ],
  [
    'one shared header cell of many runs',
    () =>
      workbookOf(row('<c t="s"><v>0</v></c>') + row(cell('a')), {
        'xl/sharedStrings.xml': `<sst><si>${runs(40)}</si></sst>`,
      }),
    /the header cannot be read/,
  ],
  [
    'a header over 1 MiB',
    () =>
      workbookOf(
        row(...Array.from({ length: 40 }, (_, at) => cell(`${at}${'h'.repeat(32_000)}`))) + row(cell('a')),
      ),
    /the header cannot be read/,
  ],
  ['deep XML', () => workbookOf('<a>'.repeat(100_000)), /nests more than 64/],
  [
    'one cell of many runs',
    () => workbookOf(`${WEBSITE}${row(cell('example.org'), `<c t="inlineStr"><is>${runs(40)}</is></c>`)}`),
    null,
  ],
  [
    'rows of one long shared text',
    () =>
      workbookOf(WEBSITE + row('<c t="s"><v>0</v></c>'.repeat(4_000)).repeat(200), {
        'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(32_767)}</t></si></sst>`,
      }),
    null,
  ],
  [
    'a long name of a sheet',
    () =>
      workbookOf(WEBSITE, {
        'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets><sheet name="${'N'.repeat(3_000_000)}" sheetId="1" r:id="r0"/></sheets></workbook>`,
      }),
    null,
  ],
  [
    'rows that share a long text',
    () =>
      parquetOf({
        website: Array.from({ length: 3_000 }, (_, at) => `c${at}.com`),
        note: Array(3_000).fill(noise(2_000_000)),
      }),
    null,
  ],
  [
    'far more text than bytes',
    () =>
      parquetOf({
        website: Array.from({ length: 3_000 }, (_, at) => `c${at}.com`),
        // Each is six characters as JSON.
        note: Array(3_000).fill('\u0001'.repeat(60_000)),
      }),
    /far more text than the file/,
  ],
  ['many rows', () => parquetOf({ website: Array(1_100_000).fill('acme.com') }), /far more rows than bytes/],
  ['a zip of one letter', () => zipOf({ 'list.csv': Buffer.alloc(280_000_000, 'a') }), /would unpack to/],
];

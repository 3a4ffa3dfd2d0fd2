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
const hostile = (name: string, words: RegExp | null, make: Hostile[1]): Hostile => [name, make, words];
export const HOSTILE: readonly Hostile[] = [
  hostile('one header cell of many runs', /the header cannot be read/, () =>
    workbookOf(row(`<c t="inlineStr"><is>${runs(40)}</is></c>`) + row(cell('a'))),
  ),
  hostile('one shared header cell of many runs', /the header cannot be read/, () =>
    workbookOf(row('<c t="s"><v>0</v></c>') + row(cell('a')), {
      'xl/sharedStrings.xml': `<sst><si>${runs(40)}</si></sst>`,
    }),
  ),
  hostile('a header over 1 MiB', /the header cannot be read/, () =>
    workbookOf(
      row(...Array.from({ length: 40 }, (_, at) => cell(`${at}${'h'.repeat(32_000)}`))) + row(cell('a')),
    ),
  ),
  hostile('deep XML', /nests more than 64/, () => workbookOf('<a>'.repeat(100_000))),
  hostile('one cell of many runs', null, () =>
    workbookOf(`${WEBSITE}${row(cell('example.org'), `<c t="inlineStr"><is>${runs(40)}</is></c>`)}`),
  ),
  hostile('rows of one long shared text', null, () =>
    workbookOf(WEBSITE + row('<c t="s"><v>0</v></c>'.repeat(4_000)).repeat(200), {
      'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(32_767)}</t></si></sst>`,
    }),
  ),
  hostile('a long name of a sheet', null, () =>
    workbookOf(WEBSITE, {
      'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets><sheet name="${'N'.repeat(3_000_000)}" sheetId="1" r:id="r0"/></sheets></workbook>`,
    }),
  ),
  hostile('rows that share a long text', null, () =>
    parquetOf({
      website: Array.from({ length: 3_000 }, (_, at) => `c${at}.com`),
      note: Array(3_000).fill(noise(2_000_000)),
    }),
  ),
  hostile('far more text than bytes', /far more text than the file/, () =>
    parquetOf({
      website: Array.from({ length: 3_000 }, (_, at) => `c${at}.com`),
      // Each is six characters as JSON.
      note: Array(3_000).fill('\u0001'.repeat(60_000)),
    }),
  ),
  hostile('many rows', /far more rows than bytes/, () =>
    parquetOf({ website: Array(1_100_000).fill('acme.com') }),
  ),
  hostile('a zip of one letter', /would unpack to/, () =>
    zipOf({ 'list.csv': Buffer.alloc(280_000_000, 'a') }),
  ),
];

/** Workbooks whose first sheet is no table: the error names the sheet that is one. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { InterruptedError, NeverStartError } from '../../../src/core/errors.js';
import { remediesIn } from '../../../src/core/phrase.js';
import { intakeOf, namingTables, openTable } from '../../../src/run/scan/open-table.js';
import { settingsWith } from '../../support/default-settings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

type Sheet = { readonly name: string; readonly rows: string[][]; readonly hidden?: boolean };

const COVER = { name: 'Cover', rows: [['Customer report'], ['Prepared by Anna'], ['For internal use']] };
const DATA = {
  name: 'Data 2026',
  rows: [
    ['website', 'n'],
    ['acme.com', '1'],
    ['beta.io', '2'],
  ],
};
const WORDS = {
  name: 'Notes',
  rows: [
    ['to do', 'who'],
    ['call them', 'Anna'],
  ],
};

async function open(sheets: readonly Sheet[], sheet?: string) {
  const folder = await temporaryFolder();
  const input = join(folder, 'book.xlsx');
  await writeFile(input, (await writeXlsx({ sheets: [...sheets] })) as Uint8Array);
  return openFile(input, sheet);
}

async function openFile(input: string, sheet?: string) {
  const settings = settingsWith({ sheet: sheet ?? null });
  const { signal } = new AbortController();
  const table = await openTable({ input, stdin: null, settings }, dirname(input), signal);
  await table.input.close();
  return table;
}

it.each<[string, readonly Sheet[], string, string[]]>([
  [
    'a cover',
    [COVER, WORDS, DATA],
    "use --sheet 'Data 2026', which has a table with identifiers",
    ['Data 2026'],
  ],
  [
    'nothing',
    [
      { name: 'Empty', rows: [] },
      { ...DATA, name: 'Data' },
    ],
    'use --sheet Data, which has a table with identifiers',
    ['Data'],
  ],
  [
    'a cover before two tables',
    [COVER, DATA, { ...DATA, name: 'Old' }],
    "choose a sheet with identifiers: --sheet 'Data 2026' or --sheet Old",
    ['Data 2026', 'Old'],
  ],
])('a workbook that begins with %s', async (_, sheets, todo, named) => {
  const error = await open(sheets).catch((each) => each);
  expect(error).toMatchObject({ todo, what: expect.stringContaining('in the first sheet') });
  expect(remediesIn(error.detail.todo)).toEqual(named.map((sheet) => ({ set: { sheet } })));
});

it.each<[string, readonly Sheet[], string | undefined]>([
  ['no sheet is a table', [COVER, WORDS], undefined],
  ['only a hidden one is', [COVER, { ...DATA, hidden: true }], undefined],
  ['somebody chose the sheet', [COVER, DATA], 'Cover'],
])('names none where %s', async (_, sheets, sheet) => {
  await expect(open(sheets, sheet)).rejects.not.toMatchObject({
    todo: expect.stringMatching(/use --sheet '/),
  });
});

it.skipIf(process.platform === 'win32')('does not read a pipe again', async () => {
  const input = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [input]);
  const writing = writeFile(input, 'company,city\nAcme,Berlin\n');
  await expect(openFile(input)).rejects.toMatchObject({ code: 'column-doubtful' });
  await writing;
});

it('reads the first sheet that is a table without asking', async () => {
  expect((await open([DATA, COVER])).input.shape.typed?.sheet).toBe('Data 2026');
});

it('somebody who stops the search for a table has interrupted, not used it wrongly', async () => {
  const input = join(await temporaryFolder(), 'book.xlsx');
  await writeFile(input, (await writeXlsx({ sheets: [COVER, DATA] })) as Uint8Array);
  const stopping = new AbortController();
  const doubtful = new NeverStartError({ code: 'column-doubtful', subject: 'Cover', todo: 'name it' });
  stopping.abort();
  const settings = settingsWith();
  const options = { ...intakeOf(settings), spoolFolder: '', stop: stopping.signal };
  expect(await namingTables(doubtful, { input, settings }, options)).toBeInstanceOf(InterruptedError);
});

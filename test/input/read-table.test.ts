import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { InterruptedError } from '../../src/core/errors.js';
import { remediesIn, sayPhrase } from '../../src/core/phrase.js';
import { readTable } from '../../src/input/read-table.js';
import { settingsWith } from '../support/default-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { readHere } from './reading.js';

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

async function open(sheets: readonly Sheet[], sheet?: string, stop?: AbortSignal) {
  const folder = await temporaryFolder();
  const input = join(folder, 'book.xlsx');
  await writeFile(input, (await writeXlsx({ sheets: [...sheets] })) as Uint8Array);
  return openFile(input, sheet, stop);
}

async function openFile(input: string, sheet?: string, stop = new AbortController().signal) {
  const settings = settingsWith({ sheet: sheet ?? null });
  const table = await readTable(input, settings, { spoolFolder: dirname(input), stop, readBinary: readHere });
  await table.input.close();
  return table;
}

const rowsBelow = (...above: string[]) =>
  [...above, 'website,city', ...Array.from({ length: 600 }, (_, at) => `brand-${at}.com,Rome`), ''].join(
    '\n',
  );

it.each([
  ['in a long table', 'list.csv', rowsBelow('Customers,', 'of March,'), 2],
  ['with a line break in a cell', 'list.csv', rowsBelow('Customers,', '"of\nMarch",'), 3],
  ['in a JSON array', 'list.json', '[{"Customers": "website"}, {"Customers": "acme.com"}]', null],
])('a title above the names %s: the lines to skip are counted', async (_, name, text, skipLines) => {
  const input = join(await temporaryFolder(), name);
  await writeFile(input, text);
  const { code, detail } = await openFile(input).catch((each) => each);
  const remedy = skipLines === null ? { choose: 'skipLines', example: 'N' } : { set: { skipLines } };
  expect([code, remediesIn(detail.todo)]).toEqual(['column-doubtful', [remedy]]);
});

it.each<[string, readonly Sheet[], string]>([
  ['a cover', [COVER, WORDS, DATA], 'Data 2026'],
  [
    'nothing',
    [
      { name: 'Empty', rows: [] },
      { ...DATA, name: 'Data' },
    ],
    'Data',
  ],
])('a workbook that begins with %s: the one sheet with identifiers is read', async (_, sheets, name) => {
  const { input } = await open(sheets);
  expect(input.shape.typed?.sheet).toBe(name);
  expect(input.warnings.map((each) => sayPhrase(each, 'flags'))).toContain(
    `the first sheet has no identifiers: reading sheet '${name}'; choose another with --sheet`,
  );
});

it('a workbook with a cover and two such sheets is a question', async () => {
  const error = await open([COVER, DATA, { ...DATA, name: 'Old' }]).catch((each) => each);
  expect(error).toMatchObject({
    todo: "choose a sheet with identifiers: --sheet 'Data 2026' or --sheet Old",
    what: expect.stringContaining('in the first sheet'),
  });
  expect(remediesIn(error.detail.todo)).toEqual([{ set: { sheet: 'Data 2026' } }, { set: { sheet: 'Old' } }]);
});

it('a first sheet with two columns of identifiers is a question, whatever is on the second', async () => {
  const rows = [
    ['buyer website', 'seller website'],
    ['acme.com', 'beta.io'],
  ];
  await expect(open([{ name: 'Deals', rows }, DATA])).rejects.toMatchObject({
    what: 'two columns name different companies',
  });
});

it.each<[string, readonly Sheet[], string | undefined]>([
  ['no sheet is a table', [COVER, WORDS], undefined],
  ['only a hidden one is', [COVER, { ...DATA, hidden: true }], undefined],
  ['somebody chose the sheet', [COVER, DATA], 'Cover'],
])('no sheet is suggested where %s', async (_, sheets, sheet) => {
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

it('stopping the search for a table is an interruption, not a wrong use', async () => {
  const stopping = new AbortController();
  const opening = open([COVER, DATA], undefined, stopping.signal);
  stopping.abort();
  await expect(opening).rejects.toBeInstanceOf(InterruptedError);
});

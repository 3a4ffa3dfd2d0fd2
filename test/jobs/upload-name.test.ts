/** Names of uploaded files: safe on every file system, readable, and never replacing another. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import {
  isLeftAlone,
  isLongName,
  isSideFile,
  sideFileOf,
  uploadName,
  withTableEnding,
} from '../../src/jobs/inbox-file.js';
import { anyText } from '../support/properties.js';

describe('the name of an upload', () => {
  it.each([
    ['customers.csv', 'customers.csv'],
    ['Kunden März 2026.xlsx', 'Kunden März 2026.xlsx'],
    ['Kunden Ma\u0308rz.xlsx', 'Kunden März.xlsx'],
    ['顧客.csv', '顧客.csv'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ana\\list.csv', 'list.csv'],
    ['folder/list.csv/', 'list.csv'],
    ['/', 'upload'],
    ['..', 'upload'],
    ['', 'upload'],
    ['  list  1.csv . ', 'list 1.csv'],
    ['a\u0000b\u001b[31m.csv', 'ab[31m.csv'],
    ['list\u202evsc.exe', 'listvsc.exe'],
    ['li\u200bst\ufeff.csv', 'list.csv'],
    ['a\ud800b.csv', 'a\ufffdb.csv'],
    ['a<b>:"|?*.csv', 'a_b______.csv'],
    ['con.csv', '_con.csv'],
    ['LPT1', '_LPT1'],
    ['console.csv', 'console.csv'],
    ['report.csv', 'report.csv'],
    ['brand-enrich.json', 'brand-enrich.json'],
    [`${'ä'.repeat(200)}.csv.gz`, `${'ä'.repeat(90)}.csv.gz`],
    [`${'a'.repeat(300)}`, 'a'.repeat(180)],
  ])('%j becomes %j', (given, name) => {
    expect(uploadName(given)).toBe(name);
  });

  it.each([
    '.hidden.csv',
    '../.list.csv',
    '~$book.xlsx',
    'list.csv.part',
    'download.crdownload',
    'Thumbs.db',
    'desktop.ini',
    'customers.csv.json',
    'customers.xlsx.json',
    '\u200e.csv',
  ])('%j is refused, as the inbox would ignore it', (given) => {
    expect(() => uploadName(given)).toThrow(ConfigError);
    expect(() => uploadName(given)).toThrow(/rename the file/);
  });

  it('is always one that the inbox takes, in one folder, of a length for all files beside it', () => {
    const hostile = fc
      .array(fc.constantFrom('..', '/', '\\', '.', ' ', '\u202e', 'con', '.csv', '.gz', 'ä', '😀', '\0', ':'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(anyText({ maxLength: 300 }), hostile), (given) => {
        let name: string;
        try {
          name = uploadName(given);
        } catch (error) {
          if (error instanceof ConfigError) return;
          throw error;
        }
        expect(name).not.toMatch(/[/\\:]|\p{Cc}|\p{Cf}|^\.|[. ]$/u);
        expect(name).not.toBe('');
        expect(name).not.toMatch(/\p{Surrogate}/u);
        expect([isLeftAlone(name), isSideFile(name), isLongName(name)]).toEqual([false, false, false]);
        expect(Buffer.byteLength(sideFileOf(withTableEnding(name, 'parquet')))).toBeLessThan(255);
        expect(uploadName(name)).toBe(name);
      }),
    );
  });
});

it.each(['offer.docx', 'Offer.PDF', 'logo.png'])('%s is refused: it is no table', (name) => {
  expect(() => uploadName(name)).toThrow('not a table');
});

it.each([
  ['customers.csv', 'csv', 'customers.csv'],
  ['customers.XLSX', 'xlsx', 'customers.XLSX'],
  ['customers.txt.gz', 'csv', 'customers.txt.gz'],
  ['export', 'csv', 'export.csv'],
  ['export.2026-01', 'parquet', 'export.2026-01.parquet'],
] as const)('%s with %s: %s, so that its settings are found', (name, format, expected) => {
  expect(withTableEnding(name, format)).toBe(expected);
  expect(isSideFile(sideFileOf(expected))).toBe(true);
});

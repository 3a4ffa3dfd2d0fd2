/** Translates the flags in a message into the settings file of an inbox. */
import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/config/load-settings.js';
import type { LoadedSettings } from '../../../src/config/settings.js';
import { applyFolderSettings } from '../../../src/daemon/inbox/inbox-folder-settings.js';
import { settingsAdvice, settingsLines } from '../../../src/daemon/inbox/inbox-verdict.js';
import { shellWord } from '../../../src/identify/find-column.js';
import { refusal } from '../../identify/choose-from-table.js';

it.each<[string, string[]]>([
  ['name it: --column website:domain (kinds: domain, ticker)', ['{"column":"website:domain"}']],
  [
    "say it: --column 'Client'\\''s site:domain' or --column b:isin",
    ['{"column":"Client\'s site:domain"}', '{"column":"b:isin"}'],
  ],
  [
    'say which: --column a:domain or --column b:domain; or both, with later columns as fallbacks: --column a:domain --column b:domain',
    ['{"column":"a:domain"}', '{"column":"b:domain"}', '{"column":["a:domain","b:domain"]}'],
  ],
  [
    'say --no-header --kind ticker if it is data, or --column GTLB:ticker if it is the header',
    ['{"header":false,"kind":"ticker"}', '{"column":"GTLB:ticker"}'],
  ],
  ['use --no-header, or add a header line', ['{"header":false}']],
  [
    'say --column website:domain, or use --allow-mismatch to continue anyway',
    ['{"column":"website:domain"}', '{"allowMismatch":true}'],
  ],
  ['use --skip-lines 3 if line 4 is the header, or --delimiter, or correct the header', ['{"skipLines":3}']],
  ['such as --prefix enriched_', ['{"prefix":"enriched_"}']],
  ['omit --kind isin out, or name the column with --column NAME:isin', ['{"column":"NAME:isin"}']],
  ...['007', 'to-do', 'or', 'Nr.', '--yes', "It's; or --sheet b", '2026'].map((name): [string, string[]] => [
    `choose a sheet: --sheet ${shellWord(name)} or --sheet ${shellWord(name)}, as it is.`,
    [JSON.stringify({ sheet: name === '2026' ? 2026 : name })],
  ]),
  ['use https, or allow plain http with --allow-http', []],
  ['use --skip-lines N', []],
  ['put these right', []],
])('%s', (todo, lines) => {
  expect(settingsLines(todo)).toEqual(lines);
});

it('says nothing when there is nothing to save', () => {
  expect(settingsAdvice('correct the line', 'list.csv')).toBe('');
});

it('names the settings file of one file, if it can have one, and that for all', () => {
  const advice = (file: string) => settingsAdvice('use --no-header', file);
  expect(advice('list.csv.gz')).toMatch(
    /as list\.csv\.gz\.json in the inbox for this file only, or as brand-enrich/,
  );
  expect(advice('list.dat')).toMatch(
    /save this line as brand-enrich\.json next to the folder inbox for all files/,
  );
});

const BASE: LoadedSettings = loadSettings({
  flags: { sample: true },
  env: {},
  file: null,
  command: 'run',
  home: '/',
});

it('prints settings for a column that the inbox accepts', () => {
  const { todo } = refusal(['Web Site|isin', 'apple.com|US0378331005', 'sap.com|DE0007164600']);
  const read = settingsLines(todo).map(
    (line) => applyFolderSettings({ path: '/in/brand-enrich.json', values: JSON.parse(line) }, BASE).columns,
  );
  expect(read).toEqual([
    [{ name: 'Web Site', kind: 'domain' }],
    [{ name: 'isin', kind: 'isin' }],
    [
      { name: 'Web Site', kind: 'domain' },
      { name: 'isin', kind: 'isin' },
    ],
  ]);
});

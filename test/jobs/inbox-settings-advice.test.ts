/** What an error advises, as lines of the settings file of an inbox. */
import { expect, it } from 'vitest';
import type { ConfigError } from '../../src/core/errors.js';
import { type Phrase, phrase } from '../../src/core/phrase.js';
import { applyFolderSettings } from '../../src/jobs/inbox-folder-settings.js';
import { settingsAdvice, settingsIn } from '../../src/jobs/inbox-verdict.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import type { LoadedSettings } from '../../src/settings/settings.js';
import { refusal } from '../input/identify/choose-from-table.js';

it.each<[Phrase, string[]]>([
  [
    phrase`${{ set: { column: 'a:domain' } }} or ${{ set: { column: 'b:id' } }}`,
    ['{"column":"a:domain"}', '{"column":"b:id"}'],
  ],
  [phrase`${{ set: { header: false, kind: 'ticker' } }}`, ['{"header":false,"kind":"ticker"}']],
  [phrase`${{ set: { sheet: '007' } }} or ${{ set: { sheet: '007' } }}`, ['{"sheet":"007"}']],
  [
    phrase`${{ set: { column: 'a' } }}, ${{ choose: 'column', example: 'NAME:isin' }}`,
    ['{"column":"a"}', '{"column":"NAME:isin"}'],
  ],
  [phrase`${{ set: { allowHttp: true } }}, ${{ set: { kind: 'id', state: 'x' } }}`, []],
  [phrase`${{ choose: 'skipLines', example: 'N' }}, ${{ unset: 'kind' }}, ${{ setting: 'delimiter' }}`, []],
  ['--no-header', []],
])('%j', (todo, lines) => {
  const advice = settingsAdvice(todo, 'list.csv');
  expect(advice.split('\n\n').slice(1).join()).toBe(lines.join('\n'));
});

it('says whose column it is where its name is left open', () => {
  const open = phrase`${{ choose: 'column', example: 'NAME:KIND' }}`;
  expect(settingsAdvice(open, 'a.csv')).toMatch(
    /save this line, with the name and kind of your column, as a/,
  );
  expect(settingsIn(open)).toEqual([]);
});

it('names the settings file of one file, if it can have one, and that for all', () => {
  const advice = (file: string) => settingsAdvice(phrase`use ${{ set: { header: false } }}`, file);
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

it('advises columns that the inbox accepts', () => {
  const { detail } = refusal([
    'buyer website|seller website',
    'apple.com|sap.com',
    'sap.com|acme.com',
  ]) as ConfigError;
  const read = settingsIn(detail.todo).map(
    (values) => applyFolderSettings({ path: '/in/brand-enrich.json', values }, BASE).columns,
  );
  expect(read).toEqual([
    [{ name: 'buyer website', kind: 'domain' }],
    [{ name: 'seller website', kind: 'domain' }],
    [
      { name: 'buyer website', kind: 'domain' },
      { name: 'seller website', kind: 'domain' },
    ],
  ]);
});

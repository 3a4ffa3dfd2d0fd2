/** The key of a run: equal for the same command on the same content, and for nothing else. */
import { expect, it } from 'vitest';
import { type EnrichRequest, runKey } from '../../src/run/enrich-request.js';
import { newRunId } from '../../src/run/run-record.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { settingsWith } from '../support/default-settings.js';

type Request = Pick<EnrichRequest, 'settings' | 'runSettings'>;

const REQUEST: Request = {
  settings: settingsWith({ columns: [{ name: 'website', kind: 'domain' }] }),
  runSettings: runSettings({ service: 'https://brands.example' }),
};
const KEY = runKey('hash', REQUEST);

it('a run key is 32 hexadecimal digits', () => {
  expect(KEY).toMatch(/^[0-9a-f]{32}$/);
});

it('a run key ignores the order of settings, and settings that choose no identifier', () => {
  const { columns, ...others } = REQUEST.settings;
  const settings = { ...others, sort: 'none', columns } as const;
  const changed = { ...REQUEST.runSettings, maxRequests: 7, quotaCap: 5 };
  expect(runKey('hash', { settings, runSettings: changed })).toBe(KEY);
});

it('a run key is the same for conditions on rows in any order and case', () => {
  const [one, other] = [
    { column: 'country', wants: 'value', value: 'DE' },
    { column: 'note', wants: 'filled', value: '' },
  ] as const;
  const keyOf = (where: Request['settings']['where']) =>
    runKey('hash', { ...REQUEST, settings: { ...REQUEST.settings, where } });
  expect(keyOf([one, other])).toBe(keyOf([other, { ...one, value: 'de' }, one]));
  expect(keyOf([one])).not.toBe(keyOf([other]));
});

it('a run key differs for other content', () => {
  expect(runKey('other', REQUEST)).not.toBe(KEY);
});

it.each<[string, Partial<Request['settings']>, Partial<Request['runSettings']>?]>([
  ['another column', { columns: [{ name: 'domain', kind: 'domain' }] }],
  ['another kind of the column', { columns: [{ name: 'website', kind: 'ticker' }] }],
  ['an additional column', { columns: [...REQUEST.settings.columns, { name: 'ticker', kind: 'ticker' }] }],
  ['--kind', { kind: 'ticker' }],
  ['--waterfall', { waterfall: true }],
  ['--limit', { limit: 10 }],
  ['--no-header', { header: false }],
  ['--skip-lines', { skipLines: 1 }],
  ['--delimiter', { delimiter: ';' }],
  ['--encoding', { encoding: 'latin1' }],
  ['--sheet', { sheet: 'Q1' }],
  ['--ragged', { ragged: 'take' }],
  ['--where', { where: [{ column: 'country', wants: 'value', value: 'DE' }] }],
  ['another service', {}, { service: 'https://other.example' }],
  ['another --allow-nsfw', {}, { allowNsfw: 'true' }],
  ['--refresh', {}, { refresh: true }],
])('a run key differs for %s', (_what, changed, changedForAll = {}) => {
  const settings = { ...REQUEST.settings, ...changed };
  const changedSettings = { ...REQUEST.runSettings, ...changedForAll };
  expect(runKey('hash', { settings, runSettings: changedSettings })).not.toBe(KEY);
});

it('run ids are unique and begin with their day', () => {
  const now = Date.UTC(2026, 0, 31, 23, 59);
  expect(newRunId(now)).toMatch(/^r-20260131-[0-9a-f]{8}$/);
  expect(newRunId(now)).not.toBe(newRunId(now));
});

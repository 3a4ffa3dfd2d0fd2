/** The key of a run: equal for the same command on the same content, and for nothing else. */
import { expect, it } from 'vitest';
import { type EnrichRequest, runKey } from '../../src/run/enrich-request.js';
import { newRunId } from '../../src/run/run-record.js';
import { runSettings } from '../engine/contract/run-settings.js';

type Request = Pick<EnrichRequest, 'intake' | 'scan' | 'settings'>;

const REQUEST: Request = {
  intake: { hasHeader: true, skipLines: 0, limit: null },
  scan: { requested: [{ name: 'website', kind: 'domain' }], kind: null, waterfall: false, prefix: '' },
  settings: runSettings({ service: 'https://brands.example' }),
};
const KEY = runKey('hash', REQUEST);

it('is 32 hexadecimal digits', () => {
  expect(KEY).toMatch(/^[0-9a-f]{32}$/);
});

it('does not depend on the order of settings', () => {
  const { hasHeader, skipLines, limit } = REQUEST.intake;
  expect(runKey('hash', { ...REQUEST, intake: { limit, skipLines, hasHeader } })).toBe(KEY);
});

it('does not depend on settings that choose no identifier', () => {
  const settings = { ...REQUEST.settings, refresh: true, maxRequests: 7, quotaCap: 5 };
  expect(runKey('hash', { ...REQUEST, settings })).toBe(KEY);
});

it('differs for other content', () => {
  expect(runKey('other', REQUEST)).not.toBe(KEY);
});

it.each<[string, Partial<Request['scan']>]>([
  ['another column', { requested: [{ name: 'domain', kind: 'domain' }] }],
  ['another kind of the column', { requested: [{ name: 'website', kind: 'ticker' }] }],
  ['an additional column', { requested: [...REQUEST.scan.requested, { name: 'ticker', kind: 'ticker' }] }],
  ['--kind', { kind: 'ticker' }],
  ['--waterfall', { waterfall: true }],
])('differs for %s', (_what, changed) => {
  expect(runKey('hash', { ...REQUEST, scan: { ...REQUEST.scan, ...changed } })).not.toBe(KEY);
});

it.each<[string, Partial<Request['intake']>]>([
  ['--limit', { limit: 10 }],
  ['--no-header', { hasHeader: false }],
  ['--skip-lines', { skipLines: 1 }],
  ['--delimiter', { delimiter: ';' }],
  ['--encoding', { encoding: 'latin1' }],
])('differs for %s', (_what, changed) => {
  expect(runKey('hash', { ...REQUEST, intake: { ...REQUEST.intake, ...changed } })).not.toBe(KEY);
});

it.each<[string, Partial<Request['settings']>]>([
  ['another service', { service: 'https://other.example' }],
  ['another --allow-nsfw', { allowNsfw: 'true' }],
])('differs for %s', (_what, changed) => {
  expect(runKey('hash', { ...REQUEST, settings: { ...REQUEST.settings, ...changed } })).not.toBe(KEY);
});

it('ids are unique, and begin with their day', () => {
  const now = Date.UTC(2026, 0, 31, 23, 59);
  expect(newRunId(now)).toMatch(/^r-20260131-[0-9a-f]{8}$/);
  expect(newRunId(now)).not.toBe(newRunId(now));
});

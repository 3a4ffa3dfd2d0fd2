/** The key of a run: the same command on the same content, and nothing else, is the same key. */
import { expect, it } from 'vitest';
import { runKeyOf } from '../../src/pipeline/survey.js';

const SETTINGS = {
  requested: [{ name: 'website', kind: 'domain' }],
  kind: null,
  waterfall: false,
  service: 'https://brands.example',
  allowNsfw: 'unset',
  hasHeader: true,
  skipLines: 0,
  limit: null,
};
const KEY = runKeyOf('hash', SETTINGS);

it('is 32 hex digits', () => {
  expect(KEY).toMatch(/^[0-9a-f]{32}$/);
});

it('does not depend on the order in which settings are listed', () => {
  expect(runKeyOf('hash', Object.fromEntries(Object.entries(SETTINGS).reverse()))).toBe(KEY);
});

it.each<[string, string, object]>([
  ['other content', 'other', {}],
  ['another column', 'hash', { requested: [{ name: 'domain', kind: 'domain' }] }],
  ['another kind of the column', 'hash', { requested: [{ name: 'website', kind: 'ticker' }] }],
  ['columns in another order', 'hash', { requested: [{ name: 'ticker' }, ...SETTINGS.requested] }],
  ['another service', 'hash', { service: 'https://other.example' }],
  ['another allowNsfw', 'hash', { allowNsfw: 'true' }],
  ['--waterfall', 'hash', { waterfall: true }],
  ['--limit', 'hash', { limit: 10 }],
  ['--no-header', 'hash', { hasHeader: false }],
])('%s is another run', (_what, content, changed) => {
  expect(runKeyOf(content, { ...SETTINGS, ...changed })).not.toBe(KEY);
});

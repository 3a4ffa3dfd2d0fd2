/** What brand-enrich.json may set for the files of its folder. */
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { applyFolderSettings } from '../../src/jobs/inbox-folder-settings.js';
import { loadSettings } from '../../src/settings/load-settings.js';

const ENV = { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'sesame-open' };

function base(flags: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  return loadSettings({ flags, env: { ...ENV, ...env }, file: null, command: 'watch', home: '/home/ada' });
}

function apply(values: Record<string, unknown>, loaded = base()) {
  return applyFolderSettings({ path: '/inbox/brand-enrich.json', values }, loaded);
}

function refusal(values: Record<string, unknown>): string {
  try {
    apply(values);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the settings of a folder', () => {
  it.each([
    [{ minMatch: 0 }, { minMatch: 0 }],
    [{ ragged: 'take' }, { ragged: 'take' }],
    [{ column: 'website:ticker', allowMismatch: true }, { allowMismatch: true }],
    [{}, { allowMismatch: false }],
    [{ fields: ['+nmae'] }, { fields: ['+nmae'] }],
  ])('may be %j', (values, expected) => expect(apply(values)).toMatchObject(expected));

  it.each([
    [{ embedLogos: true }, 'the administrator of the inbox sets --embed-logos'],
    [{ ragged: 'guess' }, 'take or invalid'],
    [{ fields: ['nmae'] }, 'no such field of a brand: "nmae" in fields of'],
    [{ fields: ['nmae'] }, 'did you mean name?'],
  ])('may not be %j: %s', (values, words) => expect(refusal(values)).toContain(words));

  it('change how files are read and written, and nothing else', () => {
    const loaded = base();
    const settings = apply(
      { column: 'site:domain', format: 'jsonl', fields: ['name'], waterfall: false },
      loaded,
    );
    expect(settings).toEqual({
      ...loaded.settings,
      columns: [{ name: 'site', kind: 'domain' }],
      format: 'jsonl',
      fields: ['name'],
      waterfall: false,
    });
  });

  it('win over the environment but not over flags', () => {
    const loaded = base({ kind: 'isin' }, { BRAND_ENRICH_FORMAT: 'csv' });
    expect(apply({ kind: 'ticker', format: 'jsonl' }, loaded)).toMatchObject({
      kind: 'isin',
      format: 'jsonl',
    });
  });

  it.each([
    [{ maxRequests: '100' }, { maxRequests: 50 }, { maxRequests: 50 }],
    [{ maxRequests: '100' }, { maxRequests: 500 }, { maxRequests: 100 }],
    [{}, { maxRequests: 500 }, { maxRequests: 500 }],
    [{ maxCost: '0.3' }, { maxCost: '0.25' }, { maxCost: '0.25' }],
    [{ maxCost: '0.3' }, { maxCost: '10' }, { maxCost: '0.3' }],
  ])('may lower a cap and never raise it: %j with %j', (flags, values, expected) => {
    expect(apply(values, base(flags))).toMatchObject(expected);
  });

  it('may not name fields that no brand has', () => {
    expect(refusal({ fields: ['nmae'] })).toContain('no such field of a brand: "nmae" in fields of');
    expect(refusal({ fill: ['x=nmae'] })).toContain('no such field of a brand: "nmae" in fill of');
  });

  it.each([
    'baseUrl',
    'tokenFile',
    'engine',
    'state',
    'account',
    'overageBudget',
    'plan',
    'quota',
    'concurrency',
    'sample',
  ])('may not set %s', (key) => {
    expect(refusal({ [key]: 'x' })).toContain(`this setting is not allowed in an inbox: ${key} in`);
  });

  it('report all mistakes at once, with the nearest valid key', () => {
    const message = refusal({ colum: 'a', fieldz: ['b'] });
    expect(message).toContain('colum in /inbox/brand-enrich.json; did you mean column?');
    expect(message).toContain('did you mean fields?');
    const both = refusal({ colum: 'a', kind: 'tiker' });
    expect(both).toContain('2 problems');
    expect(both).toContain('did you mean column?');
    expect(both).toContain('did you mean ticker?');
    expect(refusal({ kind: 'tiker' })).toContain('did you mean ticker?');
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';
import { load, refusal, SERVICE, type Sources } from './refusal.js';

const refused = (sources: Sources) => refusal(() => load(sources));

describe('plan and overage', () => {
  it.each([
    [{}, null, '0'],
    [{ flags: { plan: 'free' } }, 'free', '0'],
    [{ flags: { plan: 'paid' } }, 'paid', '100'],
    [{ flags: { overageBudget: '0.3' } }, 'paid', '0.3'],
    [{ flags: { overageBudget: '0' } }, 'paid', '0'],
    [{ flags: { plan: 'free', overageBudget: '0' } }, 'free', '0'],
    [{ flags: { plan: 'paid', overageBudget: '0.00' } }, 'paid', '0.00'],
    [{ flags: { plan: 'paid' }, file: { overageBudget: 5 } }, 'paid', '5'],
    [{ file: { overageBudget: 5 } }, 'paid', '5'],
    [{ flags: { plan: 'free' }, file: { overageBudget: 5 } }, 'free', '0'],
  ])('%j is plan %j with a budget of %j', (sources, plan, overageBudget) => {
    expect(load(sources).settings).toMatchObject({ plan, overageBudget });
  });

  it('names the origin of an implied plan', () => {
    expect(load({ file: { overageBudget: 5 } }).origins.plan).toBe('file');
  });

  it.each([
    { flags: { plan: 'free', overageBudget: '1' } },
    { flags: { overageBudget: '1' }, file: { plan: 'free' } },
    { file: { plan: 'free', overageBudget: 1 } },
  ])('a free plan contradicts a budget: %j', (sources) => {
    expect(refused(sources).message).toContain('a free plan has no overage');
  });
});

describe('output fields', () => {
  it('that are unknown are refused all at once, with the nearest names and the way to insist', () => {
    expect(refused({ flags: { fields: 'nmae' } }).message).toBe(
      'no such field of a brand: "nmae" in --fields; did you mean name? If not, write +nmae for a field that the service has added',
    );
    const { message } = refused({ file: { fields: ['esg', 'links.twiter', 'name'] } });
    expect(message).toContain('"esg" in --fields; write +esg for a field that the service has added');
    expect(message).toContain('did you mean links.twitter?');
  });

  it('that the service may have added are accepted with a plus', () => {
    const fields = '+nmae,+esg.rating,name';
    expect(load({ flags: { fields } }).settings.fields).toEqual(fields.split(','));
  });

  it('may start with the configured prefix', () => {
    expect(load({ flags: { fields: 'x_name', prefix: 'x_' } }).settings.fields).toEqual(['x_name']);
  });
});

const DASHBOARD = { ...SERVICE, BRAND_ENRICH_DASHBOARD_PASSWORD: 'a-password-of-ours' };

describe('the token', () => {
  it.each([
    [{ flags: { tokenFile: 't' } }, null, 't'],
    [{ env: { ...SERVICE, BRAND_API_TOKEN_FILE: 't' } }, 'sesame-open', null],
    [{ file: { tokenFile: '/t' } }, 'sesame-open', null],
    [{ env: { BRAND_API_URL: SERVICE.BRAND_API_URL, BRAND_API_TOKEN_FILE: 't' } }, null, 't'],
  ])('comes from one source: %j', (sources, token, tokenFile) => {
    expect(load(sources).settings).toMatchObject({ token, tokenFile });
  });

  it.each([
    [{ env: { ...DASHBOARD, BRAND_ENRICH_DASHBOARD_PASSWORD_FILE: 't' } }, 'a-password-of-ours', null],
    [{ env: DASHBOARD, flags: { dashboardPasswordFile: 't' } }, null, 't'],
  ])('and the password of the dashboard too: %j', (sources, dashboardPassword, dashboardPasswordFile) => {
    const { settings } = load({ ...sources, command: 'up' });
    expect(settings).toMatchObject({ dashboardPassword, dashboardPasswordFile });
  });

  it.each(['run', 'worker', 'ledger show', 'ledger reset'] as const)('is required by %s', (command) => {
    const env = { BRAND_API_URL: SERVICE.BRAND_API_URL, BRAND_ENRICH_ENGINE: 'redis://h' };
    expect(refused({ command, env }).code).toBe('usage-token-missing');
  });

  it.each(['plan', 'serve', 'status', 'outcomes stats', 'config', 'pause'] as const)(
    'is optional for %s',
    (command) => {
      expect(() => load({ command, env: {} })).not.toThrow();
    },
  );

  it('is optional for a named account', () => {
    expect(() => load({ command: 'ledger show', env: {}, flags: { account: 'team' } })).not.toThrow();
  });
});

describe('the address of the service', () => {
  it.each(['run', 'watch', 'worker', 'schedule serve', 'up'] as const)('is required by %s', (command) => {
    expect(refused({ command, env: { BRAND_API_TOKEN: 'sesame-open' } }).code).toBe('usage-service-missing');
  });

  it('must be https, loopback or explicitly allowed', () => {
    const env = { ...SERVICE, BRAND_API_URL: 'http://api.example.com' };
    expect(refused({ env }).code).toBe('usage-insecure');
    expect(load({ env, flags: { allowHttp: true } }).settings.baseUrl).toBe('http://api.example.com');
    expect(load({ flags: { baseUrl: 'http://localhost:8080/' } }).settings.baseUrl).toBe(
      'http://localhost:8080',
    );
  });
});

describe('the sample', () => {
  it('replaces the configured service and engine, and needs none', () => {
    const env = { ...SERVICE, REDIS_URL: 'redis://h', BRAND_API_TOKEN_FILE: 't' };
    const { settings } = load({ flags: { sample: true }, env });
    expect(settings).toMatchObject({ engine: 'embedded', baseUrl: null, token: null, tokenFile: null });
    expect(load({ flags: { sample: true }, env: {} }).settings.sample).toBe(true);
  });

  it.each([{ engine: 'embedded' }, { baseUrl: 'https://x.example' }, { tokenFile: 't' }])(
    'contradicts %j',
    (flags) => {
      expect(refused({ flags: { sample: true, ...flags } }).message).toContain('--sample with --');
    },
  );
});

describe('contradictions', () => {
  it.each([
    [{ flags: { worker: false, sample: true } }, '--no-worker with --sample'],
    [{ flags: { output: '-', json: true } }, '-o - with --json'],
    [{ flags: { waterfall: true, column: ['a'] } }, '--waterfall with one --column'],
    [{ flags: { output: 'a.csv', errors: 'a.csv' } }, 'the same file for two outputs'],
    [{ command: 'ledger observe' }, 'no figures were given'],
  ] as const)('%j: %s', (sources, words) => {
    expect(refused(sources).message).toContain(words);
  });

  it('do not include a worker and a run without one on the embedded engine', () => {
    expect(load({ flags: { worker: false } }).settings).toMatchObject({ worker: false, engine: 'embedded' });
    expect(load({ command: 'worker' }).settings).toMatchObject({ engine: 'embedded' });
  });

  it('are reported together', () => {
    const { message } = refused({
      env: {},
      flags: { plan: 'free', overageBudget: '5', output: '-', json: true, baseUrl: 'http://h.example' },
    });
    for (const words of ['--plan free', '-o -', 'http://h.example', 'no token was given']) {
      expect(message).toContain(words);
    }
  });

  it('are not derived from values that could not be parsed', () => {
    const { message } = refused({ command: 'worker', flags: { engine: 'embeded' } });
    expect(message).toBe('"embeded" is not an engine: --engine; did you mean embedded?');
  });
});

describe('statements of the local service', () => {
  it.each([
    [{ statement: true }, 'give their file with --accounts FILE'],
    [{ month: '2026-11' }, 'add --statement'],
    [{ statement: true, accounts: 'a.json', month: '2026-13' }, 'for example 2026-11'],
    [{ statement: true, accounts: 'a.json', month: '11/2026' }, 'for example 2026-11'],
  ])('refuse %j', (flags, words) => {
    expect(refused({ flags, command: 'serve' }).message).toContain(words);
  });

  it('default to the current month', () => {
    const flags = { statement: true, accounts: 'a.json' };
    expect(load({ flags, command: 'serve' }).settings.month).toBeNull();
    expect(load({ flags: { ...flags, month: '2026-11' }, command: 'serve' }).settings.month).toBe('2026-11');
  });
});

it('every setting is read somewhere, not only declared', () => {
  const folder = fileURLToPath(new URL('../../src/', import.meta.url));
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(folder + name, 'utf8'))
    .join('\n');
  // `settings.rate`, `rate` destructured from settings, the flag itself where it is read earlier
  // (that of the config file), or a secret, which is read by its name.
  const isRead = (name: string, key: string | null) =>
    [
      `(?:[sS]ettings|request\\.output)\\.${name}\\b`,
      `\\{[^{}]*\\b${name}\\b[^{};]*\\}\\s*(?:=|:\\s*(?:Pick<)?\\w*(?:Settings|EnrichRequest))`,
      `\\bflags\\.${key ?? name}\\b`,
      `\\bSecretSettings<'${name.replace(/File$/, '')}'>`,
    ].some((pattern) => new RegExp(pattern).test(text));
  expect(SETTING_ENTRIES.filter(([name, { key }]) => !isRead(name, key)).map(([name]) => name)).toEqual([]);
});

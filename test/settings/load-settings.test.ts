import { describe, expect, it } from 'vitest';
import { showValue } from '../../src/commands/config.js';
import { wantsJson } from '../../src/settings/load-settings.js';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';
import { load as loadWith, refusal, SERVICE, type Sources } from './refusal.js';

const load = ({ env, ...sources }: Sources) => loadWith({ ...sources, env: { ...SERVICE, ...env } });

const refused = (sources: Parameters<typeof load>[0]) => refusal(() => load(sources));

const SITE_AND_B = [
  { name: 'site', kind: 'domain' },
  { name: 'b', kind: null },
];

it.each([
  ['timeout', '40s'],
  ['concurrency', '64'],
  ['limit', '100'],
])('the message for a refused %s has the default as example, where there is one: %s', (key, example) => {
  const { message } = refused({ flags: { [key]: 'much' }, command: 'up' });
  expect(message).toMatch(new RegExp(`, for example ${example}$`));
});

describe('precedence', () => {
  it.each([
    [{ flags: { rate: '1' }, env: { BRAND_ENRICH_RATE: '2' }, file: { rate: 3 } }, 1, 'flag'],
    [{ env: { BRAND_ENRICH_RATE: '2' }, file: { rate: 3 } }, 2, 'environment'],
    [{ file: { rate: 3 } }, 3, 'file'],
    [{}, null, 'default'],
  ] as const)('%j gives %j from the %s', (sources, value, origin) => {
    const { settings, origins } = load(sources);
    expect(settings.rate).toBe(value);
    expect(origins.rate).toBe(origin);
  });

  it('ignores undefined, empty and null values', () => {
    const { settings, origins } = load({
      flags: { concurrency: undefined },
      env: { BRAND_ENRICH_CONCURRENCY: '' },
      file: { concurrency: null },
    });
    expect(settings.concurrency).toBe(64);
    expect(origins.concurrency).toBe('default');
  });

  it('parses only the value that wins, which may turn off what the file turned on', () => {
    expect(load({ flags: { sort: 'none' }, file: { sort: 'nonsense' } }).settings.sort).toBe('none');
    expect(load({ flags: { refresh: false }, file: { refresh: true } }).settings.refresh).toBe(false);
  });

  it.each([
    [{ DATABASE_URL: 'postgres://h/brands' }, 'postgres://h/brands', 'environment'],
    [{ DATABASE_URL: 'postgres://h/b', REDIS_URL: 'redis://one:6379' }, 'redis://one:6379', 'environment'],
    [{ DATABASE_URL: 'mysql://h/app' }, 'embedded', 'default'],
    [{ REDIS_URL: 'redis://one:6379', BRAND_ENRICH_ENGINE: 'embedded' }, 'embedded', 'environment'],
  ])('with %j the engine is %s, from the %s', (env, engine, origin) => {
    expect(load({ env })).toMatchObject({ settings: { engine }, origins: { engine: origin } });
  });

  it('honours NO_COLOR whatever its value', () => {
    expect(load({ env: { NO_COLOR: '1' } }).settings.color).toBe(false);
    expect(load({ env: { NO_COLOR: '1' }, flags: { color: true } }).settings.color).toBe(true);
    expect(load({ env: { NO_COLOR: '' } }).settings.color).toBe(true);
  });

  it('ignores settings of other commands', () => {
    const { settings, origins } = load({ command: 'serve', env: { BRAND_ENRICH_CONCURRENCY: 'nonsense' } });
    expect(settings.concurrency).toBe(64);
    expect(origins.concurrency).toBe('default');
  });

  it('does not treat the quota of runs as an observed one', () => {
    const { settings } = load({
      command: 'ledger observe',
      flags: { usage: '12' },
      env: { BRAND_ENRICH_QUOTA: '100' },
      file: { quota: 50 },
    });
    expect(settings).toMatchObject({ observedUsage: 12, observedQuota: null, quota: null });
  });
});

describe('defaults', () => {
  it('are those of the design', () => {
    expect(load({}).settings).toMatchObject({
      concurrency: 64,
      timeoutMs: 40_000,
      maxAgeMs: 604_800_000,
      maxAgeMissingMs: 86_400_000,
      overagePrice: '0.1',
      overageBudget: '0',
      plan: null,
      confirmAbove: '20',
      usageLagMs: 60_000,
      freeStatuses: ['204', '400', '402', '5xx'],
      allowNsfw: 'unset',
      engine: 'embedded',
      columns: [],
      header: true,
      worker: true,
      escapeFormulas: 'ours',
      onLimit: 'stop',
      period: 'month',
      maxErrors: null,
    });
  });

  it.each([
    [{}, '/home/ada/.local/state/brand-enrich'],
    [{ XDG_STATE_HOME: '/var/state' }, '/var/state/brand-enrich'],
    [{ XDG_STATE_HOME: 'relative' }, '/home/ada/.local/state/brand-enrich'],
  ])('put the state folder, with %j, at %s', (env, expected) => {
    expect(load({ env }).settings.state).toBe(expected);
  });

  it('give every setting a value and an origin', () => {
    const { settings, origins } = load({});
    for (const [name] of SETTING_ENTRIES) {
      expect(settings[name]).not.toBeUndefined();
      expect(origins[name]).toMatch(/^(flag|environment|file|default)$/);
    }
  });
});

describe('the config file', () => {
  it('takes JSON numbers, switches, strings and lists', () => {
    const file = {
      concurrency: 8,
      strict: true,
      maxAge: '2h',
      fields: ['name', 'domain'],
      overageBudget: 0.3,
    };
    expect(load({ file: { ...file, column: ['site:domain', 'b'] } }).settings).toMatchObject({
      concurrency: 8,
      strict: true,
      maxAgeMs: 7_200_000,
      fields: ['name', 'domain'],
      columns: SITE_AND_B,
      overageBudget: '0.3',
    });
  });

  it('resolves paths relative to its own folder', () => {
    const { settings } = load({ file: { logFile: 'logs/run.log' }, flags: { state: 'here' } });
    expect(settings.logFile).toBe('/work/logs/run.log');
    expect(settings.state).toBe('here');
    const { settings: ofUp } = load({ command: 'up', file: { inbox: ['in', '/data/in'] } });
    expect(ofUp.inboxes).toEqual(['/work/in', '/data/in']);
  });

  it.each([
    [{ concurency: 8 }, 'did you mean concurrency?'],
    [{ 'max-age': '7d' }, 'did you mean maxAge?'],
    [{ output: 'all.csv' }, 'this setting is available only as a flag: output'],
    [{ token: 'sesame-open' }, 'a token does not belong in the config file'],
    [{ concurrency: { of: 8 } }, 'the value is not a string, number or boolean'],
    [{ concurrency: [8] }, 'the list is not'],
    [{ sort: true }, '"true" is not one of quality, none'],
    [{ maxAge: 7 }, '"7" is not a duration: maxAge in /work/brand-enrich.config.json'],
  ])('is refused when it contains %j', (file, words) => {
    const { message } = refused({ file });
    expect(message).toContain(words);
    expect(message).not.toContain('sesame-open');
  });
});

it.each(['run', 'plan'] as const)('%s takes the priority and shows it as written', (command) => {
  const { settings } = load({ env: { BRAND_ENRICH_PRIORITY: 'revenue:asc' }, command });
  expect(showValue(settings, 'priority')).toBe('revenue:asc');
});

describe('lists', () => {
  it('are split at commas in the environment', () => {
    const { settings } = load({
      env: { BRAND_ENRICH_COLUMN: 'site:domain, b', BRAND_ENRICH_FREE_STATUSES: '204,404' },
    });
    expect(settings.columns).toEqual(SITE_AND_B);
    expect(settings.freeStatuses).toEqual(['204', '404']);
  });

  it('are not split where a flag is repeated', () => {
    expect(load({ flags: { column: ['a,b:isin'] } }).settings.columns).toEqual([
      { name: 'a,b', kind: 'isin' },
    ]);
  });
});

describe('problems', () => {
  it('are reported all at once, each with its source', () => {
    const error = refused({
      flags: { rate: 'fast', sort: 'qualty' },
      env: { BRAND_ENRICH_MAX_AGE: '7', BRAND_ENRICH_QOUTA: '100' },
      file: { concurrency: 0, strickt: true },
    });
    expect(error.code).toBe('usage-invalid');
    expect(error.message.split('\n').slice(1)).toEqual([
      '  - no such setting: strickt in /work/brand-enrich.config.json; did you mean strict?',
      '  - no such setting: BRAND_ENRICH_QOUTA; did you mean BRAND_ENRICH_QUOTA?',
      expect.stringContaining('"0" is not a whole number from 1 to 1000: concurrency in /work/'),
      expect.stringContaining('"fast" is not a number of requests per second: --rate; write'),
      expect.stringContaining('"7" is not a duration: BRAND_ENRICH_MAX_AGE; write'),
      '  - "qualty" is not one of quality, none: --sort; did you mean quality?',
    ]);
  });

  it('keep their specific code when all are of one kind', () => {
    expect(refused({ env: { BRAND_API_TOKEN: '' } }).code).toBe('usage-token-missing');
    expect(refused({ env: { BRAND_API_URL: '' } }).code).toBe('usage-service-missing');
    expect(refused({ env: { BRAND_API_URL: '', BRAND_API_TOKEN: '' } }).code).toBe('usage-invalid');
  });

  it('ignore variables that only start with the same prefix', () => {
    expect(() => load({ env: { BRAND_ENRICH_DEPLOYMENT_COLOUR_SCHEME: 'x' } })).not.toThrow();
  });
});

type JsonClues = Parameters<typeof wantsJson>[0];

const inFile = (json: unknown) => ({ path: '/x/brand-enrich.config.json', values: { json } });
const NOTHING: JsonClues = { argv: ['run', 'x'], env: {}, file: null, settings: null };

it.each<[string, Partial<JsonClues>, boolean]>([
  ['not set', {}, false],
  ['set to yes', { settings: { json: true } }, true],
  ['set to no, whatever else says yes', { settings: { json: false }, file: inFile(true) }, false],
  ['a flag, beside invalid ones', { argv: ['rum', '--jsom', '--json', 'x'] }, true],
  ['a flag with a value that it does not take', { argv: ['run', 'x', '--json=true'] }, true],
  ['an operand of that name', { argv: ['run', '--', '--json'] }, false],
  ['the environment', { env: { BRAND_ENRICH_JSON: 'yes' } }, true],
  ['the environment, set to no', { env: { BRAND_ENRICH_JSON: 'false' }, file: inFile(true) }, false],
  ['the environment, with an invalid value', { env: { BRAND_ENRICH_JSON: 'perhaps' } }, false],
  ['an empty variable', { env: { BRAND_ENRICH_JSON: '' }, file: inFile(true) }, true],
  ['the config file', { file: inFile(true) }, true],
])('whether output goes to a program: %s', (_what, clues, expected) => {
  expect(wantsJson({ ...NOTHING, ...clues })).toBe(expected);
});

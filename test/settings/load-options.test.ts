import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { TABLE_FORMATS } from '../../src/core/table.js';
import type { FileOptions } from '../../src/library/enricher.js';
import { loadOptions, PROGRAM_OPTIONS } from '../../src/settings/load-settings.js';
import { settingsOf } from '../../src/settings/settings.js';

const SERVICE = { baseUrl: 'https://api.example.com/v2/', token: 'tok-1' };

describe('options', () => {
  it('are read as the config file is', () => {
    const settings = loadOptions({ ...SERVICE, overageBudget: 5, maxAge: '2d', column: ['website:domain'] });
    expect(settings).toMatchObject({
      baseUrl: 'https://api.example.com',
      token: 'tok-1',
      plan: 'paid',
      overageBudget: '5',
      maxAgeMs: 172_800_000,
      columns: [{ name: 'website', kind: 'domain' }],
      engine: 'embedded',
    });
  });

  it('that are undefined count as not given', () => {
    expect(loadOptions({ ...SERVICE, quota: undefined }).quota).toBeNull();
  });

  it('ignore the environment unless they are given one, and win over it', () => {
    const env = {
      BRAND_API_URL: 'https://other.example.com',
      BRAND_API_TOKEN: 'tok-2',
      BRAND_ENRICH_RATE: '7',
      BRAND_ENRICH_QUOTA: '9',
      REDIS_URL: 'redis://localhost',
    };
    expect(loadOptions({ env })).toMatchObject({ baseUrl: 'https://other.example.com', token: 'tok-2' });
    const own = loadOptions({ ...SERVICE, rate: 3, engine: 'embedded', env });
    expect(own).toMatchObject({ token: 'tok-1', rate: 3, quota: 9, engine: 'embedded' });
    expect(own.baseUrl).toBe('https://api.example.com');
    const tokenFile = '/run/token';
    expect(loadOptions({ tokenFile, env })).toMatchObject({ token: null, tokenFile });
  });

  it('keep the state folder of the command line', () => {
    const env = { XDG_STATE_HOME: '/srv/state' };
    expect(loadOptions({ ...SERVICE, env }).state).toBe('/srv/state/brand-enrich');
  });

  it('are all in the types that a program sees, with their default or how they are written', async () => {
    const source = await readFile(new URL('../../src/library/enricher.ts', import.meta.url), 'utf8');
    const undocumented = [...PROGRAM_OPTIONS.keys()].filter((name) => {
      const [before = '', after] = source.split(`\n  readonly ${name}?:`);
      return after === undefined || !/Default: |Example: /.test(before.split('/**').at(-1) ?? '');
    });
    expect(undocumented).toEqual([]);
    const formats: NonNullable<FileOptions['format']>[] = [...TABLE_FORMATS];
    expect(formats).toHaveLength(TABLE_FORMATS.length);
  });

  it('cannot be misspelt, nor be those of a process', () => {
    const wrong = () => loadOptions({ ...SERVICE, overageBugdet: 5, metricsPort: 1, rate: 'fast' });
    expect(wrong).toThrow(ConfigError);
    expect(wrong).toThrow(/overageBugdet; did you mean overageBudget/);
    expect(wrong).toThrow(/metricsPort/);
    expect(() => loadOptions({ ...SERVICE, rate: 'fast' })).toThrow(/rate in the options/);
    const missing = expect.objectContaining({ code: 'usage-service-missing' });
    expect(() => loadOptions({ token: 'x' })).toThrow(missing);
  });

  it('are the settings of a run in the config file for lookups and files', () => {
    const lines = settingsOf('run').map(([, line]) => line);
    const keys = lines.flatMap(({ isInFile, key }) => (isInFile && key !== null ? [key] : []));
    const others = keys.filter((key) => !PROGRAM_OPTIONS.has(key)).sort();
    expect(others.join(' ')).toBe(
      'color confirmAbove json logFile logLevel metricsFile metricsHost metricsPort notifyMail notifyOn ' +
        'notifySecretFile notifyUrl quiet stopGrace try worker yes',
    );
  });
});

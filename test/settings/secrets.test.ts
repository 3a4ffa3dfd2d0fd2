import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showConfig, shownSettings } from '../../src/commands/config.js';
import { maskAddress, maskTokenPath } from '../../src/settings/address-values.js';
import { readConfigFile } from '../../src/settings/load-settings.js';
import { readDashboardPassword, readToken } from '../../src/settings/secrets.js';
import { settingsList } from '../support/settings-table.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { load as loadAny, refusal, SERVICE } from './refusal.js';

const SECRET = 'Sesame9OpenTheDoor';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'brand-enrich-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

it.each([
  ['embedded', 'embedded'],
  ['redis://localhost:6379/0', 'redis://localhost:6379/0'],
  [`redis://:${SECRET}@h:6379`, 'redis://***@h:6379'],
  [`postgres://ada:${SECRET}@h/db?password=${SECRET}`, 'postgres://***@h/db?…'],
  [`https://${SECRET}@h/`, 'https://***@h'],
  ['api.example.com', 'api.example.com'],
  [SECRET, '…'],
  [`redis//ada:${SECRET}@h`, '…'],
  [`redis://ada:${SECRET}@h:port`, 'redis://…'],
  [`eyJhbGciOi.${SECRET}.x`, '…'],
  [`redis://redis://ada:${SECRET}@h`, 'redis://redis/…'],
  [`postgres://h/ada:${SECRET}%40db`, 'postgres://h/…'],
])('an address: shows %s as %s', (address, shown) => {
  expect(maskAddress(address)).toBe(shown);
});

describe('the token', () => {
  it('is trimmed, whatever line end its file has', () => {
    const tokenFile = fileWith('token', `\uFEFF  ${SECRET}\r\n`);
    expect(readToken({ token: null, tokenFile })).toBe(SECRET);
    expect(readToken({ token: ` ${SECRET}\n`, tokenFile: null })).toBe(SECRET);
    expect(readToken({ token: null, tokenFile: null })).toBeNull();
  });

  it.each([
    ['two lines', `${SECRET}\n${SECRET}`, 'usage-invalid', 'is not a token'],
    ['a blank', `${SECRET} ${SECRET}`, 'usage-invalid', 'is not a token'],
    ['a letter that no header carries', `${SECRET}é`, 'usage-invalid', 'is not a token'],
    ['the word Bearer', `Bearer ${SECRET}`, 'usage-invalid', 'without the word Bearer'],
    ['a whole document', SECRET.repeat(300), 'usage-invalid', 'is not a token'],
    ['nothing', ' \n', 'usage-token-missing', 'the token is empty'],
  ])('is refused with %s, and not shown', (_, content, code, words) => {
    for (const source of [
      { token: content, tokenFile: null },
      { token: null, tokenFile: fileWith('bad-token', content) },
    ]) {
      const error = refusal(() => readToken(source));
      expect(error.code).toBe(code);
      expect(error.message).toContain(words);
      expect(error.message).not.toContain('Sesame');
    }
  });

  it('is reported missing with the path of its file', () => {
    const error = refusal(() => readToken({ token: null, tokenFile: join(folder, 'none') }));
    expect(error.code).toBe('usage-token-missing');
    expect(error.message).toContain(`${join(folder, 'none')} (it does not exist)`);
    expect(refusal(() => readToken({ token: null, tokenFile: folder })).message).toContain(
      '(it is a folder)',
    );
  });

  it('is not shown when it was given instead of its file', () => {
    expect(refusal(() => readToken({ token: null, tokenFile: SECRET })).message).not.toContain('Sesame');
    expect(maskTokenPath('token.txt')).toBe('token.txt');
    expect(maskTokenPath('/run/secrets/brand-token-of-production')).toContain('brand-token');
  });
});

describe('the config file', () => {
  const env = {};
  it('is found in the working folder, by the environment or by the flag', () => {
    expect(readConfigFile({ flags: {}, env, folder })).toBeNull();
    const own = fileWith('brand-enrich.config.json', '\uFEFF{"rate": 1}');
    fileWith('two.json', '{"rate": 2}');
    // Comments, and a comma after the last setting.
    fileWith('three.json', '{\n  // requests a second\n  "rate": 3,\n}');
    expect(readConfigFile({ flags: {}, env, folder })).toEqual({ path: own, values: { rate: 1 } });
    const two = { BRAND_ENRICH_CONFIG: 'two.json' };
    expect(readConfigFile({ flags: {}, env: two, folder })?.values).toEqual({ rate: 2 });
    const flags = { config: 'three.json' };
    expect(readConfigFile({ flags, env: two, folder })?.values).toEqual({ rate: 3 });
    rmSync(own);
  });

  it('must exist when it was named', () => {
    const error = refusal(() => readConfigFile({ flags: { config: 'none.json' }, env, folder }));
    expect(error.message).toContain(`the config file cannot be read: ${join(folder, 'none.json')}`);
  });

  it.each(['', '{', '[]', '"x"', 'null', `{"token": "${SECRET}",,}`])('is refused if it is %j', (content) => {
    fileWith('wrong.json', content);
    const { message } = refusal(() => readConfigFile({ flags: { config: 'wrong.json' }, env, folder }));
    expect(message).toMatch(/is (not a JSON object|not valid JSON at line 1, column \d+): /);
    expect(message).not.toContain('Sesame');
  });
});

describe('the output of config', () => {
  const env = {
    BRAND_API_TOKEN: SECRET,
    BRAND_API_URL: 'https://api.example.com',
    BRAND_ENRICH_ENGINE: `redis://ada:${SECRET}@h:6379`,
    BRAND_ENRICH_MAX_ERRORS: '5%',
  };
  const flags = { rate: '50', column: ['site:domain', 'b'] };
  const load = () => loadAny({ flags, env, file: { maxAge: '2h', strict: true }, command: 'config' });

  it('shows each value with its origin', () => {
    const shown = shownSettings(load()).map(({ name, value, origin }) => [name, [value, origin]]);
    expect(Object.fromEntries(shown)).toMatchObject({
      rate: ['50', 'flag'],
      column: ['site:domain, b', 'flag'],
      baseUrl: ['https://api.example.com', 'environment'],
      BRAND_API_TOKEN: ['set, not shown', 'environment'],
      tokenFile: ['-', 'default'],
      engine: ['redis://***@h:6379', 'environment'],
      maxErrors: ['5%', 'environment'],
      maxAge: ['2h', 'file'],
      strict: ['yes', 'file'],
      timeout: ['40s', 'default'],
      freeStatuses: ['204, 400, 402, 5xx', 'default'],
      worker: ['yes', 'default'],
    });
  });

  it('aligns the columns below the name of the file', () => {
    const lines = showConfig(load(), { path: '/work/brand-enrich.config.json' }).split('\n');
    expect(lines[0]).toBe('config file: /work/brand-enrich.config.json');
    const places = lines
      .filter((line) => / (flag|environment|file|default)$/.test(line))
      .map((line) => line.search(/\S+$/));
    expect(places.length).toBeGreaterThan(50);
    expect(new Set(places).size).toBe(1);
    expect(showConfig(load(), null)).toContain('config file: none');
  });

  it('contains no secret', () => {
    const text = showConfig(load(), null) + JSON.stringify(shownSettings(load())) + settingsList();
    expect(text).not.toContain('Sesame');
  });
});

it.each([
  { BRAND_API_URL: SECRET },
  { BRAND_API_URL: `https://ada:${SECRET}@api.example.com` },
  { BRAND_API_URL: `https://api.example.com?token=${SECRET}` },
  { BRAND_ENRICH_ENGINE: `redi://ada:${SECRET}@h` },
  { BRAND_ENRICH_ENGINE: `ada:${SECRET}@h` },
  { REDIS_URL: `redis//ada:${SECRET}@h` },
  { BRAND_API_TOKEN: `Bearer ${SECRET}` },
  { BRAND_API_TOKN: SECRET },
])('a refused setting: does not show its value: %j', (env) => {
  const { message } = refusal(() => loadAny({ env }));
  expect(message).not.toContain('Sesame');
});

describe('the password of the dashboard', () => {
  const NONE = { dashboardHost: '127.0.0.1', dashboardPassword: null, dashboardPasswordFile: null };
  const PASSWORD = 'a-password-of-ours';
  it('is optional on loopback', () => {
    expect(readDashboardPassword(NONE)).toBeNull();
  });

  it.each(['0.0.0.0', '::', '192.168.0.7', 'dash.example'])('is required on %s, with a hint how', (host) => {
    const settings = { ...NONE, dashboardHost: host };
    expect(() => readDashboardPassword(settings)).toThrow(
      /^a dashboard outside loopback needs a password: --dashboard-host .*; set BRAND_ENRICH_DASHBOARD_PASSWORD or /,
    );
    expect(readDashboardPassword({ ...settings, dashboardPassword: PASSWORD })).toBe(PASSWORD);
  });

  it('is read from its file without the line end', async () => {
    const path = join(await temporaryFolder(), 'password.txt');
    await writeFile(path, `\uFEFF${PASSWORD}\r\n`);
    expect(readDashboardPassword({ ...NONE, dashboardPasswordFile: path })).toBe(PASSWORD);
  });

  it('a missing or empty password file is refused without quoting it', async () => {
    const path = join(await temporaryFolder(), 'password.txt');
    const read = () => readDashboardPassword({ ...NONE, dashboardPasswordFile: path });
    expect(read).toThrow('the file of the password cannot be read');
    for (const text of ['', 'short-enoug', 'two lines of\ntext that is long', 'x'.repeat(1_025)]) {
      await writeFile(path, text);
      expect(read).toThrow(/^its content \(not shown\) is not a password: .*; write one line of 12 /);
    }
  });

  it('a short password from the environment is refused without quoting it', () => {
    const short = 'short-enoug';
    const env = { ...SERVICE, BRAND_ENRICH_DASHBOARD_PASSWORD: short };
    const { message } = refusal(() => loadAny({ env, command: 'up' }));
    expect(message).toContain('BRAND_ENRICH_DASHBOARD_PASSWORD');
    expect(message).not.toContain(short);
  });
});

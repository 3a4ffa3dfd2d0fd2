/** The password of the dashboard: what it may be, where it comes from, and when there must be one. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLoopbackHost } from '../../src/config/address-values.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { readDashboardPassword } from '../../src/config/secrets.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NONE = { dashboardHost: '127.0.0.1', dashboardPassword: null, dashboardPasswordFile: null };
const PASSWORD = 'a-password-of-ours';
const SERVICE = { BRAND_API_URL: 'https://api.example', BRAND_API_TOKEN: 'token-of-a-test' };

function load(env: Record<string, string>, flags: Record<string, unknown> = {}) {
  return loadSettings({ flags, env: { ...SERVICE, ...env }, file: null, command: 'up', home: '/home/x' })
    .settings;
}

it('on loopback there need not be one', () => {
  expect(readDashboardPassword(NONE)).toBeNull();
});

it.each(['0.0.0.0', '::', '192.168.0.7', 'dash.example'])(
  'on %s there must be one, and it is said how',
  (host) => {
    const settings = { ...NONE, dashboardHost: host };
    expect(() => readDashboardPassword(settings)).toThrow(
      /^a dashboard that others can reach needs a password: --dashboard-host .*; set BRAND_ENRICH_DASHBOARD_PASSWORD or /,
    );
    expect(readDashboardPassword({ ...settings, dashboardPassword: PASSWORD })).toBe(PASSWORD);
  },
);

it('comes from its file, without the line end', async () => {
  const path = join(await temporaryFolder(), 'password.txt');
  await writeFile(path, `\uFEFF${PASSWORD}\r\n`);
  expect(readDashboardPassword({ ...NONE, dashboardPasswordFile: path })).toBe(PASSWORD);
});

it('a file that holds none, or is not there, is refused without a word of it', async () => {
  const path = join(await temporaryFolder(), 'password.txt');
  const read = () => readDashboardPassword({ ...NONE, dashboardPasswordFile: path });
  expect(read).toThrow('the file of the password cannot be read');
  for (const text of ['', 'short-enoug', 'two lines of\ntext that is long', 'x'.repeat(1_025)]) {
    await writeFile(path, text);
    expect(read).toThrow(/^what this file holds \(not shown\) is not a password: .*; write one line of 12 /);
  }
});

it('a short one in the environment is refused and not shown', () => {
  const short = 'short-enoug';
  expect(() => load({ BRAND_ENRICH_DASHBOARD_PASSWORD: short })).toThrow(/BRAND_ENRICH_DASHBOARD_PASSWORD/);
  expect(() => load({ BRAND_ENRICH_DASHBOARD_PASSWORD: short })).not.toThrow(new RegExp(short));
});

describe('of environment and file', () => {
  const env = { BRAND_ENRICH_DASHBOARD_PASSWORD: PASSWORD };

  it('the environment wins over a file that it names too', () => {
    const settings = load({ ...env, BRAND_ENRICH_DASHBOARD_PASSWORD_FILE: '/secrets/password' });
    expect(settings).toMatchObject({ dashboardPassword: PASSWORD, dashboardPasswordFile: null });
  });

  it('a file named by a flag wins', () => {
    const settings = load(env, { dashboardPasswordFile: '/secrets/password' });
    expect(settings).toMatchObject({
      dashboardPassword: null,
      dashboardPasswordFile: '/secrets/password',
    });
  });
});

it.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['a.localhost', true],
  ['127.0.0.1', true],
  ['127.255.0.9', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.1.example', false],
  ['localhost.example', false],
  ['notlocalhost', false],
])('%s is this machine alone: %s', (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});

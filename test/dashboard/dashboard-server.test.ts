/** Where the dashboard listens, and when it does not. */
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createReleasers } from '../../src/core/lifecycle.js';
import { silentLog } from '../../src/core/log.js';
import { type DashboardContext, openDashboard, serveDashboard } from '../../src/dashboard/open-dashboard.js';
import type { Engine } from '../../src/engine/engine.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { ask, basic } from './asking.js';
import { emptyContext, PASSWORD, startDashboard } from './served.js';
import { dashboardView, NOW } from './views.js';

it('names the flag to change when the port is taken', async () => {
  const { port } = new URL((await startDashboard()).url);
  const second = serveDashboard({
    host: '127.0.0.1',
    port: Number(port),
    url: null,
    linkToken: null,
    password: PASSWORD,
    clock: { now: () => NOW, monotonic: () => NOW, sleep: async () => undefined },
    actions: [],
    log: silentLog(),
    look: async () => dashboardView(),
    onError: () => undefined,
  });
  await expect(second).rejects.toThrow(
    `cannot listen on the address of the dashboard: 127.0.0.1:${port} (another program uses the port); choose another --dashboard-port`,
  );
});

it('writes the details of a bug to the log, not to the response', async () => {
  const served = await startDashboard({
    addPages: (app) =>
      app.get('/x', () => {
        throw new Error('a bug of this test');
      }),
  });
  const answer = await ask(served, '/x', { headers: basic(PASSWORD) });
  expect(answer.status).toBe(500);
  expect(answer.text).toBe('internal error; see the log\n');
  expect(served.errors.map(({ message }) => message)).toEqual(['a bug of this test']);
});

const untouched = new Proxy({} as Engine, {
  get() {
    throw new Error('the engine was touched');
  },
});
const open = (flags: Record<string, unknown>, more: Partial<DashboardContext> = {}) => {
  const env = { BRAND_API_URL: 'https://api.example', BRAND_API_TOKEN: 'token-of-a-test' };
  const { settings } = loadSettings({ flags, env, file: null, command: 'up', home: '/home/x' });
  const own = { engine: untouched, stateFolder: '/nowhere', stderr: process.stderr };
  return openDashboard({ ...emptyContext(), settings, ...own, releasers: createReleasers(), ...more });
};

it('does not open with --no-dashboard', async () => {
  expect(await open({ dashboard: false })).toBeNull();
});

it('refuses to listen for other hosts without a password', async () => {
  await expect(open({ dashboardHost: '0.0.0.0' })).rejects.toThrow(
    'a dashboard outside loopback needs a password',
  );
});

it('its links begin with --dashboard-url', async () => {
  const stderr = new PassThrough();
  const flags = { dashboardPort: '0', dashboardUrl: 'https://brands.example.com/' };
  const releasers = createReleasers();
  onTestFinished(() => releasers.releaseAll());
  const opened = await open(flags, { stderr, releasers, engine: {} as Engine });
  expect(opened?.url).toBe('https://brands.example.com/');
  expect(String(stderr.read())).toBe(`dashboard: ${opened?.signInUrl}\n`);
  expect(opened?.signInUrl).toMatch(/^https:\/\/brands\.example\.com\/\?token=[\w-]{32}$/);
});

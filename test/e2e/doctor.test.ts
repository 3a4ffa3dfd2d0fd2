/** `doctor`: one line for each thing that a run or `up` needs, and no cost. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { startMailServer } from '../local-service/mail-server.js';
import { startHook } from '../notify/hook-server.js';
import { startRedis } from '../support/redis-server.js';
import { createScene, type Scene } from '../support/scene.js';
import { ends, engineOfFile } from './commands.js';

const OWN = 'brand-service.example';
const engine = engineOfFile();

async function statesOf(scene: Scene, args: readonly string[], env: Record<string, string> = {}) {
  const { stdout, stderr, code } = await scene.run(['doctor', '--json', ...args], env);
  expect(stderr).toBe('');
  const { isReady, checks } = JSON.parse(stdout) as Document<'doctor'>;
  expect(code).toBe(isReady ? 0 : 5);
  return Object.fromEntries(checks.map(({ check, state, text }) => [check, `${state}: ${text}`]));
}

test('all that is set is tried for nothing, and a missing inbox is created', async () => {
  const scene = await createScene(engine, { ownDomain: OWN });
  const hook = await startHook(405);
  const mail = await startMailServer();
  const notices = ['--notify-url', hook.url, '--notify-mail', `smtp://127.0.0.1:${mail.port}?to=a@b.example`];
  const args = ['--own-domain', OWN, '--inbox', 'drop', ...notices];
  const { stdout } = await ends(0, scene.run(['doctor', ...args]));
  const lines = stdout.split('\n').filter((line) => !/^(ok|warning) /.test(line));
  expect(lines, stdout).toEqual(['']);
  expect(stdout).toMatch(/^ok +token +accepted: [\d,]+ of [\d,]+ requests used$/m);
  expect(stdout).toMatch(/^ok +clock +\d s from the service's, \d s from the engine's$/m);
  expect(stdout).toMatch(/^ok +webhook +http:\/\/127.0.0.1:\d+\/… answers HEAD with 405$/m);
  expect(stdout).toMatch(/^ok +e-mail .* takes mail for a@b.example$/m);
  expect(stdout).not.toContain(scene.token);
  expect(existsSync(scene.path('drop/inbox'))).toBe(true);
  expect(scene.service.meter.billed).toBe(0);
  expect(scene.service.meter.requests).toHaveLength(1);
});

test('without settings each missing one is named, and nothing is sent', async () => {
  const scene = await createScene(engine);
  const found = await statesOf(scene, [], { BRAND_API_URL: '', BRAND_API_TOKEN: '' });
  expect(found.service).toMatch(/^failed: .*BRAND_API_URL/);
  expect(found.token).toMatch(/^failed: .*BRAND_API_TOKEN/);
  expect(found.engine).toMatch(/^(ok|warning): /);
  for (const check of ['inbox', 'webhook', 'e-mail']) expect(found[check]).toMatch(/^skipped: /);
  const unasked = await statesOf(scene, []);
  expect(unasked.service).toMatch(/^skipped: .* can be reached; not asked: .*--own-domain/);
  expect(unasked.token).toMatch(/^skipped: set, not tried: .*--own-domain/);
  const silent = await statesOf(scene, [], { BRAND_API_URL: 'http://127.0.0.1:9' });
  expect(silent.service).toMatch(/^failed: .*nothing listens at 127.0.0.1:9/);
  expect(scene.service.meter.requests).toHaveLength(0);
});

test('every failure is shown, not only the first', async () => {
  const scene = await createScene(engine, { ownDomain: OWN });
  const closed = await startRedis();
  await closed.stop();
  await scene.write('file', '');
  const args = ['--own-domain', OWN, '--inbox', 'file', '--engine', closed.url, '--state', 'file'];
  const dead = ['--notify-url', 'http://127.0.0.1:9/', '--notify-mail', 'smtp://127.0.0.1:9?to=a@b.example'];
  const found = await statesOf(scene, [...args, ...dead], { BRAND_API_TOKEN: 'wrong-token' });
  expect(found.service).toMatch(/^ok: /);
  expect(found.token).toMatch(/^failed: the service refused the credentials/);
  for (const check of ['engine', 'disk', 'inbox', 'webhook', 'e-mail'])
    expect(found[check]).toMatch(/^failed: .+; .+/);
  expect(scene.service.meter.billed).toBe(0);
});

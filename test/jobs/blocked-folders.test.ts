/** A folder of an inbox that its watcher may not write to: people see it, and it goes on later. */

import { chmod, chown, mkdir, readdir } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { engineOfFile, stop } from '../e2e/commands.js';
import { askAs, PASSWORD } from '../e2e/start-up.js';
import { startCli } from '../support/cli.js';
import { createInboxScene, hurry } from './inbox-scene.js';

const engine = engineOfFile();

const TIME_BY_HAND = new URL('../support/time-by-hand.mjs', import.meta.url);

/** Root may write everywhere. */
const uid = process.getuid?.() === 0 ? 54_400 : undefined;

test('a folder that cannot be written closes the inbox for people and programs, and it goes on once it can', async () => {
  const scene = await createInboxScene(engine);
  for (const name of ['', 'box', 'box/inbox', 'box/done']) {
    await mkdir(scene.path(name), { recursive: true });
    if (uid !== undefined) await chown(scene.path(name), uid, uid);
  }
  const env = { ...scene.env, BRAND_ENRICH_DASHBOARD_PASSWORD: PASSWORD };
  const options = { cwd: scene.folder, env, ...(uid !== undefined && { uid }) };
  const ports = ['--metrics-port', '0', '--dashboard-port', '0'];
  const byHand = { ...env, NODE_OPTIONS: `--import ${TIME_BY_HAND}` };
  const up = startCli(['up', '--inbox', 'box', '--settle', '200ms', ...ports], { ...options, env: byHand });
  onTestFinished(() => stop(up));
  await up.untilSaid(/"msg":"up"/);
  hurry(() => up.kill('SIGUSR2'));
  const read = async (path: string) => (await askAs('ada', up)(path)).text();
  const inbox = async () => JSON.parse(await read('/status.json')).data.inboxes[0];
  const closed = async () =>
    JSON.parse((await startCli(['status', '--json'], options).done).stdout).closedInboxes;

  await chmod(scene.path('box/done'), 0o555);
  await scene.write('box/inbox/blk.csv', 'website\nblk.com\n');
  await up.untilSaid(/taking no files for a while/);
  const why = `a folder of the inbox cannot be used: ${scene.path('box/done')} (permission denied); make it writable for this user: then the inbox continues by itself`;
  await expect.poll(inbox, { timeout: 20_000 }).toMatchObject({ closed: why, inProgress: ['blk.csv'] });
  expect(await closed()).toMatchObject([{ folder: scene.path('box'), reason: why }]);
  const page = await read('/');
  expect(page).toContain('1 inbox is closed');
  expect(page).toContain('Inbox closed');
  expect(page).toContain(why);
  const [, run = ''] = /href="(\/runs\/[^"/]+)"/.exec(page) ?? [];
  expect(await read(run)).toContain('They are moved to their folder next.');
  expect(JSON.parse(await read(`${run}.json`))).toMatchObject({ isEnded: false, reason: why });

  await chmod(scene.path('box/done'), 0o755);
  await expect
    .poll(() => readdir(scene.path('box/done')), { timeout: 30_000 })
    .toEqual([expect.stringMatching(/^blk-/)]);
  await expect.poll(inbox, { timeout: 20_000 }).toMatchObject({ closed: null, inProgress: [] });
  expect(await closed()).toEqual([]);
  expect(await read('/')).not.toContain('inbox is closed');
  expect(JSON.parse(await read(`${run}.json`))).toMatchObject({ isEnded: true, state: 'finished' });
});

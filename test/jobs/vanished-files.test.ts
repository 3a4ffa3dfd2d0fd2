/** Files and folders of jobs that people remove while a healthy watcher works on them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineOfFile, stop } from '../e2e/commands.js';
import { domainList } from '../support/scene.js';
import { createInboxScene, hurry, readReason } from './inbox-scene.js';

const engine = engineOfFile();

const GONE = 'the input was moved or removed while it was processed';

test.each([
  ['the original', 'list.csv', 1],
  ['all of its job', '', 0],
])('a run is over, and says why, when %s is removed from processing', async (_, name, failed) => {
  hurry();
  const scene = await createInboxScene(engine, { latencyMs: 500 });
  const watcher = await scene.watch();
  await scene.drop('list.csv', domainList(20));
  await expect.poll(() => scene.service.meter.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  const [own = ''] = await scene.list('processing');
  const job = (await readdir(scene.path(`processing/${own}`))).find((each) => each.startsWith('list-')) ?? '';
  await rm(scene.path(join('processing', own, job, name)), { recursive: true });

  // Long before its heartbeat would be old.
  const shown = async () => JSON.parse((await scene.run(['status', '--json'])).stdout).runs[0];
  await expect
    .poll(shown, { timeout: 15_000, interval: 500 })
    .toMatchObject({ status: 'stopped', reason: expect.stringContaining(GONE) });
  const folders = await scene.until('failed', failed);
  for (const folder of folders) expect(await readReason(folder)).toContain('list.csv (it does not exist)');

  await scene.drop('later.csv', 'website\nlater.com\n');
  await scene.until('done', 1);
  await stop(watcher);
});

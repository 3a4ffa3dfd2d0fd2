/** An inbox belongs to one engine: with two, its files would be bought twice. */
import { chown, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { openEngine } from '../../src/engine/open-engine.js';
import { assertOneEngine } from '../../src/jobs/inbox-folders.js';
import { stop } from '../e2e/commands.js';
import { quickEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createInboxScene } from './inbox-scene.js';

async function open() {
  const { BRAND_ENRICH_ENGINE: address = 'embedded', BRAND_ENRICH_STATE: stateFolder = '' } = (
    await quickEngine()
  ).env(await temporaryFolder());
  const engine = await openEngine({ engine: address, stateFolder, log: silentLog() });
  onTestFinished(() => engine.close());
  return { address, assertOwn: (root: string) => assertOneEngine(engine.keyValues, root) };
}

const idFileIn = (root: string) => join(root, '.brand-enrich-engine');
const idOf = async (root: string) => (await readFile(idFileIn(root), 'utf8')).trim();
const foreign = { message: expect.stringContaining('this inbox belongs to another engine') };

test('an inbox stays with its engine until a person moves it', async () => {
  const [one, other] = [await open(), await open()];
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  await Promise.all([one.assertOwn(first), one.assertOwn(second), one.assertOwn(first)]);
  expect(await idOf(second)).toBe(await idOf(first));
  const elsewhere = await temporaryFolder();
  await other.assertOwn(elsewhere);
  await expect(other.assertOwn(first)).rejects.toMatchObject(foreign);
  await expect(one.assertOwn(elsewhere)).rejects.toMatchObject(foreign);
  await one.assertOwn(first);

  await rm(idFileIn(first));
  await other.assertOwn(first);
  expect(await idOf(first)).toBe(await idOf(elsewhere));
});

test('an engine that was emptied takes the id of the inbox', async () => {
  const engine = await open();
  const root = await temporaryFolder();
  await engine.assertOwn(root);
  const id = await idOf(root);
  const client = new Redis(engine.address);
  await client.flushall();
  client.disconnect();
  await engine.assertOwn(root);
  expect(await idOf(root)).toBe(id);
  await engine.assertOwn(await temporaryFolder());
});

test.skipIf(process.getuid?.() !== 0)(
  'an id of another user, or behind a link, names no engine',
  async () => {
    const engine = await open();
    const root = await temporaryFolder();
    await writeFile(idFileIn(root), 'planted\n');
    await chown(idFileIn(root), 54_400, 54_400);
    await expect(engine.assertOwn(root)).rejects.toThrow('belongs to another user');
    await rm(idFileIn(root));
    await symlink('/etc/hostname', idFileIn(root));
    await expect(engine.assertOwn(root)).rejects.toThrow('symbolic link');
  },
);

test('samples give the inbox no id: their engine is gone with the process', async () => {
  const scene = await createInboxScene(await quickEngine());
  const watcher = await scene.watch('--sample');
  await scene.drop('list.csv', domainList(1));
  await expect.poll(() => scene.list('inbox'), { timeout: 20_000 }).toEqual([]);
  await stop(watcher);
  expect(await readdir(scene.folder)).not.toContain('.brand-enrich-engine');
});

/** Forty files made to exhaust a watcher do not keep it from a file of one row. */
import { expect, test } from 'vitest';
import { onEngines, stop } from '../e2e/commands.js';
import { inLongTests, redisEngine } from '../support/engines.js';
import { HOSTILE } from '../support/hostile-files.js';
import { createInboxScene, readReason } from './inbox-scene.js';

const FILES = 40;

onEngines([inLongTests(redisEngine())], (engine) => {
  test('a file of one row passes them', { timeout: 900_000 }, async () => {
    const contents = await Promise.all(HOSTILE.map(([, make]) => make()));
    const scene = await createInboxScene(engine);
    const watcher = await scene.watch();
    for (let at = 0; at < FILES; at += 1)
      await scene.drop(`hostile-${at}.bin`, contents[at % contents.length] ?? Buffer.alloc(0));
    await scene.until('processing', 1);
    await scene.drop('small.csv', 'website\nsmall-1.com\n');
    await expect
      .poll(async () => (await scene.list('done')).some((name) => name.startsWith('small')), {
        timeout: 60_000,
      })
      .toBe(true);
    // The others are not through yet.
    expect((await scene.list('inbox')).length).toBeGreaterThan(0);
    await expect
      .poll(async () => (await scene.list('done')).length + (await scene.list('failed')).length, {
        timeout: 600_000,
      })
      .toBe(FILES + 1);
    for (const name of await scene.list('failed'))
      expect((await readReason(scene.path(`failed/${name}`))).length).toBeLessThanOrEqual(4_000);
    expect(watcher.said.split('\n').every((line) => line.length < 4_000)).toBe(true);
    // It is the same process, and its end is an orderly one.
    await stop(watcher);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
  });
});

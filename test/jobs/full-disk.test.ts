/** A file that unpacks to more than the disk holds is the one that ends; the others go on. */
import { mkdir, statfs } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { onEngines, stop } from '../e2e/commands.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { tinyDisk } from '../support/tiny-disk.js';
import { zipOf } from '../support/workbooks.js';
import { createInboxScene, readReason } from './inbox-scene.js';

const MB = 1_048_576;
const SITES = Array.from({ length: 12 }, (_, at) => `acme-${at}.com,${'x'.repeat(10_000)}\n`).join('');
/** So many megabytes of rows, which take little to pack. */
const rows = (megabytes: number) =>
  Buffer.concat([Buffer.from('website,note\n'), Buffer.alloc(megabytes * MB, SITES)]);

onEngines([inLongTests(redisEngine()), inLongTests(embeddedEngine())], (engine) => {
  test('a file that would fill the disk fails, and says why', { timeout: 180_000 }, async ({ skip }) => {
    const scene = await createInboxScene(engine);
    await mkdir(scene.path('state'), { mode: 0o700 });
    // Of two that fill it together, one has at least 100 MB.
    const size = 200 + (engine.name === 'embedded' ? 260 : 220);
    if (tinyDisk(scene.path('state'), `${size}m`) === null) return skip('this user may not mount one');
    const watcher = await scene.watch();
    const { bavail } = await statfs(scene.path('state'));
    await scene.drop('bomb.csv.gz', gzipSync(rows(240)));
    await scene.drop('bomb.zip', await zipOf({ 'bomb.csv': rows(240) }));
    await scene.until('processing', 1);
    await scene.drop('small.csv', 'website\nsmall-1.com\n');
    await scene.until('done', 1);
    await scene.until('failed', 2);
    for (const folder of await scene.list('failed'))
      expect(await readReason(scene.path(`failed/${folder}`))).toMatch(
        /^The input takes more disk space than there is: bomb\..* while it is processed/,
      );
    await scene.drop('later.csv', 'website\nlater-1.com\n');
    await scene.until('done', 2);
    expect((await statfs(scene.path('state'))).bavail).toBeGreaterThan(bavail - 8_000);
    expect(scene.service.meter.billed).toBe(2);
    await stop(watcher);
  });
});

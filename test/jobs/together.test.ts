/** Several watchers of one folder: each file is processed once, whichever watcher dies. */
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { answeredIn, onEngines, stop } from '../e2e/commands.js';
import { redisEngine } from '../support/engines.js';
import { domainAt } from '../support/scene.js';
import { createInboxScene } from './inbox-scene.js';

const redis = redisEngine();
const CONCURRENCY = 16;
const FILES = 60;
const ROWS = 8;

onEngines([redis], () => {
  test('two watchers process 60 files, one is killed: each is done once', { tags: ['long'] }, async () => {
    const scene = await createInboxScene(redis, { latencyMs: 20 });
    const { meter } = scene.service;
    await mkdir(scene.path('inbox'));
    // Neighbouring files share half of their identifiers.
    for (let file = 0; file < FILES; file += 1) {
      const rows = Array.from({ length: ROWS }, (_, row) => domainAt((file * ROWS) / 2 + row));
      await scene.drop(`list-${file}.csv`, `website\n${rows.join('\n')}\n`);
    }
    const flags = ['--concurrency', String(CONCURRENCY)];
    const [doomed, survivor] = await Promise.all([scene.watchAlone(...flags), scene.watchAlone(...flags)]);
    await scene.service.until(() => meter.billed >= 60);
    doomed.kill('SIGKILL');
    const done = await scene.until('done', FILES);
    const names = done.map((path) => basename(path).replace(/-2\d\d\d-.*/, ''));
    expect(new Set(names).size).toBe(FILES);
    for (const path of done) {
      const name = basename(path).replace(/-2\d\d\d-.*/, '');
      expect(await answeredIn(join(path, `${name}.enriched.csv`)), path).toBe(ROWS);
      expect(await readdir(path)).not.toContain(`${name}.enriched.partial.csv`);
    }
    const distinct = ((FILES + 1) * ROWS) / 2;
    expect(meter.billedOf.size).toBe(distinct);
    expect(meter.billed).toBeLessThanOrEqual(distinct + 2 * CONCURRENCY);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    for (const place of ['inbox', 'failed', 'waiting'] as const) expect(await scene.list(place)).toEqual([]);
    await stop(survivor);
    expect(await scene.list('processing')).toEqual([]);
  });
});

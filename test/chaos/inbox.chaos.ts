/**
 * The inbox under load: hundreds of files at once with a watcher killed, and a parked file that
 * resumes after its limit was raised.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInboxScene, stopWatcher } from '../daemon/inbox/inbox-scene.js';
import { redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { domainAt, domainList } from '../support/scene.js';

const redis = redisEngine();
const CONCURRENCY = 32;
const FILES = 500;
const ROWS = 20;

describe.skipIf(redis.missing !== null)('the inbox on redis', () => {
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());

  test('two watchers process 500 files after kill -9 of one: each file once, each identifier bought once beyond what was in flight', async () => {
    const scene = await createInboxScene(redis, { latencyMs: 50 });
    const { meter } = scene.service;
    await mkdir(scene.path('inbox'));
    const flags = ['--concurrency', String(CONCURRENCY)];
    const watchers = await Promise.all([scene.watch(...flags), scene.watch(...flags)]);
    for (let file = 0; file < FILES; file += 1) {
      const rows = Array.from({ length: ROWS }, (_, row) => domainAt((file * ROWS) / 2 + row));
      await scene.drop(`list-${file}.csv`, `website\n${rows.join('\n')}\n`);
    }
    await scene.service.until(() => meter.billed >= 1_000);
    watchers[0].kill('SIGKILL');
    const done = await scene.until('done', FILES, 240_000);
    const stems = done.map((path) => basename(path).replace(/-2\d\d\d-.*/, ''));
    expect(new Set(stems).size).toBe(FILES);
    for (const [index, path] of done.entries()) {
      const counts = countStatuses(await readRows(join(path, `${stems[index]}.enriched.csv`)));
      expect((counts.matched ?? 0) + (counts.not_found ?? 0), path).toBe(ROWS);
      expect(await readdir(path)).toHaveLength(4);
    }
    const distinct = ((FILES + 1) * ROWS) / 2;
    expect(meter.billedOf.size).toBe(distinct);
    expect(meter.billed - distinct).toBeLessThanOrEqual(2 * CONCURRENCY);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    for (const place of ['inbox', 'failed', 'waiting'] as const) expect(await scene.list(place)).toEqual([]);
    expect(await stopWatcher(watchers[1])).toBe(0);
    expect(await scene.list('processing')).toEqual([]);
  });

  test.each([{ flags: [] }, { flags: ['--own-domain', 'brandfetch.com'] }])(
    'a parked file that was retried before finishes within a minute of the limit being raised ($flags)',
    async ({ flags }) => {
      const scene = await createInboxScene(redis, { quota: 20 });
      const { meter, options } = scene.service;
      const watcher = await scene.watch(...flags);
      await scene.drop('list.csv', domainList(50));
      await scene.until('waiting', 1);
      // The first retry comes soon, later ones less often.
      const before = meter.requests.length;
      await expect.poll(() => meter.requests.length, { timeout: 30_000 }).toBeGreaterThan(before);
      await scene.until('waiting', 1);
      options.quota = 1_000;
      const raisedMs = meter.nowMs();
      await expect.poll(() => scene.list('done'), { timeout: 90_000, interval: 100 }).toHaveLength(1);
      expect(meter.nowMs() - raisedMs).toBeLessThan(60_000);
      expect(meter.billed).toBe(50);
      await stopWatcher(watcher);
    },
  );
});

/**
 * The inbox under load: hundreds of files at once with a watcher killed, and a parked file that
 * resumes after its limit was raised.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answeredIn, kill, onEngines } from '../e2e/commands.js';
import { createInboxScene, stopWatcher } from '../jobs/inbox-scene.js';
import { redisEngine } from '../support/engines.js';
import { HOSTILE } from '../support/hostile-files.js';
import { domainAt, domainList } from '../support/scene.js';

const redis = redisEngine();
const CONCURRENCY = 32;
const FILES = 500;
const ROWS = 20;
const HOSTILE_FILES = 40;

onEngines([redis], () => {
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
      expect(await answeredIn(join(path, `${stems[index]}.enriched.csv`)), path).toBe(ROWS);
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
      await scene.watch(...flags);
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
    },
  );

  test('a file of one row passes 40 that are made to exhaust `up` within 10 s, also after a kill and a stop', {
    timeout: 600_000,
  }, async () => {
    const scene = await createInboxScene(redis);
    const made = await Promise.all(HOSTILE.map(([, make]) => make()));
    const unpacked = Buffer.alloc(1024 * 1_048_576, 'acme.com\n');
    const texts = [
      gzipSync(Buffer.concat([Buffer.from('website\n'), unpacked]), { level: 1 }),
      gzipSync(unpacked.fill('a'), { level: 1 }),
      Buffer.from(`website,note\n${'"a""b"",\n'.repeat(1_000_000)}`),
    ];
    const contents = [...made, ...texts];
    const begin = async () => {
      const up = scene.start(['up', '--inbox', '.', '--dashboard-port', '0', '--metrics-port', '0']);
      await up.untilSaid(/watching the inbox/);
      return up;
    };
    const seconds: number[] = [];
    const pass = async (name: string) => {
      const droppedAt = performance.now();
      await scene.drop(`${name}.csv`, `website\n${name}.com\n`);
      const isThere = async () => (await scene.list('done')).some((each) => each.startsWith(`${name}-`));
      await expect.poll(isThere, { interval: 50 }).toBe(true);
      seconds.push(Math.round(performance.now() - droppedAt) / 1_000);
    };
    let up = await begin();
    for (let at = 0; at < HOSTILE_FILES; at += 1)
      await scene.drop(`hostile-${at}.bin`, contents[at % contents.length] ?? Buffer.alloc(0));
    await pass('beside');
    await pass('among');
    await kill(up);
    up = await begin();
    await pass('killed');
    up.kill('SIGTERM');
    await up.done;
    up = await begin();
    await pass('stopped');
    console.log(`a file of one row took ${seconds.join(', ')} s`);
    expect(Math.max(...seconds)).toBeLessThan(10);
    expect((await scene.list('inbox')).length).toBeGreaterThan(0);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
    expect(await stopWatcher(up)).toBe(0);
  });
});

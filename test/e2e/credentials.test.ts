/** Refused credentials stop a run at once, and the token appears nowhere but in requests. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, expectPaidOnce, filesWith, onEngines } from './commands.js';

const TRACED = ['--log-file', 'run.log', '--log-level', 'trace'];

const redis = redisEngine();
onEngines([redis, inLongTests(embeddedEngine())], (engine) => {
  test.each([
    { dialect: 'spec', flags: [] },
    { dialect: 'coded', flags: ['--own-domain', 'brandfetch.com'] },
  ] as const)('a wrong token ends the run and appears nowhere: $dialect', async ({ dialect, flags }) => {
    const scene = await createScene(engine, { tokens: [], dialect }, domainList(500));
    const args = ['run', 'list.csv', ...TRACED, '--json', ...flags];
    const result = await ends(4, scene.run(args));
    expect(scene.service.meter.requests).toHaveLength(1);
    expect(scene.service.meter.billed).toBe(0);
    expect(countStatuses(await readRows(scene.path('list.enriched.partial.csv')))).toEqual({ deferred: 500 });
    expect(result.stdout + result.stderr).not.toContain(scene.token);
    expect(await filesWith(scene.token, scene.folder)).toEqual([]);
  });
});

onEngines([redis], () => {
  test('a token revoked during a run stops it, and the next run with a good one buys only the rest', async () => {
    const scene = await createScene(redis, { latencyMs: 30 }, domainList(300));
    const { meter, options } = scene.service;
    const running = scene.startHere(['run', 'list.csv', '--concurrency', '16']);
    await scene.service.until(() => meter.billed >= 100);
    options.revoked = [scene.token];
    const billed = meter.billed;
    await ends(4, running.done);
    expect(meter.count({ why: 'credentials' })).toBeLessThanOrEqual(32);
    expect(meter.billed).toBe(billed);
    const rows = await readRows(scene.path('list.enriched.partial.csv'));
    const { matched = 0, not_found: missing = 0 } = countStatuses(rows);
    expect(matched + missing).toBe(billed);

    options.revoked = [];
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 300);
  });

  test('the token never reaches Redis, neither in a key nor in a value', async () => {
    const client = new Redis(redis.server.url);
    onTestFinished(() => client.disconnect());
    const monitor = await client.monitor();
    onTestFinished(() => monitor.disconnect());
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, words: string[]) => commands.push(words.join(' ')));
    const scene = await createScene(redis, {}, domainList(200));
    const result = await ends(0, scene.run(['run', 'list.csv', ...TRACED]));
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((command) => command.includes(scene.token))).toEqual([]);
    expect(result.stdout + result.stderr).not.toContain(scene.token);
    expect(await filesWith(scene.token, scene.folder)).toEqual([]);
  });
});

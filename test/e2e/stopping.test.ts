/**
 * Stopped is not failed: the same command continues where it was. `test/chaos/kills.chaos.ts`
 * covers kills at random moments.
 */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, kill, onEngines, statusOf } from './commands.js';

const redis = redisEngine();
onEngines([redis, embeddedEngine()].map(inLongTests), (engine) => {
  test('Ctrl-C: every paid answer is in the partial file, and the same command buys only the rest', async () => {
    const scene = await createScene(engine, { latencyMs: 700 }, domainList(200));
    const { meter, options } = scene.service;
    const running = scene.start(['run', 'list.csv', '--concurrency', '16']);
    await scene.service.until(() => meter.billed >= 40 && meter.inFlight > 4);
    running.kill('SIGINT');
    await ends(130, running.done);
    expect(meter.billed).toBeLessThan(200);
    expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(meter.billed);
    expect((await readReport(scene.path('list.report.json'))).run.exitCode).toBe(130);

    options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 200);
    expect(await scene.files()).not.toContain('list.enriched.partial.csv');
  });
});

onEngines([redis, postgresEngine()].map(inLongTests), (engine) => {
  test('a run that needs the permits of a killed one says so at once, and until when, and ends', async () => {
    const scene = await createScene(engine, { quota: 60 });
    const { meter, options } = scene.service;
    await scene.write('first.csv', domainList(1, 'first'));
    await ends(0, scene.run(['run', 'first.csv']));
    options.latencyMs = 100;
    await scene.write('list.csv', domainList(200));
    const killed = scene.start(['run', 'list.csv', '--concurrency', '64']);
    await scene.service.until(() => meter.billed >= 30);
    options.latencyMs = 600_000;
    const answered = meter.billed;
    // All that may be in flight is, and slow.
    const isFull = async () => {
      const { sent, inFlight, others, usage } = (await statusOf(scene)).account;
      const left = 60 - Math.max(usage ?? 0, sent + others);
      return sent >= answered && inFlight >= Math.max(1, Math.floor(left / 4));
    };
    await expect.poll(isFull).toBe(true);
    await kill(killed);
    options.latencyMs = 0;
    const again = scene.start(['run', 'list.csv']);
    await again.untilSaid(/waiting for \d+ permits of a killed run until \d\d:\d\d:\d\d UTC/);
    const result = await ends(7, again.done);
    expect(result.stderr).not.toContain('the service may be slow');
    expect(meter.billed).toBe(60);
  });
});

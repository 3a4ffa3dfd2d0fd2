/**
 * Stopped is not failed: signals, and commands from another process; the same command continues
 * where it was. `test/chaos` covers kills at random moments.
 */
import { expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport, readRows } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, kill, onEngines, statusOf } from './commands.js';

const CONCURRENCY = 16;

/** Waits until `path` is written and checks that the partial file contains every paid answer. */
async function expectPaidIsWritten(scene: Scene): Promise<void> {
  expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(scene.service.meter.billed);
}

const redis = redisEngine();
onEngines([redis, embeddedEngine()].map(inLongTests), (engine) => {
  test('Ctrl-C: every paid answer is in the partial file, and the same command buys only the rest', async () => {
    const scene = await createScene(engine, { latencyMs: 700 }, domainList(200));
    const { meter, options } = scene.service;
    const running = scene.start(['run', 'list.csv', '--concurrency', String(CONCURRENCY)]);
    await scene.service.until(() => meter.billed >= 40 && meter.inFlight > 4);
    running.kill('SIGINT');
    await ends(130, running.done);
    expect(meter.billed).toBeLessThan(200);
    await expectPaidIsWritten(scene);
    expect((await readReport(scene.path('list.report.json'))).run.exitCode).toBe(130);

    options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 200);
    expect(await scene.files()).not.toContain('list.enriched.partial.csv');
  });
});

onEngines([inLongTests(redis)], (engine) => {
  test('a lookup lost with two killed workers is left to the next run', { timeout: 180_000 }, async () => {
    const scene = await createScene(engine);
    const { meter, options } = scene.service;
    // Once an address has answered, requests are no longer sent one by one.
    await scene.write('first.csv', domainList(1));
    await ends(0, scene.run(['run', 'first.csv']));
    options.latencyMs = 600_000;
    await scene.write('list.csv', 'website\nknown-brand.com\n');
    const running = scene.start(['run', 'list.csv', '--no-worker']);
    for (const billed of [2, 3]) {
      const worker = scene.start(['worker']);
      await scene.service.until(() => meter.billed === billed);
      await kill(worker);
    }
    const last = scene.start(['worker']);
    await ends(7, running.done, 'for 1 identifier, two requests may have been billed');
    const [row] = await readRows(scene.path('list.enriched.partial.csv'));
    expect(row).toMatchObject({ brand_status: 'deferred' });
    expect(row?.brand_error).toContain('two requests may have been billed');
    expect(meter.billed).toBe(3);
    last.kill('SIGTERM');
    await last.done;

    options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expect(meter.billed).toBe(4);
  });
});

onEngines([inLongTests(redis)], (engine) => {
  test('after kill -9 the next run of the same command reports its own spending, and the dead one is ended', async () => {
    const scene = await createScene(engine, { latencyMs: 20 }, domainList(3_000));
    const { meter } = scene.service;
    const command = ['run', 'list.csv', '--timeout', '2s'];
    const killed = scene.start(command);
    await scene.service.until(() => meter.billed >= 300);
    await kill(killed);
    await scene.service.until(() => meter.inFlight === 0);
    const dead = await scene.run(['status']);
    expect(dead.stdout).toMatch(/ dead .*its process is gone; run the same command again/);
    const before = meter.billed;
    const again = await ends(0, scene.run([...command, '--json']));
    const { requests } = JSON.parse(again.stdout) as Document<'report'>;
    expect(requests).toMatchObject({
      sent: meter.billed - before,
      billed: meter.billed - before,
      savedByOthers: 0,
    });
    const { runs } = await statusOf(scene);
    // The killed start is part of the entry of the next one.
    expect(runs).toMatchObject([{ status: 'finished', earlier: { starts: 1 } }]);
    const { billed = 0, unreported = 0 } = runs[0]?.earlier ?? {};
    expect(billed + unreported).toBeGreaterThanOrEqual(before);
  });

  test('the requests of a killed worker are reported with what was billed', async () => {
    const scene = await createScene(engine, { latencyMs: 50 }, domainList(400));
    const { meter, options } = scene.service;
    const worker = scene.start(['worker', '--concurrency', String(CONCURRENCY)]);
    await worker.untilSaid(/waiting for chunks/);
    // The time-out is also how long a stopped run waits for its workers.
    const running = scene.start(['run', 'list.csv', '--no-worker', '--timeout', '2s', '--json']);
    await scene.service.until(() => meter.billed >= 60);
    options.latencyMs = 60_000;
    await scene.service.until(() => meter.inFlight === CONCURRENCY);
    await kill(worker);
    running.kill('SIGINT');
    const { stdout, stderr } = await running.done;
    const { requests } = JSON.parse(stdout) as Document<'report'>;
    expect(requests.unreported).toBeGreaterThanOrEqual(CONCURRENCY);
    // A worker may have been killed between its permit and its request.
    expect(requests.billed + requests.unreported).toBeGreaterThanOrEqual(meter.billed);
    expect(requests.billed + requests.unreported).toBeLessThanOrEqual(meter.billed + CONCURRENCY);
    expect(stderr).toContain(
      `perhaps billed: ${requests.unreported} more, in flight when their worker ended`,
    );
    const status = await scene.run(['status']);
    expect(status.stdout).toContain(`${requests.unreported} more may have been billed`);
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

/** Stopped is not failed; `test/chaos/kills.chaos.ts` covers kills at random moments. */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '../support/cli.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { CONCURRENCY, expectHonestStop, STOPPED_COMMANDS } from '../support/stopped-work.js';
import { temporaryFolder } from '../support/temporary-folder.js';
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
    await again.untilSaid(/a killed run holds \d+ permits until \d\d:\d\d:\d\d UTC/);
    const result = await ends(7, again.done);
    expect(result.stderr).not.toContain('the service may be slow');
    expect(meter.billed).toBe(60);
  });
});

onEngines([redisEngine(), embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  test.each(STOPPED_COMMANDS)('%s says how many requests it cuts off', async (command) => {
    const work = { command, latencyMs: 30_000, afterMs: 1_000, grace: '4s', rows: 2_000 };
    expect((await expectHonestStop(engine, work)).lost).toBe(CONCURRENCY);
  });

  test.each(STOPPED_COMMANDS)('%s waits within --stop-grace for answers that come', async (command) => {
    const work = { command, latencyMs: 3_000, afterMs: 500, grace: '20s', rows: 200 };
    expect((await expectHonestStop(engine, work)).lost).toBe(0);
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a run that reads from a silent pipe', async (signal) => {
  const cwd = await temporaryFolder();
  const pipe = join(cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const running = startCli(['plan', 'pipe'], { cwd });
  onTestFinished(() => running.kill('SIGKILL'));
  const writer = await untilRead(pipe);
  onTestFinished(() => writer.close());
  running.kill(signal);
  const { code, stderr } = await running.done;
  expect(stderr).toContain(
    'brand-enrich: stopped by a signal: pipe; nothing was spent or written; run again',
  );
  expect(code).toBe(130);
});

/** The pipe, opened for writing once a reader has opened it. */
async function untilRead(pipe: string): Promise<FileHandle> {
  for (;;) {
    const writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => null);
    if (writer !== null) return writer;
    await setTimeout(5);
  }
}

/** One run is paused: meanwhile nothing is paid twice, counted twice or lost. */
import { expect, test, vi } from 'vitest';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, kill, onEngines, openEngineOf } from './commands.js';

const PATIENCE = { timeout: 60_000, interval: 50 };

/** `brand-enrich run list.csv` over that many identifiers, once `billed` of them are billed. */
async function startRun(scene: Scene, identifiers: number, args: readonly string[] = [], billed = 8) {
  await scene.write('list.csv', domainList(identifiers));
  const process = scene.start(['run', 'list.csv', '--report', 'report.json', ...args]);
  await scene.service.until((meter) => meter.billed >= billed);
  const { runs } = await openEngineOf(scene);
  const id = (await runs.list(1))[0]?.id ?? '';
  return {
    process,
    id,
    runs,
    pause: async () => expect(await runs.pause(id, 'ada')).toBe('done'),
    resume: async () => runs.resume((await runs.get(id))?.owner ?? ''),
    cancel: () => runs.cancel(id, 'ada'),
    /** Resolves when nothing is in flight: all that was billed is in the tally. */
    quiet: () =>
      vi.waitUntil(async () => (await runs.get(id))?.tally.billed === scene.service.meter.billed, PATIENCE),
    async tally() {
      const { matched = 0, notFound = 0, failed = 0, stored = 0 } = (await runs.get(id))?.tally ?? {};
      return { answered: matched + notFound + failed, stored };
    },
  };
}

const reportOf = (scene: Scene) => readReport(scene.path('report.json'));

const milliseconds = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('a run that is paused and resumed again and again counts each identifier once', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine, { latencyMs: 400 });
    scene.start(['worker', '--concurrency', '8']);
    const run = await startRun(scene, 120, ['--concurrency', '8']);
    // So that there is something left to pause, however busy the machine is.
    scene.service.options.latencyMs = 2_000;
    for (const pausedMs of [400, 10, 350, 50, 400]) {
      await run.pause();
      await milliseconds(pausedMs);
      await run.resume();
      await milliseconds(pausedMs);
    }
    scene.service.options.latencyMs = 0;
    await ends(0, run.process.done);
    expectPaidOnce(scene.service.meter, 120);
    expect(await run.tally()).toEqual({ answered: 120, stored: 0 });
    const { identifiers } = await reportOf(scene);
    expect(identifiers).toMatchObject({ distinct: 120, stored: 0, failed: 0, deferred: 0 });
    expect(identifiers.matched + identifiers.notFound).toBe(120);
  });
});

onEngines([inLongTests(redisEngine()), inLongTests(embeddedEngine())], (engine) => {
  async function completes(scene: Scene, identifiers: number) {
    scene.service.options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(scene.service.meter, identifiers);
    expect(await answeredIn(scene.path('list.enriched.csv'))).toBe(identifiers);
  }
  /** What a stopped run left in its files is what the service billed. */
  async function keptAll(scene: Scene) {
    expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(scene.service.meter.billed);
    expect(await reportOf(scene)).toMatchObject({ requests: { billed: scene.service.meter.billed } });
  }

  test.each([
    ['cancelled', 130],
    ['interrupted', 130],
  ] as const)('a paused run that is %s ends with %i and keeps every answer', async (how, code) => {
    const scene = await createScene(engine, { latencyMs: 2_000 });
    const run = await startRun(scene, 120, ['--concurrency', '8'], 9);
    await run.pause();
    await run.process.untilSaid(/paused by ada/);
    if (how === 'cancelled') await run.cancel();
    else run.process.kill('SIGINT');
    const endedAt = performance.now();
    await ends(code, run.process.done);
    expect(performance.now() - endedAt).toBeLessThan(30_000);
    await keptAll(scene);
    if (how === 'interrupted') await run.resume();
    await completes(scene, 120);
  });

  test('a worker killed with chunks of a paused run: another one continues after the resume', async () => {
    const scene = await createScene(engine, { latencyMs: 1_000 });
    const worker = scene.start(['worker', '--concurrency', '4']);
    const run = await startRun(scene, 120, ['--no-worker'], 9);
    await run.pause();
    await kill(worker);
    const lost = scene.service.meter.billed;
    scene.start(['worker', '--concurrency', '4']);
    await run.process.untilSaid(/paused by ada/);
    scene.service.options.latencyMs = 50;
    await run.resume();
    await run.pause();
    await run.resume();
    await ends(0, run.process.done);
    // Only what was in flight at the kill may be asked for again.
    expect(scene.service.meter.billed).toBeLessThanOrEqual(120 + 4);
    expect(lost).toBeLessThan(60);
    const { identifiers } = await reportOf(scene);
    expect(identifiers.matched + identifiers.notFound).toBe(120);
  });
});

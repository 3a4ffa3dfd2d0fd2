/** Several processes on one engine keep one budget and pay once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, describeOn, domainAt, domainList } from '../support/scene.js';

describeOn([redisEngine(), inLongTests(postgresEngine())], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test('two runs over the same 800 identifiers buy each once', async () => {
    const scene = await createScene(engine, { latencyMs: 10 });
    await scene.write('one.csv', domainList(800));
    const reversed = Array.from({ length: 800 }, (_, index) => `${index},${domainAt(799 - index)}`);
    await scene.write('two.csv', `no,domain\n${reversed.join('\n')}\n`);
    const results = await Promise.all([
      scene.run(['run', 'one.csv', '-o', 'one.out.csv']),
      scene.run(['run', 'two.csv', '-o', 'two.out.csv']),
    ]);
    for (const { code, stderr } of results) expect(code, stderr).toBe(0);
    expect(scene.service.meter.billed).toBe(800);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
    for (const name of ['one.out.csv', 'two.out.csv']) {
      const counts = countStatuses(await readRows(scene.path(name)));
      expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(800);
    }
  });

  test('four workers keep a limit of 53 through 20 % of 503 and jitter, in this run and the next', async () => {
    const scene = await createScene(engine, {
      quota: 50,
      plan: 'paid',
      jitterMs: 100,
      faults: { unavailable: 0.2 },
    });
    await scene.write('list.csv', domainList(300));
    const workers = Array.from({ length: 4 }, () => scene.start(['worker']));
    const command = ['run', 'list.csv', '--no-worker', '--overage-budget', '0.3'];
    for (const attempt of [1, 2]) {
      const result = await scene.run(command);
      expect(result.code, `run ${attempt}: ${result.stderr}`).toBe(7);
      expect(scene.service.meter.billed).toBe(53);
    }
    const counts = countStatuses(await readRows(scene.path('list.enriched.partial.csv')));
    expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(53);
    for (const worker of workers) worker.kill('SIGTERM');
    for (const worker of workers) expect((await worker.done).code).toBe(0);
  });
});

/** The budget holds, counted at the service: quota, overage, caps, and spending by others. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, expectPaidOnce, LONG, onEngines } from './commands.js';

onEngines([redisEngine(), ...[embeddedEngine(), postgresEngine()].map(inLongTests)], (engine) => {
  test('a quota of 100 buys exactly 100 of 300, and once raised the same command buys the other 200', async () => {
    const scene = await createScene(engine, { quota: 100 }, domainList(300));
    const { meter, options } = scene.service;

    await ends(7, scene.run(['run', 'list.csv']));
    expect(meter.billed).toBe(100);
    const partial = await readRows(scene.path('list.enriched.partial.csv'));
    expect(partial).toHaveLength(300);
    expect(countStatuses(partial).deferred).toBe(200);
    expect(await scene.files()).not.toContain('list.enriched.csv');

    options.quota = 5_000;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 300);
    const files = await scene.files();
    expect(files).toContain('list.enriched.csv');
    expect(files).not.toContain('list.enriched.partial.csv');
    expect(files).not.toContain('list.errors.csv');
    expect(countStatuses(await readRows(scene.path('list.enriched.csv'))).deferred).toBeUndefined();
  });
});

const redis = redisEngine();
onEngines([redis], () => {
  test('a run whose cap is raised continues where the lower one stopped it', async () => {
    const scene = await createScene(redis, {}, domainList(200));
    await ends(7, scene.run(['run', 'list.csv', '--max-requests', '30']));
    // The plan of the same command knows what it sent, and that other commands sent nothing.
    const deferred = async (file: string) => {
      const plan = await scene.run(['plan', file, '--max-requests', '50', '--json']);
      return JSON.parse(plan.stdout).spending.deferred;
    };
    expect(await deferred('list.csv')).toBe(150);
    await scene.write('other.csv', domainList(200, 'other'));
    expect(await deferred('other.csv')).toBe(150);
    await ends(7, scene.run(['run', 'list.csv', '--max-requests', '50']));
    expect(await deferred('list.csv')).toBe(150);
    expect(scene.service.meter.billed).toBe(50);
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(scene.service.meter, 200);
  });

  async function expectFewRefusals(dialect: 'coded' | 'body' | 'spec'): Promise<void> {
    const scene = await createScene(redis, { quota: 100, hasHeaders: false, dialect }, domainList(400));
    await ends(7, scene.run(['run', 'list.csv']));
    expect(scene.service.meter.billed).toBe(100);
    expect(scene.service.meter.count({ why: 'quota' })).toBeLessThanOrEqual(30);
    const report = await readReport(scene.path('list.report.json'));
    expect(report.rows).toMatchObject({ deferred: 300, failed: 0 });
  }

  const title = 'without usage headers (%s) the run ends after a few refusals for quota';
  test.each(['body'] as const)(title, expectFewRefusals);
  // With `spec` nothing says what is refused.
  test.each(['coded', 'spec'] as const)(title, LONG, expectFewRefusals);
});

/** The budget holds, counted at the service: quota, overage, caps, and spending by others. */
import { describe, expect, test } from 'vitest';
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

  test('a run ends at its own cap while another one of the account is busy', LONG, async () => {
    const scene = await createScene(engine, { latencyMs: 100 });
    const { meter } = scene.service;
    await scene.write('long.csv', domainList(2_000));
    await scene.write('short.csv', domainList(20, 'other'));
    const busy = scene.startHere(['run', 'long.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 50);
    await ends(7, scene.run(['run', 'short.csv', '--max-requests', '5']));
    const ofCapped = [...meter.billedOf].filter(([identifier]) => identifier.startsWith('domain:other-'));
    expect(ofCapped).toHaveLength(5);
    expect(meter.billed).toBeLessThan(2_000);
    busy.kill('SIGTERM');
    expect((await busy.done).code).toBe(130);
  });

  test('a paid plan with a budget of 0.3 buys exactly 3 beyond its quota of 50', async () => {
    const scene = await createScene(engine, { quota: 50, plan: 'paid' }, domainList(300));
    await ends(7, scene.run(['run', 'list.csv', '--overage-budget', '0.3']));
    expect(scene.service.meter.billed).toBe(53);
    expect(countStatuses(await readRows(scene.path('list.enriched.partial.csv'))).deferred).toBe(247);
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

  describe.each([
    ['coded', ['long']],
    ['body', []],
    // Nothing says what is refused.
    ['spec', ['long']],
  ] as const)('without usage headers (%s)', (dialect, tags) => {
    test('the run ends after a few refusals for quota', { tags: [...tags] }, async () => {
      const scene = await createScene(redis, { quota: 100, hasHeaders: false, dialect }, domainList(400));
      await ends(7, scene.run(['run', 'list.csv']));
      expect(scene.service.meter.billed).toBe(100);
      expect(scene.service.meter.count({ why: 'quota' })).toBeLessThanOrEqual(30);
      const report = await readReport(scene.path('list.report.json'));
      expect(report.rows).toMatchObject({ deferred: 300, failed: 0 });
    });
  });
});

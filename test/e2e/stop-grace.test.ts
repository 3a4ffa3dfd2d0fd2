/** SIGTERM while answers take longer than `--stop-grace` allows: what may be lost is said. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';
import { CONCURRENCY, expectHonestStop, STOPPED_COMMANDS } from '../support/stopped-work.js';
import { ends, onEngines } from './commands.js';

onEngines([redisEngine(), embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  test.each(STOPPED_COMMANDS)(
    '%s counts the requests that it cuts off as perhaps billed, and says it',
    async (command) => {
      const work = { command, latencyMs: 30_000, afterMs: 1_000, grace: '4s', rows: 2_000 };
      expect((await expectHonestStop(engine, work)).lost).toBe(CONCURRENCY);
    },
  );

  test('report and summary of a run say how many may be sent again', async () => {
    const scene = await createScene(engine);
    const { meter, options } = scene.service;
    await scene.write('first.csv', 'website\nknown-brand.com\n');
    expect((await scene.run(['run', 'first.csv'])).code).toBe(0);
    options.latencyMs = 300;
    await scene.write('list.csv', domainList(200));
    const flags = ['--concurrency', '8', '--rate', '0', '--stop-grace', '12s'];
    const running = scene.start(['run', 'list.csv', ...flags]);
    await scene.service.until(() => meter.billed > 1);
    options.latencyMs = 30_000;
    await scene.service.until(() => meter.inFlight === 8 && meter.billed > 2);
    running.kill('SIGTERM');
    const { stderr } = await ends(130, running.done);
    expect(stderr).toContain(
      'perhaps billed: 8 more, in flight when their worker ended; they may be sent again',
    );
    expect(stderr).toContain('interrupted: 8 requests may have been billed and may be sent again');
    const { requests } = await readReport(scene.path('list.report.json'));
    expect(requests).toMatchObject({ billed: meter.billed - 1 - 8, unreported: 8 });
  });

  test.each(STOPPED_COMMANDS)('%s waits within --stop-grace for answers that come', async (command) => {
    const work = { command, latencyMs: 3_000, afterMs: 500, grace: '20s', rows: 200 };
    expect((await expectHonestStop(engine, work)).lost).toBe(0);
  });
});

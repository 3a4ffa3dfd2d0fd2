/**
 * An engine that is gone for good: Ctrl-C ends the run soon when nothing is in flight, and the file
 * is written from what is known.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { engineAt } from '../support/engines.js';
import { readReport, readRows } from '../support/output-files.js';
import { startPostgres } from '../support/postgres-server.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { createScene, domainList } from '../support/scene.js';
import { ends } from './commands.js';

const servers = [
  { name: 'redis', isMissing: !hasRedisServer(), start: startRedis, signal: 'SIGKILL', isLong: false },
  { name: 'postgres', isMissing: false, start: () => startPostgres(), signal: 'SIGQUIT', isLong: true },
] as const;

for (const { name, isMissing, start, signal, isLong } of servers) {
  describe.skipIf(isMissing)(`on ${name}`, { tags: isLong ? ['long'] : [] }, () => {
    // Requests may take longer than this test, so a run that waited for requests not in flight
    // would not end in time.
    test('Ctrl-C ends a run whose engine is gone, without waiting for requests that are not in flight', async () => {
      const server = await start();
      try {
        const scene = await createScene(engineAt(name, server.url), { latencyMs: 20 }, domainList(2_000));
        const running = scene.start(['run', 'list.csv', '--timeout', '300s']);
        await scene.service.until((meter) => meter.billed >= 200);
        await server.kill(signal);
        await scene.service.until((meter) => meter.inFlight === 0);
        await running.untilSaid(/does not answer/);
        running.kill('SIGINT');
        const result = await ends(130, running.done);
        expect(result.stderr).toContain('the engine could not record the end of this run');
        expect(await readRows(scene.path('list.enriched.partial.csv'))).toHaveLength(2_000);
        // Paid answers that the engine never recorded are counted too.
        const { billed } = scene.service.meter;
        const { requests } = await readReport(scene.path('list.report.json'));
        expect(requests).toMatchObject({ sent: billed, billed });
        expect(result.stderr).toMatch(/the engine could not store \d+ paid answers?: they are on disk/);
      } finally {
        await server.stop();
      }
    });
  });
}

/**
 * Redis behind sentinels: a primary that dies in the middle of a run is replaced by a replica.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { createLoggedScene, limitedTo, PAID_ACCOUNT } from '../chaos/ground-truth.js';
import { engineAt } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { hasRedisServer } from '../support/redis-server.js';
import { domainList } from '../support/scene.js';
import { startSentinels } from '../support/sentinels.js';
import { ends } from './commands.js';

const ROWS = 600;

test.skipIf(!hasRedisServer()).each([
  { what: 'waits for a replica and pays nothing twice', flags: ['--wait-for-disk'], isOnce: true },
  { what: 'continues within its budget', flags: [], isOnce: false },
])('a run whose primary is replaced $what', async ({ flags, isOnce }) => {
  const { primary, url } = await startSentinels();
  const account = { ...PAID_ACCOUNT, latencyMs: 20 };
  const scene = await createLoggedScene(engineAt('redis', url), account);
  await scene.write('list.csv', domainList(ROWS));
  const command = ['run', 'list.csv', '--plan', 'paid', ...limitedTo(500), ...flags];
  const running = scene.start(command);
  await scene.service.until((meter) => meter.billed >= 150);
  await primary.kill('SIGKILL');
  await ends(7, running.done);
  const { meter } = scene.service;
  expect(meter.billed).toBeLessThanOrEqual(500);
  if (isOnce) expect([meter.billed, meter.mostBilledOnce()]).toEqual([500, 1]);
  const rows = await readRows(scene.path('list.enriched.partial.csv'));
  expect(rows).toHaveLength(ROWS);
});

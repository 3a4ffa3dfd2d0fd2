/**
 * A guest of the embedded engine that is killed: its holder stops asking for it, and the same command goes on.
 */
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { embeddedEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';

/** A heartbeat is dead after 30 s; requests that were due by then may still leave, and the last of them takes a moment. */
const DEAD_AFTER_MS = 36_000;

test('kill -9 of a guest: nothing is asked for it any more half a minute later, and running again buys the rest', async () => {
  const scene = await createScene(embeddedEngine(), { latencyMs: 1_000 });
  const { meter, options } = scene.service;
  await mkdir(scene.path('inbox'));
  const holder = scene.start(['watch', 'inbox', '--concurrency', '4']);
  await holder.untilSaid(/watching the inbox/);
  await scene.write('list.csv', domainList(300));
  const running = scene.start(['run', 'list.csv']);
  await scene.service.until(() => meter.billed >= 8);
  running.kill('SIGKILL');
  await running.done;
  const killedAt = meter.nowMs();
  await new Promise((resolve) => setTimeout(resolve, DEAD_AFTER_MS + 10_000));
  expect(meter.billed).toBeLessThan(200);
  expect(meter.requests.filter(({ atMs }) => atMs > killedAt + DEAD_AFTER_MS)).toEqual([]);
  expect(holder.said).not.toMatch(/"level":(50|60)/);

  options.latencyMs = 0;
  const again = await scene.run(['run', 'list.csv']);
  expect(again.code, again.stderr).toBe(0);
  const counts = countStatuses(await readRows(scene.path('list.enriched.csv')));
  expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(300);
  expect(meter.billed).toBe(300);
  expect(meter.mostBilledOnce()).toBe(1);
});

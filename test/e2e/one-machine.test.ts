/**
 * Several processes on one state folder: runs, workers, inboxes and status commands side by side on
 * the embedded engine, as on any server.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { embeddedEngine } from '../support/engines.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce } from './commands.js';

const engine = embeddedEngine();

async function serverPid(scene: Scene): Promise<number> {
  const text = await readFile(scene.path('state/postgres/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

describe('on one machine without a configured server', () => {
  test('a server that is killed again and again costs no answer and no request', async () => {
    const scene = await createScene(engine, { latencyMs: 50 }, domainList(400));
    const { meter } = scene.service;
    const run = scene.start(['run', 'list.csv', '--concurrency', '16']);
    for (const billed of [60, 180]) {
      await scene.service.until(() => meter.billed >= billed);
      process.kill(await serverPid(scene), 'SIGKILL');
    }
    await ends(0, run.done);
    expect(await answeredIn(scene.path('list.enriched.csv'))).toBe(400);
    expectPaidOnce(meter, 400);
  });

  test('a supervisor that ends server and run together loses nothing', { tags: ['long'] }, async () => {
    const scene = await createScene(engine, { latencyMs: 200 }, domainList(200));
    const { meter, options } = scene.service;
    const run = scene.start(['run', 'list.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 40 && meter.inFlight > 4);
    const server = await serverPid(scene);
    run.kill('SIGTERM');
    process.kill(server, 'SIGTERM');
    await ends(130, run.done);
    expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(meter.billed);
    options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(meter, 200);
  });
});

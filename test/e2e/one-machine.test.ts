/**
 * Several processes on one state folder: runs, workers, inboxes and status commands side by side on
 * the embedded engine, as on any server.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { embeddedEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, statusOf } from './commands.js';

const engine = embeddedEngine();

async function serverPid(scene: Scene): Promise<number> {
  const text = await readFile(scene.path('state/postgres/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

describe('on one machine without a configured server', () => {
  test('two runs over the same identifiers buy each of them once, while other commands read', async () => {
    const scene = await createScene(engine, { latencyMs: 20 });
    const names = ['one', 'two'];
    for (const name of names) await scene.write(`${name}.csv`, domainList(800));
    const runs = names.map((name) => scene.start(['run', `${name}.csv`]));
    await scene.service.until((meter) => meter.billed >= 50);
    // One of them may still be starting.
    await expect.poll(async () => (await statusOf(scene)).runs).toHaveLength(2);
    expect((await statusOf(scene)).account.sent).toBeGreaterThan(0);
    for (const run of runs) await ends(0, run.done);
    expectPaidOnce(scene.service.meter, 800);
    for (const name of names) expect(await answeredIn(scene.path(`${name}.enriched.csv`))).toBe(800);
    const reports = await Promise.all(names.map((name) => readReport(scene.path(`${name}.report.json`))));
    expect(reports.reduce((sum, { requests }) => sum + requests.billed, 0)).toBe(800);
  });

  test('a server that is killed again and again costs no answer and no request', async () => {
    const scene = await createScene(engine, { latencyMs: 50 });
    const { meter } = scene.service;
    await scene.write('list.csv', domainList(400));
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
    const scene = await createScene(engine, { latencyMs: 200 });
    const { meter, options } = scene.service;
    await scene.write('list.csv', domainList(200));
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

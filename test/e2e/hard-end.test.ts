/** What a killed process leaves on disk: no row of the user's file, however it ended. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../support/cli.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { runHere } from '../support/run-here.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ends, filesWith, kill, onEngines } from './commands.js';

const ROW = 'only-in-a-row-of-the-user';

async function startSlowly(scene: Scene, args: readonly string[]) {
  const rows = domainList(3_000).replaceAll(',row ', `,${ROW} `);
  await scene.write('list.csv', rows);
  return scene.start(['run', 'list.csv', ...args]);
}

onEngines([redisEngine(), embeddedEngine()].map(inLongTests), (engine) => {
  test.each([
    ['kill -9', ['SIGKILL']],
    ['a second Ctrl-C', ['SIGINT', 'SIGINT']],
  ] as const)('%s leaves no row below the state folder', async (_, signals) => {
    const scene = await createScene(engine, { latencyMs: 30_000 });
    const running = await startSlowly(scene, ['--concurrency', '4']);
    await scene.service.until(() => scene.service.meter.inFlight > 0);
    // Not even while it runs.
    expect(await filesWith(ROW, scene.path('state'))).toEqual([]);
    for (const signal of signals) {
      running.kill(signal);
      if (signal === 'SIGINT') await running.untilSaid(/stopping/);
    }
    await running.done;
    expect(await filesWith(ROW, scene.path('state'))).toEqual([]);
    expect(await readdir(scene.path('state/runs'))).toEqual([]);
  });

  test('the next run does not wait for the time-out of a first request that was killed', async () => {
    const scene = await createScene(engine, { latencyMs: 600_000 }, domainList(3));
    const running = scene.start(['run', 'list.csv', '--timeout', '10m']);
    await scene.service.until(() => scene.service.meter.inFlight === 1);
    await kill(running);
    scene.service.options.latencyMs = 0;
    await ends(0, scene.run(['run', 'list.csv', '--timeout', '10m']));
  });

  test('a second Ctrl-C reports how many requests were in flight', async () => {
    const scene = await createScene(engine);
    const { meter, options } = scene.service;
    options.latencyMs = 20;
    const running = await startSlowly(scene, ['--concurrency', '4']);
    // Until its address has shown a brand, it is asked one by one.
    await scene.service.until(() => meter.inFlight > 1);
    options.latencyMs = 30_000;
    const quick = meter.requests.length;
    await scene.service.until(() => meter.requests.length >= quick + 4);
    running.kill('SIGINT');
    await running.untilSaid(/stopping/);
    running.kill('SIGINT');
    await ends(130, running.done, 'quit at once: 4 requests were in flight and may have been billed');
  });

  test('the next run removes files of a dead process that could not lose their names', async () => {
    const scene = await createScene(engine);
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    await mkdir(scene.path('state/runs'), { recursive: true });
    await writeFile(scene.path(`state/runs/rows-${dead}-0123456789ab.spool`), ROW);
    await scene.write('list.csv', domainList(3));
    await ends(0, scene.run(['run', 'list.csv']));
    expect(await readdir(scene.path('state/runs'))).toEqual([]);
  });
});

test('the next sample run removes the state of one that was killed', { tags: ['long'] }, async () => {
  const folder = await temporaryFolder();
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const left = join(folder, `brand-enrich-sample-${dead}-aB3dE6`);
  const alive = join(folder, `brand-enrich-sample-${process.pid}-aB3dE6`);
  for (const each of [left, alive]) await mkdir(each);
  await writeFile(join(folder, 'list.csv'), domainList(2));
  await ends(0, runCli(['run', 'list.csv', '--sample'], { cwd: folder, env: { TMPDIR: folder } }));
  const names = (await readdir(folder)).filter((name) => name.startsWith('brand-enrich-sample-'));
  // The user's own database is kept, see the next test.
  expect(names.filter((name) => !name.includes('-of-'))).toEqual([
    `brand-enrich-sample-${process.pid}-aB3dE6`,
  ]);
});

test('sample runs keep one database and forget what was in it; one beside them has its own', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'list.csv'), domainList(3));
  const run = () => runCli(['run', 'list.csv', '--sample'], { cwd: folder, env: { TMPDIR: folder } });
  const kept = async () => (await readdir(folder)).filter((name) => name.startsWith('brand-enrich-sample-'));
  const made = async () =>
    (await stat(join(folder, (await kept())[0] ?? '', 'postgres/data/PG_VERSION'))).mtimeMs;
  for (const result of [await run(), await run()]) expect(result.stderr).toContain('3 requests, 3 billed');
  const before = await made();
  const both = await Promise.all([run(), run()]);
  for (const result of both) expect(result.stderr).toContain('3 requests, 3 billed');
  expect([await made(), await kept()]).toEqual([before, [expect.stringContaining('-of-')]]);
});

test('the demo prints the summary that the picture of the README shows', async () => {
  const folder = await temporaryFolder();
  await cp('fixtures/customers.csv', join(folder, 'customers.csv'));
  const result = await runHere(['run', 'customers.csv', '--sample'], { cwd: folder });
  const picture = await readFile('.github/pictures/run.svg', 'utf8');
  const [, last = ''] = picture.split(/<g id="f\d+">(?!.*<g )/s);
  const shown = [...last.matchAll(/<text[^>]*>(.*?)<\/text>/gs)].map(([, text = '']) =>
    text.replaceAll(/<[^>]*>/g, '').trim(),
  );
  const summary = shown.filter((line) => /matched|identifiers {2}|quality of/.test(line));
  expect(summary).toHaveLength(3);
  for (const line of summary) expect(result.stderr).toContain(line);
});

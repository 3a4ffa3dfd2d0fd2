/** The schedule commands end to end: add, serve, list from a second terminal, run and remove. */
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { untilAborted } from '../../../src/core/lifecycle.js';
import { answeredIn, ends, onEngines, schedulesOf, stop } from '../../e2e/commands.js';
import { startHook } from '../../notify/hook-server.js';
import { embeddedEngine, inLongTests, redisEngine } from '../../support/engines.js';
import { createScene, domainList, type Scene } from '../../support/scene.js';

const PATIENCE = { timeout: 60_000, interval: 100 };
const LOOKS = { timeout: 60_000, interval: 500 };
const ONCE_A_YEAR = ['--cron', '0 0 1 1 *', '--tz', 'UTC'];

/** Only schedules of this test: it shares Redis with the others. */
async function states(scene: Scene) {
  return (await schedulesOf(scene)).filter(({ input }) => input?.startsWith(scene.folder));
}

/** Waits for a file that a run writes when it ends. */
async function untilWritten(scene: Scene, folder: string, name: RegExp): Promise<void> {
  const names = () => readdir(scene.path(folder)).catch(() => []);
  await expect.poll(names, PATIENCE).toContainEqual(expect.stringMatching(name));
}

async function serve(scene: Scene) {
  const runner = scene.startHere(['schedule', 'serve']);
  await runner.untilSaid(/running this machine's schedules/);
  return runner;
}

onEngines([inLongTests(embeddedEngine()), redisEngine()], (under) => {
  test('a schedule is added, run on its host from a second terminal, listed and removed', async () => {
    const scene = await createScene(under, {}, domainList(20));
    // Address and token belong to the runner: adding a schedule does not need them.
    const added = await ends(
      0,
      scene.run(
        ['schedule', 'add', 'yearly', ...ONCE_A_YEAR, '--', 'run', 'list.csv', '-o', 'out/{date}.csv'],
        { BRAND_API_URL: '', BRAND_API_TOKEN: '' },
      ),
    );
    expect(added.stdout).toMatch(
      /yearly is added; next run \d{4}-01-01 00:00:00 UTC; to run it, start .*schedule serve/,
    );
    expect(await states(scene)).toMatchObject([{ isHostUp: false, last: null }]);

    const runner = await serve(scene);
    const asked = await scene.run(['schedule', 'run-now', 'yearly']);
    expect(asked.stdout).toMatch(/yearly runs on/);
    await untilWritten(scene, 'out', /\.report\.json$/);
    const last = { exitCode: 0, sentence: expect.stringMatching(/20 rows/) };
    await expect.poll(() => states(scene), LOOKS).toMatchObject([{ isHostUp: true, isRunning: false, last }]);
    const [state] = await states(scene);
    expect(state?.last?.output).toBe(
      scene.path(`out/${new Date(state?.last?.startedAt ?? 0).toISOString().slice(0, 10)}.csv`),
    );
    expect(await answeredIn(state?.last?.output ?? '')).toBe(20);
    expect(scene.service.meter.billed).toBe(20);
    expect(JSON.stringify(state)).not.toContain(scene.token);

    await ends(
      2,
      scene.run(['schedule', 'add', 'yearly', ...ONCE_A_YEAR, '--', 'run', 'list.csv']),
      /a schedule with this name exists/,
    );
    await ends(0, scene.run(['schedule', 'remove', 'yearly']));
    expect(await states(scene)).toEqual([]);
    await ends(2, scene.run(['schedule', 'run-now', 'yearly']), /no such schedule: yearly/);
    await stop(runner);
  });

  test('run-now is refused while the schedule runs, before anything is ordered', async () => {
    const held = new AbortController();
    const scene = await createScene(under, { held: untilAborted(held.signal) }, domainList(1));
    const command = ['run', 'list.csv', '-o', 'out.csv'];
    await scene.run(['schedule', 'add', 'slow', ...ONCE_A_YEAR, '--', ...command]);
    await serve(scene);
    await ends(0, scene.run(['schedule', 'run-now', 'slow']));
    await scene.service.until(({ requests }) => requests.length > 0);
    await ends(2, scene.run(['schedule', 'run-now', 'slow', '--json']), /the schedule is running: slow; /);
    held.abort();
    await untilWritten(scene, '.', /\.report\.json$/);
    await expect
      .poll(() => states(scene), LOOKS)
      .toMatchObject([{ isRunning: false, last: { exitCode: 0 }, passed: null }]);
  });

  test("a scheduled run sends the runner's notifications, and appears in its metrics", async () => {
    const scene = await createScene(under, {}, domainList(20));
    const hook = await startHook(200);
    const command = ['run', 'list.csv', '-o', 'out.csv'];
    await scene.run(['schedule', 'add', 'told', ...ONCE_A_YEAR, '--', ...command]);
    const runner = scene.startHere(['schedule', 'serve', '--metrics-port', '0'], {
      BRAND_ENRICH_NOTIFY_URL: hook.url,
    });
    await runner.untilSaid(/running this machine's schedules/);
    await scene.run(['schedule', 'run-now', 'told']);
    await expect.poll(() => hook.received.length, PATIENCE).toBe(1);
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({
      event: 'finish',
      run: { label: expect.stringContaining('list.csv') },
      requests: { billed: 20 },
      files: { output: 'out.csv' },
      report: scene.path('out.report.json'),
    });
    const [, url] = /"url":"(http:[^"]+)"/.exec(runner.said) ?? [];
    expect(await (await fetch(url ?? '')).text()).toMatch(/^brand_enrich_billed_total 20$/m);
  });
});

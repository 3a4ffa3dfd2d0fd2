/**
 * `up` end to end: everything in one process, from a config file; one engine, one worker, and one
 * purchase per identifier, whether it arrives by inbox, schedule or command.
 */
import { mkdir, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInboxScene, type InboxScene } from '../jobs/inbox-scene.js';
import type { CliProcess } from '../support/cli.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { describeOn, domainList } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, LONG, onEngines, schedulesOf, stop } from './commands.js';

const PATIENCE = { timeout: 60_000, interval: 100 };
const redis = redisEngine();

async function startUp(scene: InboxScene): Promise<CliProcess> {
  const process = scene.startHere(['up']);
  await process.untilSaid(/"msg":"up"/);
  return process;
}

/** The complete configuration of these tests: two inboxes, free ports. */
async function configure(scene: InboxScene, more: object = {}): Promise<void> {
  const config = { inbox: ['.', 'second'], settle: '200ms', metricsPort: 0, dashboardPort: 0, ...more };
  await scene.write('brand-enrich.config.json', JSON.stringify(config));
}

function metricsUrl(up: CliProcess): string {
  const [, url] = /"metrics":"(http:[^"]+)\/metrics"/.exec(up.said) ?? [];
  if (url === undefined) throw new Error(`no metrics in: ${up.said}`);
  return url;
}

async function readiness(up: CliProcess): Promise<number> {
  return (await fetch(`${metricsUrl(up)}/readyz`)).status;
}

async function ended(scene: InboxScene, name: string) {
  return (await schedulesOf(scene)).find((each) => each.name === name)?.last ?? null;
}

/** Rows `from` to `to` of one list. */
function part(from: number, to: number): string {
  const [header, ...rows] = domainList(to).trimEnd().split('\n');
  return `${[header, ...rows.slice(from)].join('\n')}\n`;
}

onEngines([redis, inLongTests(embeddedEngine())], (engine) => {
  test('two inboxes, a schedule and a second terminal buy each identifier once', LONG, async () => {
    const scene = await createInboxScene(engine, { jitterMs: 5 });
    await mkdir(scene.path('second'));
    await configure(scene);
    const up = await startUp(scene);
    await scene.write('nightly.csv', part(0, 120));
    await scene.write('by-hand.csv', part(60, 200));
    const name = `s${scene.token.slice(-8)}`.replaceAll(/[^a-z0-9]/gi, 'x');
    const add = ['schedule', 'add', name, '--cron', '0 0 1 1 *', '--tz', 'UTC'];
    const added = await ends(0, scene.run([...add, '--', 'run', 'nightly.csv', '-o', 'nightly-out.csv']));
    expect(added.stdout).not.toContain('schedule serve');

    await scene.drop('one.csv', part(0, 100));
    const second = scene.path('second/inbox/two.csv');
    await scene.write('second/inbox/.two.csv.part', part(50, 150));
    await rename(scene.path('second/inbox/.two.csv.part'), second);
    await scene.run(['schedule', 'run-now', name]);
    await ends(0, scene.run(['run', 'by-hand.csv']));

    await expect.poll(() => ended(scene, name), PATIENCE).toMatchObject({ exitCode: 0 });
    const [one = ''] = await scene.until('done', 1);
    await expect.poll(() => readdir(scene.path('second/done')), PATIENCE).toHaveLength(1);
    const [two = ''] = await readdir(scene.path('second/done'));
    expect(await answeredIn(join(one, 'one.enriched.csv'))).toBe(100);
    expect(await answeredIn(scene.path(`second/done/${two}/two.enriched.csv`))).toBe(100);
    expect(await answeredIn(scene.path('nightly-out.csv'))).toBe(120);
    expect(await answeredIn(scene.path('by-hand.enriched.csv'))).toBe(140);
    expectPaidOnce(scene.service.meter, 200);

    const metrics = await (await fetch(`${metricsUrl(up)}/metrics`)).text();
    // The run in the second terminal has its own worker, which does its share.
    const billed = Number(/^brand_enrich_billed_total (\d+)$/m.exec(metrics)?.[1]);
    expect(billed).toBeGreaterThan(0);
    expect(billed).toBeLessThanOrEqual(200);
    expect(await readiness(up)).toBe(200);
    await stop(up);
  });

  test('a signal waits for requests in flight for other processes, so that the next start buys none of them again', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 400 });
    await configure(scene, { inbox: [], concurrency: 8 });
    const first = await startUp(scene);
    await scene.write('list.csv', domainList(60));
    const running = scene.startHere(['run', 'list.csv', '--no-worker']);
    await scene.service.until((meter) => meter.billed >= 10);
    await stop(first);
    await startUp(scene);
    await ends(0, running.done);
    expect(scene.service.meter.billed).toBe(60);
  });
});

// What ends it is the same on every engine.
describeOn([embeddedEngine()], (engine) => {
  test('with six inboxes logs no warning about listener leaks', { tags: ['long'] }, async () => {
    const scene = await createInboxScene(engine);
    const inboxes = Array.from({ length: 6 }, (_, index) => `inbox-${index}`);
    await Promise.all(inboxes.map((name) => mkdir(scene.path(name))));
    await configure(scene, { inbox: inboxes });
    const up = await startUp(scene);
    up.kill('SIGTERM');
    const { stderr } = await ends(0, up.done);
    expect(stderr).not.toContain('MaxListenersExceededWarning');
  });
});

onEngines([redis], () => {
  test('a failed start spends nothing for waiting runs', async () => {
    const scene = await createInboxScene(redis);
    await configure(scene, { inbox: [], dashboardPort: Number(new URL(scene.service.url).port) });
    await scene.write('list.csv', domainList(20));
    const waiting = scene.startHere(['run', 'list.csv', '--no-worker']);
    await waiting.untilSaid(/20 identifiers to look up/);
    await ends(5, scene.run(['up']), 'choose another --dashboard-port');
    expect(scene.service.meter.requests).toEqual([]);
  });

  test('a folder is watched once under any of its names, and never inside another inbox', LONG, async () => {
    const scene = await createInboxScene(redis);
    await mkdir(scene.path('in/done'), { recursive: true });
    await symlink(scene.path('in'), scene.path('link'));
    for (const inboxes of ['in,link', 'in,in/done', 'in,./in/']) {
      await ends(
        2,
        scene.run(['up'], { BRAND_ENRICH_INBOX: inboxes }),
        /given twice|is inside another inbox/,
      );
    }
  });
});

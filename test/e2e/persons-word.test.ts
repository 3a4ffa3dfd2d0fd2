/** A person's word holds, however `up` or a run is stopped and started. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createInboxScene, type InboxScene, readReason } from '../jobs/inbox-scene.js';
import { startHook } from '../notify/hook-server.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, kill, LONG, onEngines, schedulesOf, statusOf, stop } from './commands.js';
import { startUp as start } from './start-up.js';

/** More than are answered, 8 in 3 s, while two commands start on a slow machine. */
const ROWS = 200;

const startUp = (scene: Scene, more: object = {}) => start(scene, { concurrency: 8, timeout: '8s', ...more });

/** The id of the run of this file, once it has one. */
async function runOf(scene: Scene, file: string): Promise<string> {
  // Tests share an engine, and names of files: each has a service of its own.
  const isOurs = ({ label, service }: { label: string; service: string }) =>
    label.endsWith(`: ${file}`) && service === scene.service.url;
  const found = async () => (await statusOf(scene)).runs.find(isOurs)?.id;
  await expect.poll(found).toBeDefined();
  return (await found()) ?? '';
}

async function succeed(scene: Scene, ...args: string[]): Promise<string> {
  const { stdout } = await ends(0, scene.run(args));
  return stdout;
}

/** All that is in `inbox` and `processing`: nothing is to be done any more. */
async function isIdle(scene: InboxScene): Promise<boolean> {
  const watchers = await scene.list('processing');
  const jobs = watchers.map((name) => readdir(scene.path(`processing/${name}`)).catch(() => []));
  const names = (await Promise.all(jobs)).flat().filter((name) => !name.startsWith('.'));
  return names.length === 0 && (await scene.list('inbox')).length === 0;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Gives an order, after which `up` stands still until its next look for orders is due: however fast
 * it reads, it does not reach the end before.
 */
async function orderAtOnce(up: Awaited<ReturnType<typeof startUp>>, order: () => Promise<unknown>) {
  await order();
  up.kill('SIGSTOP');
  await sleep(2_000);
  up.kill('SIGCONT');
}

/** Gives an order while requests of a dropped file are in flight. Returns what was billed. */
async function orderInFlight(scene: InboxScene, word: string, how: OrderInFlight): Promise<number> {
  const { signal, file = 'one.csv', isNamed = false, afterMs = 0 } = how;
  const { meter, options } = scene.service;
  const up = await startUp(scene);
  await scene.drop(file, domainList(ROWS));
  await scene.service.until(() => meter.billed >= 8);
  await succeed(scene, word, isNamed ? file : await runOf(scene, file));
  await sleep(afterMs);
  up.kill(signal);
  await up.done;
  options.latencyMs = 0;
  expect(meter.billed).toBeLessThan(ROWS);
  return meter.billed;
}

interface OrderInFlight {
  readonly signal: 'SIGKILL' | 'SIGTERM';
  readonly file?: string;
  /** By the name of the file instead of the id of its run. */
  readonly isNamed?: boolean;
  readonly afterMs?: number;
}

/** Without schedules: tests share an engine. */
async function filesPaused(scene: Scene) {
  return (await statusOf(scene)).pauses.filter(({ run }) => run !== null);
}

onEngines([inLongTests(redisEngine()), inLongTests(embeddedEngine())], (engine) => {
  test.each([
    ['SIGKILL', 100],
    ['SIGTERM', 3_100],
    ['SIGTERM', 0],
  ] as const)(
    'a cancelled file is not bought after %s at %i ms, and a new drop is',
    async (signal, afterMs) => {
      const scene = await createInboxScene(engine, { latencyMs: 3_000 });
      const { meter } = scene.service;
      const billed = await orderInFlight(scene, 'cancel', { signal, afterMs });
      await startUp(scene);
      const [folder = ''] = await scene.until('failed', 1);
      expect(await readReason(folder)).toMatch(/^Cancelled by \S+@\S+ .*UTC/);
      expect(await isIdle(scene)).toBe(true);
      expect(meter.billed).toBe(billed);
      await scene.drop('one.csv', domainList(ROWS));
      await scene.until('done', 1);
      expect(meter.billed).toBeLessThanOrEqual(ROWS + (signal === 'SIGKILL' ? 16 : 0));
      expect(meter.mostBilledOnce()).toBeLessThanOrEqual(signal === 'SIGKILL' ? 2 : 1);
    },
  );

  test('a paused schedule skips its ticks, sends nothing, and one notice alone says so', async () => {
    const scene = await createScene(engine);
    const hook = await startHook(200);
    await scene.write('nightly.csv', domainList(ROWS));
    const name = `s${scene.token.slice(-8)}`.replaceAll(/[^a-z0-9]/gi, 'x');
    const often = ['--cron', '* * * * * *', '--tz', 'UTC', '--', 'run', 'nightly.csv'];
    await succeed(scene, 'schedule', 'add', name, ...often);
    await succeed(scene, 'pause', name);
    const up = await startUp(scene, { notifyUrl: hook.url });
    const skipped = new Set<string>();
    const count = async () => {
      const passed = (await schedulesOf(scene)).find((each) => each.name === name)?.passed;
      if (passed?.why === 'skipped' && passed.paused !== null) skipped.add(passed.at);
      return skipped.size;
    };
    await expect.poll(count).toBeGreaterThanOrEqual(3);
    await stop(up);
    expect(hook.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event: 'parked', reason: expect.stringMatching(/skipped, paused by \S+@\S+ since/) },
    ]);
    expect(scene.service.meter.requests).toEqual([]);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('a paused file stays paused after %s', async (signal) => {
    const scene = await createInboxScene(engine, { latencyMs: 3_000 });
    const { meter } = scene.service;
    const billed = await orderInFlight(scene, 'pause', { signal });
    await startUp(scene);
    const [folder = ''] = await scene.until('waiting', 1);
    expect(await readReason(folder)).toMatch(/^Paused by \S+@\S+ .*UTC/);
    // A new file of this name is not paused, and takes the only place.
    await scene.drop('one.csv', domainList(5, 'other'));
    await scene.until('done', 1);
    expect(meter.billed).toBe(billed + 5);
    expect(await filesPaused(scene)).toMatchObject([{ name: 'one.csv', by: expect.any(String) }]);
    await succeed(scene, 'resume', 'one.csv');
    await scene.until('done', 2);
    expect(meter.billed).toBeLessThanOrEqual(ROWS + 5 + (signal === 'SIGKILL' ? 16 : 0));
  });

  test('a file is cancelled, or paused, while it is read: nothing is sent', async () => {
    const scene = await createInboxScene(engine);
    const { meter } = scene.service;
    // As many rows as take longer to read than a command takes.
    const long = `website\n${'acme.com\nbeta.com\n'.repeat(1_500_000)}`;
    const up = await startUp(scene);
    for (const [word, place] of [
      ['cancel', 'failed'],
      ['pause', 'waiting'],
    ] as const) {
      await scene.drop(`${word}.csv`, long);
      await up.untilSaid(new RegExp(`"file":"${word}.csv".*"msg":"taken"`));
      // For a moment after "taken" the engine does not know of the reading.
      const order = async () => (await scene.run([word, `${word}.csv`])).code;
      await orderAtOnce(up, () => expect.poll(order).toBe(0));
      const [folder = ''] = await scene.until(place, 1);
      expect(await readReason(folder)).toMatch(/^(Cancelled|Paused) by \S+@\S+ .*UTC/);
      // Its reading did not end by itself.
      expect((await statusOf(scene)).runs.filter(({ label }) => label.endsWith(`${word}.csv`))).toEqual([]);
    }
    expect(await isIdle(scene)).toBe(true);
    expect(meter.requests).toEqual([]);
    await succeed(scene, 'resume', 'pause.csv');
    await scene.until('done', 1, 150_000);
    expect(meter.billed).toBe(2);
  }, 300_000);

  test('a schedule is cancelled, or paused, while its file is read', async () => {
    const scene = await createScene(engine);
    const { meter } = scene.service;
    const name = `s${scene.token.slice(-8)}`.replaceAll(/[^a-z0-9]/gi, 'x');
    // Tests share an engine.
    const file = `${name}.csv`;
    await scene.write(file, domainList(2));
    const up = await startUp(scene);
    const never = ['--cron', '0 0 1 1 *', '--tz', 'UTC', '--', 'run', file, '--max-requests', '1'];
    await succeed(scene, 'schedule', 'add', name, ...never);
    await succeed(scene, 'schedule', 'run-now', name);
    const found = async () => (await schedulesOf(scene)).find((each) => each.name === name);
    await expect.poll(async () => (await found())?.last?.exitCode).toBe(7);
    expect(meter.billed).toBe(1);
    const runs = async () => (await statusOf(scene)).runs.filter(({ label }) => label.endsWith(`: ${file}`));
    // As many rows as take longer to read than a command takes.
    await scene.write(file, `website\n${'acme.com\nbeta.com\n'.repeat(1_500_000)}`);
    for (const word of ['cancel', 'pause'] as const) {
      const readings = () => up.said.match(/"msg":"a scheduled run starts"/g)?.length ?? 0;
      const before = readings();
      await succeed(scene, 'schedule', 'run-now', name);
      await expect.poll(readings).toBe(before + 1);
      await orderAtOnce(up, () => succeed(scene, word, name));
      await expect.poll(async () => (await found())?.isRunning).toBe(false);
      // Its reading did not end by itself.
      expect(await runs()).toHaveLength(1);
      await expect.poll(async () => (await found())?.last?.sentence).toMatch(/cancelled/);
    }
    expect(meter.billed).toBe(1);
    await scene.write(file, 'website\nacme.com\nacme.com\nbeta.com\n');
    await succeed(scene, 'resume', name);
    await expect.poll(async () => (await found())?.last?.sentence).toMatch(/3 rows/);
    expect(meter.billed).toBe(2);
  }, 300_000);

  test('a file is cancelled, and one paused, while no `up` runs: neither is bought', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 2_000 });
    const { meter, options } = scene.service;
    const up = await startUp(scene);
    await scene.drop('one.csv', domainList(ROWS));
    await scene.drop('two.csv', domainList(ROWS, 'other'));
    const ids = [await runOf(scene, 'one.csv'), await runOf(scene, 'two.csv')] as const;
    up.kill('SIGINT');
    await up.done;
    expect(await scene.list('waiting')).toEqual(['one', 'two'].map((name) => expect.stringContaining(name)));
    options.latencyMs = 0;
    const { billed } = meter;
    expect(billed).toBeLessThan(2 * ROWS);
    await succeed(scene, 'cancel', ids[0]);
    await succeed(scene, 'pause', ids[1]);
    await startUp(scene);
    await scene.until('failed', 1);
    const [waiting = ''] = await scene.until('waiting', 1);
    expect(await readReason(waiting)).toMatch(/^Paused by /);
    expect(meter.billed).toBe(billed);
    // A waiting file is cancelled too.
    await succeed(scene, 'cancel', ids[1]);
    await scene.until('failed', 2);
    expect(await scene.list('waiting')).toEqual([]);
    expect(await filesPaused(scene)).toEqual([]);
    expect(meter.billed).toBe(billed);
  });
});

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('a command whose run key is paused sends nothing, also with --yes', LONG, async () => {
    const scene = await createScene(engine, { latencyMs: 100 }, domainList(ROWS));
    const { meter, options } = scene.service;
    const running = scene.start(['run', 'list.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 8);
    // Nearly nothing is sent until it is killed.
    options.latencyMs = 30_000;
    const id = await runOf(scene, 'list.csv');
    await succeed(scene, 'pause', id);
    await kill(running);
    options.latencyMs = 0;
    const sent = meter.requests.length;
    for (const more of [[], ['--yes']]) {
      const again = await ends(7, scene.run(['run', 'list.csv', ...more]));
      expect(again.stderr).toMatch(/paused by \S+@\S+/);
      expect(again.stderr).toContain('brand-enrich resume');
    }
    expect(meter.requests.length).toBe(sent);
    expect(await succeed(scene, 'resume', id)).toContain('run the same command again to continue it');
    await ends(0, scene.run(['run', 'list.csv']));
    expect(await readFile(scene.path('list.enriched.csv'), 'utf8')).toContain('matched');
  });

  test('while all spending is paused a command sends nothing and ends with 7 at once; who and when is said', async () => {
    const scene = await createScene(engine, {}, domainList(5));
    await succeed(scene, 'pause');
    const by = /all spending.*paused by \S+@\S+ since .*`brand-enrich resume`/s;
    for (const more of [[], ['--yes'], ['--on-limit', 'wait']]) {
      await ends(7, scene.run(['run', 'list.csv', ...more]), by);
    }
    expect(scene.service.meter.requests).toEqual([]);
    expect(await succeed(scene, 'status')).toMatch(by);
    const paused = { name: 'all spending', run: null, by: expect.stringContaining('@') };
    expect((await statusOf(scene)).pauses).toContainEqual(expect.objectContaining(paused));
    await succeed(scene, 'resume');
    await ends(0, scene.run(['run', 'list.csv']));
  });

  test('a command and a file that spend while all spending is paused say who and when, and continue by themselves', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 2_000 });
    const { meter, options } = scene.service;
    const watcher = await scene.watch('--concurrency', '4');
    await scene.drop('one.csv', domainList(60));
    await scene.service.until(() => meter.billed >= 4);
    await scene.write('list.csv', domainList(120));
    const running = scene.startHere(['run', 'list.csv', '--concurrency', '4', '--no-worker']);
    // A pause that comes before ends the command at once.
    await running.untilSaid(/workers elsewhere do the lookups/);
    await succeed(scene, 'pause');
    options.latencyMs = 0;
    const waits =
      /all spending is paused by \S+@\S+ since .*; this run waits; resume with `brand-enrich resume`/;
    await Promise.all([watcher.untilSaid(waits), running.untilSaid(waits)]);
    await succeed(scene, 'resume');
    expect((await running.done).code).toBe(0);
    await scene.until('done', 1);
    expect(meter.mostBilledOnce()).toBe(1);
  });
});

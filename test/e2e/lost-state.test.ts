/**
 * The state folder under our feet: removed while a run works, and between runs.
 *
 * @module-tag long
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startCli } from '../support/cli.js';
import { embeddedEngine } from '../support/engines.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDisk } from '../support/tiny-disk.js';
import { ends, LONG, stop } from './commands.js';

const engine = embeddedEngine();
const ANSWERS = 3;

/** A scene whose engine has stored three answers and does not run. */
async function usedScene(): Promise<Scene> {
  const scene = await createScene(engine, {}, domainList(ANSWERS));
  await ends(0, scene.run(['run', 'list.csv']));
  return scene;
}

async function expectAnswers(scene: Scene, args: readonly string[] = [], count = ANSWERS): Promise<void> {
  const result = await ends(0, scene.run(['outcomes', 'stats', '--json', ...args]));
  expect(JSON.parse(result.stdout)).toMatchObject({ matched: count });
}

describe('while a run works', () => {
  async function expectSaid(place: string): Promise<void> {
    const scene = await createScene(engine, { latencyMs: 100 }, domainList(3_000));
    const running = scene.start(['run', 'list.csv', '--concurrency', '4']);
    await scene.service.until((meter) => meter.billed >= 20);
    // The server writes there meanwhile.
    await rm(scene.path(place), { recursive: true, force: true, maxRetries: 9 });
    const result = await ends(5, running.done);
    const [last = ''] = result.stderr.split('\n').filter((line) => line.startsWith('brand-enrich: '));
    expect(last).toMatch(/removed while it was in use|refuses to work/);
    expect(last).toMatch(/restore it|restore them from a backup/);
    expect(scene.service.meter.inFlight).toBe(0);
  }

  const title = '%s is removed: the run ends with 5 and says what to do';
  test.each(['state/postgres/data'])(title, expectSaid);
  test.each(['state', 'state/postgres', 'state/postgres/data/base'])(title, LONG, expectSaid);

  test('its database is removed after Ctrl-C: that is said too, with its own exit code', LONG, async () => {
    const scene = await createScene(engine, { latencyMs: 20 }, domainList(3_000));
    const running = scene.start(['run', 'list.csv', '--concurrency', '4']);
    await scene.service.until((meter) => meter.billed >= 20);
    scene.service.options.latencyMs = 2_000;
    const quick = scene.service.meter.requests.length;
    await scene.service.until((meter) => meter.requests.length >= quick + 4);
    running.kill('SIGINT');
    await running.untilSaid(/stopping/);
    await rm(scene.path('state/postgres/data'), { recursive: true, force: true, maxRetries: 9 });
    await ends(5, running.done, 'removed while it was in use');
  });
});

describe('while a command waits for work', LONG, () => {
  test.each([
    ['up', '--inbox', '.', '--dashboard-port', '0', '--metrics-port', '0'],
    ['watch', '.'],
    ['worker'],
    ['schedule', 'serve'],
  ])('its database is removed: `%s` ends with 5, so that a supervisor sees it', async (...args) => {
    const scene = await usedScene();
    const running = scene.start(args);
    await running.untilSaid(/watching the inbox|waiting for chunks|running this machine/);
    await rm(scene.path('state/postgres/data'), { recursive: true, force: true, maxRetries: 9 });
    await ends(5, running.done, /brand-enrich: .*removed while it was in use.*restore it from a backup/);
  });

  test('a database that is moved back at once is no loss', async () => {
    const scene = await usedScene();
    const running = scene.start(['watch', '.', '--settle', '200ms']);
    await running.untilSaid(/watching the inbox/);
    const data = scene.path('state/postgres/data');
    await rename(data, scene.path('aside'));
    await rename(scene.path('aside'), data);
    await scene.write('inbox/more.csv', domainList(ANSWERS + 2));
    await expect.poll(() => readdir(scene.path('done')).catch(() => [])).toHaveLength(1);
    await stop(running);
  });
});

test('a file in place of the database is said soon, and --start-empty sets it aside', LONG, async () => {
  const scene = await usedScene();
  await rename(scene.path('state/postgres/data'), scene.path('backup'));
  await writeFile(scene.path('state/postgres/data'), '');
  const result = await ends(5, scene.run(['status']));
  expect(result.stderr).toContain('--start-empty');
  expect(result.seconds).toBeLessThan(30);
  await expectAnswers(scene, ['--start-empty'], 0);
});

test.each(['', 'garbled\n/somewhere\n'])(
  'a lock file without a process (%o) waits for a person',
  LONG,
  async (text) => {
    const scene = await usedScene();
    const locks = ['postmaster.pid', '.s.PGSQL.5432.lock'].map((name) =>
      scene.path(`state/postgres/data/${name}`),
    );
    for (const path of locks) await writeFile(path, text);
    const result = await ends(5, scene.run(['status']), `then rm ${locks.join(' ')} and run again`);
    expect(result.stderr).not.toContain('--start-empty');
    for (const path of locks) {
      expect(await readFile(path, 'utf8')).toBe(text);
      await rm(path);
    }
    await expectAnswers(scene);
  },
);

test('a folder in place of a file of the engine is said in words', LONG, async () => {
  const scene = await usedScene();
  const owner = scene.path('state/postgres/owner');
  await rm(owner);
  await mkdir(owner);
  await ends(5, scene.run(['status']), `${owner} (it is a folder)`);
  await rm(owner, { recursive: true });
  await expectAnswers(scene);
});

describe('an environment that cannot work', () => {
  test('TMPDIR is missing', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'list.csv'), domainList(2));
    const env = { TMPDIR: join(cwd, 'missing') };
    const result = await ends(5, startCli(['run', 'list.csv', '--sample'], { cwd, env }).done);
    expect(result.stderr).toBe(
      `brand-enrich: the temporary folder cannot be used: ${env.TMPDIR} (it does not exist); set TMPDIR to a folder that exists and that this user may write to\n`,
    );
    // For a path too long for a socket any temporary folder will do.
    const state = join(cwd, 'state', 'a'.repeat(80));
    await ends(0, startCli(['status', '--state', state], { cwd, env }).done);
  });

  test('the disk of a watched folder is full when `up` starts', LONG, async (context) => {
    const scene = await createScene(engine);
    const inbox = scene.path('inbox-disk');
    await mkdir(inbox);
    const disk = tinyDisk(inbox);
    if (disk === null) return context.skip('this user may not mount a file system');
    disk.fill();
    const args = ['up', '--inbox', inbox, '--no-dashboard', '--metrics-port', '0'];
    await ends(5, scene.run(args), /a folder of the inbox cannot be used: \S+ \(the disk is full\)/);
  });

  test.each([
    ['up', '--inbox', '.', '--base-url', 'http://127.0.0.1:9'],
    ['run', 'list.csv', '--sample'],
    ['status'],
  ])('few files may be open for `%s`', async (...args) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'list.csv'), domainList(2));
    for (const most of [32, 64, 100]) {
      const env = { BRAND_API_TOKEN: 'x', BRAND_ENRICH_STATE: join(cwd, 'state') };
      const result = await ends(5, startCli(args, { cwd, env, shell: `ulimit -n ${most}` }).done);
      expect(result.stderr).toMatch(/^brand-enrich: .*ulimit -n.*raise this limit.*\n$/);
    }
  });
});

describe('Ctrl-C while the database is made', () => {
  describe.each([
    ['reaches this process alone', 'kill', ['long']],
    ['reaches the programs of it too', 'killGroup', []],
  ] as const)('%s', (_, kill, tags) => {
    test('130, and the next start makes it', { tags: [...tags] }, async () => {
      const cwd = await temporaryFolder();
      const home = join(cwd, 'state', 'postgres');
      const env = { BRAND_ENRICH_STATE: join(cwd, 'state') };
      const running = startCli(['status'], { cwd, env, isGroup: true });
      await expect
        .poll(() => readdir(home).catch(() => []), { interval: 5 })
        .toContainEqual(expect.stringMatching(/^new-[0-9a-f]{12}$/));
      running[kill]('SIGINT');
      const result = await ends(130, running.done);
      expect(result.stderr).not.toContain('free disk space');
      await ends(0, startCli(['status'], { cwd, env }).done);
      expect((await readdir(home)).filter((name) => name.startsWith('new-'))).toEqual([]);
    });
  });
});

/** `engine status`, `stop`, `export`, `import`: from engine to engine, with a budget that holds. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { createInboxScene, readReason } from '../jobs/inbox-scene.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, kill, LONG, onEngines, stop } from './commands.js';
import { startUp } from './start-up.js';

const embedded = embeddedEngine();
const others = [redisEngine(), inLongTests(postgresEngine())];

onEngines(others, (other) => {
  test('answers and spending move from one engine to the other', LONG, async () => {
    const scene = await createScene(embedded, { plan: 'free', quota: 50 });
    const there = other.env(scene.folder);
    await scene.write('first.csv', domainList(30));
    await scene.write('all.csv', domainList(120));
    await ends(0, scene.run(['run', 'first.csv']));
    expect(scene.service.meter.billed).toBe(30);
    const exported = await ends(0, scene.run(['engine', 'export', '-o', 'answers.jsonl.gz']));
    expect(exported.stderr).toContain('30 answers and 1 account exported');

    for (const taken of [30, 0]) {
      const { stdout } = await ends(0, scene.run(['engine', 'import', 'answers.jsonl.gz', '--json'], there));
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ answers: 30, taken, expired: 0, broken: 0, problems: [] },
        accounts: [{ spent: 30, result: 'counted' }],
      });
    }
    await ends(7, scene.run(['run', 'all.csv', '--quota', '50'], there));
    expectPaidOnce(scene.service.meter, 50);
    expect(await answeredIn(scene.path('all.enriched.partial.csv'))).toBe(50);

    // And back, through a pipe: answers bought there are known here.
    const back = await scene.run(['engine', 'export'], there);
    const file = await scene.write('back.jsonl', back.stdout);
    await scene.run(['engine', 'import', file]);
    await ends(7, scene.run(['run', 'all.csv', '--quota', '50']));
    expect(scene.service.meter.billed).toBe(50);
  });

  test('pauses and cancels move to the other engine', { ...LONG, timeout: 360_000 }, async () => {
    const scene = await createInboxScene(embedded, { latencyMs: 2_000 });
    const { meter, options } = scene.service;
    const there = other.env(scene.folder);
    const says = async (command: string, env = {}) =>
      (await ends(0, scene.run(command.split(' '), env))).stdout;
    const up = await startUp(scene, { concurrency: 4 });
    const start = async (name: string) => {
      await scene.drop(`${name}.csv`, domainList(150, name));
      await scene.service.until(({ billedOf }) => [...billedOf.keys()].some((key) => key.includes(name)));
    };
    await start('one');
    await says('pause one.csv');
    await start('two');
    await stop(up);
    await says('cancel two.csv');
    options.latencyMs = 0;
    const { billed } = meter;

    await says('engine export -o moved.jsonl');
    const imported = JSON.parse(await says('engine import moved.jsonl --json', there));
    expect(imported).toMatchObject({ pauses: 1, cancels: 1, isPaused: false, problems: [] });
    const second = await startUp(scene, { concurrency: 4 }, there);
    const [waiting = ''] = await scene.until('waiting', 1);
    expect(await readReason(waiting)).toMatch(/^Paused by /);
    const [failed = ''] = await scene.until('failed', 1);
    expect(await readReason(failed)).toMatch(/^Cancelled by /);
    expect(meter.billed).toBe(billed);
    // What is new is not what was cancelled there.
    await scene.drop('two.csv', domainList(5, 'new'));
    await scene.until('done', 1);
    await says('resume one.csv', there);
    await scene.until('done', 2);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);

    // All spending, too.
    await says('pause', there);
    await says('engine export -o back.jsonl', there);
    await stop(second);
    expect(JSON.parse(await says('engine import back.jsonl --json'))).toMatchObject({ isPaused: true });
    expect(JSON.parse(await says('status --json'))).toMatchObject({ account: { isPaused: true } });
  });

  test('status names server, sessions and size; stopping a configured server is refused', async () => {
    const scene = await createScene(other);
    const { stdout } = await ends(0, scene.run(['engine', 'status', '--json']));
    expect(JSON.parse(stdout)).toMatchObject({
      engine: other.name,
      isRunning: true,
      sessions: expect.any(Number),
    });
    await ends(2, scene.run(['engine', 'stop']), /engine stop works only for the embedded engine/);
  });
});

test('an import of a damaged file names its broken lines, and keeps the intact ones', LONG, async () => {
  const scene = await createScene(embedded, {}, domainList(12));
  await ends(0, scene.run(['run', 'list.csv']));
  const { stdout } = await scene.run(['engine', 'export', '-o', '-']);
  const lines = stdout.trimEnd().split('\n');
  const answers = lines.filter((line) => line.includes('"type":"answer"'));
  const [one = '', two = ''] = answers;
  const header = lines[0] ?? '';
  const old = one.replace(/"fetchedAt":"[^"]+"/, '"fetchedAt":"2020-01-01T00:00:00.000Z"');
  const broken = [header, one, two.slice(0, 60), '{"type":"odd"}', '', old, ...answers.slice(2)].join('\n');
  const path = await scene.write('broken.jsonl', broken);
  const elsewhere = { BRAND_ENRICH_STATE: scene.path('other') };
  const { stdout: said, stderr } = await ends(1, scene.run(['engine', 'import', path], elsewhere));
  expect(said).toContain('12 answers read: 11 imported, 0 already stored, 1 older than 30 days');
  expect(stderr).toMatch(/^line 3: it is not JSON, or it is cut off; skipped$/m);
  expect(stderr).toMatch(/^line 4: its type is "odd"; skipped$/m);
  expect(stderr).toMatch(/^the file is cut off/m);
  const other = scene.run(['engine', 'import', scene.path('list.csv')], elsewhere);
  await ends(2, other, /this is not a brand-enrich export/);
});

describe('the embedded engine', () => {
  test('is inspected without being started, and stopped only when nothing uses it', async () => {
    const scene = await createScene(embedded);
    const status = async () => JSON.parse((await scene.run(['engine', 'status', '--json'])).stdout);
    expect(await status()).toMatchObject({ isRunning: false, serverVersion: null });
    const worker = scene.start(['worker']);
    await worker.untilSaid(/waiting for chunks/);
    expect(await status()).toMatchObject({
      ...{ engine: 'embedded', isRunning: true, processes: [worker.pid], address: scene.path('state') },
      serverVersion: expect.stringMatching(/^PostgreSQL \d+\.\d+/),
    });
    await ends(5, scene.run(['engine', 'stop']), `used by process ${worker.pid}`);
    await kill(worker);
    // The server notices a killed client a moment later.
    await vi.waitUntil(async () => (await status()).processes.length === 0, { timeout: 60_000 });
    expect(await status()).toMatchObject({ isRunning: true });
    const stopped = await ends(0, scene.run(['engine', 'stop']));
    expect(stopped.stdout).toBe('the server has stopped\n');
    expect(await status()).toMatchObject({
      isRunning: false,
      serverVersion: expect.stringMatching(/^PostgreSQL \d+$/),
    });
    expect((await scene.run(['engine', 'stop'])).stdout).toBe('no server is running\n');
    await expect(readFile(scene.path('state/postgres/data/postmaster.pid'))).rejects.toThrow();
  });

  test('an export ends quietly when its reader stops reading', { tags: ['long'] }, async () => {
    const scene = await createScene(embedded);
    await writeFile(scene.path('list.csv'), domainList(20));
    await ends(0, scene.run(['run', 'list.csv']));
    const refused = await scene.run(['engine', 'export', '--json']);
    expect(refused.code).toBe(2);
    await ends(5, scene.run(['engine', 'export', '-o', '/dev/full']), /disk is full/);
  });
});

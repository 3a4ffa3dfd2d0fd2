/** What kill -9 leaves behind, and that the next start uses or removes it all. */
import { mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { request } from 'node:http';
import { join, relative } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDice } from '../chaos/dice.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { type EngineUnderTest, embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, kill, onEngines, stop } from './commands.js';
import { dashboardUrl, PASSWORD, startUp } from './start-up.js';

const KILLS = 3;

/** Of the private server: what it is made of is its own. */
const DATA = 'state/postgres/data';

/** Its programs, where its user cannot reach the installed ones: kept from start to start. */
const COPIED = /^state\/postgres\/server-[^/]+$/;

/** Paths of all files and empty folders of the scene, the temporary folder included. */
async function everything(scene: Scene): Promise<string[]> {
  const found: string[] = [];
  const look = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const path = relative(scene.folder, folder);
    if (path === DATA) return void found.push(path);
    if (COPIED.test(path)) return;
    if (entries.length === 0) found.push(`${path}/`);
    for (const entry of entries) {
      if (entry.isDirectory()) await look(join(folder, entry.name));
      else found.push(join(path, entry.name));
    }
  };
  await look(scene.folder);
  return found.sort();
}

/** Command lines of the processes that work below the folder of the scene. */
async function processesOf(scene: Scene): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ');
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (command !== '' && (command.includes(scene.folder) || place.startsWith(scene.folder)))
      found.push(command.trim());
  }
  return found;
}

/** What a state folder holds while nothing runs. */
const STATE: Readonly<Record<'redis' | 'embedded', readonly string[]>> = {
  redis: ['state/runs/'],
  embedded: [
    'state/database-in-use',
    DATA,
    'state/postgres/heartbeat',
    'state/postgres/owner',
    'state/postgres/server.log',
    'state/runs/',
  ],
};

/** What else a kill may leave for the next start. */
const LEFT = [
  // Of a server that is being started, or is running.
  /^state\/postgres\/(lock-[0-9a-f]{16}\.sock(\.new)?|new-[0-9a-f]{12}\/.*|new-owner-[0-9a-f]{12})$/,
  // An output that was being written.
  /^\.brand-enrich-[0-9a-f]{12}-.+-\d+-[0-9a-f]{8}\.tmp$/,
  // A temporary file that was about to lose its name.
  /^state\/runs\/[a-z]+-\d+-[0-9a-f]{12}\.spool$/,
  // Answers that the engine had not taken.
  /^state\/spool\/.+/,
];

/** The programs of the private server, its guard included. */
const SERVER = /^(\S*\/postgres|postgres: .*|\/bin\/sh -c .*|sleep 5)( |$)/s;

/** Waits for the end of the private server, whose last process has gone. */
async function untilQuiet(scene: Scene, patienceMs = 20_000): Promise<void> {
  await expect.poll(() => processesOf(scene), { timeout: patienceMs, interval: 250 }).toEqual([]);
}

async function expectLeft(scene: Scene, engine: EngineUnderTest, kept: readonly (string | RegExp)[]) {
  const isRedis = engine.name === 'redis';
  const expected = [...STATE[isRedis ? 'redis' : 'embedded'], 'tmp/', ...kept, ...LEFT];
  // An `initdb` ends by itself; the next start could not remove what it still writes.
  const running = async () => (await processesOf(scene)).filter((each) => isRedis || !SERVER.test(each));
  await expect.poll(running).toEqual([]);
  const others = (await everything(scene)).filter(
    (path) => !expected.some((each) => (typeof each === 'string' ? each === path : each.test(path))),
  );
  expect(others.filter((path) => path !== 'state/')).toEqual([]);
}

async function openScene(make: Promise<Scene>): Promise<Scene> {
  const scene = await make;
  await mkdir(scene.path('tmp'), { mode: 0o711 });
  return scene;
}

onEngines([redisEngine(), embeddedEngine()], (engine) => {
  const long = { tags: ['long'], timeout: 240_000 };
  const state = STATE[engine.name === 'redis' ? 'redis' : 'embedded'];

  test('runs that are killed leave nothing that the next one does not use or remove', long, async () => {
    const dice = createDice(`leftovers run ${engine.name}`);
    const scene = await openScene(createScene(engine, { latencyMs: 20 }));
    const env = { TMPDIR: scene.path('tmp') };
    await scene.write('list.csv', domainList(2_000));
    const { meter } = scene.service;
    for (let round = 0; round < KILLS; round += 1) {
      const running = scene.start(['run', 'list.csv'], env);
      // While it starts, while it asks, or while it writes.
      const enough = dice.pick([0, meter.billed + dice.between(1, 400), 2_000]);
      await Promise.race([scene.service.until(() => meter.billed >= enough), running.done]);
      await after(dice.between(0, enough === 0 ? 2_500 : 400));
      await kill(running);
      await expectLeft(scene, engine, ['list.csv', /^list\.(enriched|errors|report)\./]);
    }
    await ends(0, scene.run(['run', 'list.csv'], env));
    await untilQuiet(scene);
    const outputs = ['list.csv', 'list.enriched.csv', 'list.report.html', 'list.report.json'];
    expect(await everything(scene)).toEqual([...outputs, ...state, 'tmp/'].sort());
  });

  test('an `up` that is killed with files and an upload leaves them to the next', long, async () => {
    const dice = createDice(`leftovers up ${engine.name}`);
    const scene = await createInboxScene(engine, { latencyMs: 20 });
    await openScene(Promise.resolve(scene));
    const start = () => startUp(scene, {}, { TMPDIR: scene.path('tmp') });
    for (let round = 0; round < KILLS; round += 1) {
      const up = await start();
      await scene.drop(`list-${round}.csv`, domainList(400, `kill${round}`));
      const sent = beginUpload(dashboardUrl(up));
      await expect.poll(() => everything(scene)).toContainEqual(expect.stringMatching(/sent\.csv$/));
      await after(dice.between(0, 1_500));
      await kill(up);
      sent.destroy();
      await expectLeft(scene, engine, [
        'brand-enrich.config.json',
        'state/schedules/machine-id',
        /^(inbox|processing|waiting|failed|done)\/$/,
        /^inbox\/list-\d\.csv$/,
        /^processing\/[^/]+\/(\.heartbeat$|$)/,
        // The draft of a record is written anew by whoever takes the file over.
        /^(processing\/[^/]+|done|waiting)\/list-\d-[^/]+Z(-\d)?\/(list-|\.{1,2}brand-enrich-|reason\.txt|$)/,
        /^\.drafts\/j-\w+\/(sent\.csv$|\.{1,2}brand-enrich-|$)/,
        /^\.brand-enrich-engine/,
      ]);
    }
    const up = await start();
    const done = await scene.until('done', KILLS);
    expect(scene.service.meter.billedOf.size).toBe(KILLS * 400);
    await stop(up);
    await untilQuiet(scene);
    const results = done.flatMap((folder) => {
      const name = /list-\d/.exec(folder)?.[0] ?? '';
      const results = ['.csv', '.enriched.csv', '.report.html', '.report.json'].map(
        (ending) => `${name}${ending}`,
      );
      return ['.brand-enrich-job.json', ...results].map((file) => join(relative(scene.folder, folder), file));
    });
    const folders = ['.drafts/', 'failed/', 'inbox/', 'processing/', 'waiting/', 'tmp/'];
    const single = ['.brand-enrich-engine', 'brand-enrich.config.json', 'state/schedules/machine-id'];
    const expected = [...single, ...folders, ...results, ...state].sort();
    // A folder that was made by a kill's victim just before its first heartbeat stays for 30 s.
    const kept = (await everything(scene)).map((path) =>
      path.replace(/^processing\/[^/]+\/$/, 'processing/').replace(/^\.drafts\/.*/, '.drafts/'),
    );
    expect([...new Set(kept)]).toEqual(expected);
  });
});

/** An upload whose end never comes. */
function beginUpload(url: string) {
  const authorization = `Basic ${Buffer.from(`job:${PASSWORD}`).toString('base64')}`;
  const sent = request(`${url}uploads?name=sent.csv`, { method: 'POST', headers: { authorization } });
  sent.on('error', () => undefined);
  sent.write('website\nacme.com\n'.repeat(1_000));
  return sent;
}

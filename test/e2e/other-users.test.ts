/**
 * Other users of the machine: their state folders, links that they put in our way, and folders that
 * they made before us. Each is a user number without an account; only root can be several users.
 *
 * @module-tag long
 */
import {
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type CliOptions, runCli } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ends, LONG } from './commands.js';

const ALICE = 54_400;
const MALLORY = 54_401;
/** That root's private server runs as. */
const SERVER = 54_329;

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)('with a second user on the machine', () => {
  let folder: string;
  let secret: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    secret = join(folder, 'secret');
    await writeFile(secret, 'of root', { mode: 0o640 });
  });

  /** Owner, mode and text of what an attacker wants. */
  const seen = async () => {
    const { uid, gid, mode } = await stat(secret);
    return { uid, gid, mode, text: await readFile(secret, 'utf8') };
  };

  async function folderOf(uid: number, ...names: readonly string[]): Promise<string> {
    const path = join(folder, ...names);
    await mkdir(path, { mode: 0o755 });
    await chown(path, uid, uid);
    return path;
  }

  const run = (args: readonly string[], options: Partial<CliOptions> = {}) =>
    runCli(args, { cwd: folder, ...options });

  async function everyPath(place: string): Promise<string[]> {
    const names = await readdir(place, { recursive: true });
    return [place, ...names.map((name) => join(place, name))];
  }

  const COMMANDS: readonly (readonly string[])[] = [
    ['status'],
    ['status', '--start-empty'],
    ['engine', 'status'],
    ['engine', 'stop'],
    ['engine', 'export'],
    ['run', 'list.csv', '--base-url', 'http://127.0.0.1:9'],
    ['plan', 'list.csv'],
  ];

  test.each(COMMANDS.map((args) => [args.join(' '), args]))(
    "root's `%s` refuses the folder of another user, with links to root's files",
    async (_, args) => {
      const state = await folderOf(ALICE, 'state');
      await folderOf(ALICE, 'state', 'postgres');
      for (const name of ['server.log', 'owner', 'heartbeat'])
        await symlink(secret, join(state, 'postgres', name));
      await writeFile(join(folder, 'list.csv'), 'website\nacme.com\n');
      const before = [await everyPath(state), await seen()];
      const env = { BRAND_API_TOKEN: 'x' };
      await ends(5, run([...args, '--state', state], { env }), `sudo -u '#${ALICE}'`);
      expect([await everyPath(state), await seen()]).toEqual(before);
    },
  );

  test("root refuses another user's state folder whatever the engine", async () => {
    const state = await folderOf(ALICE, 'state');
    const result = await ends(5, run(['status', '--state', state, '--engine', 'redis://127.0.0.1:9']));
    expect(result.stderr).toContain(`sudo -u '#${ALICE}'`);
    expect(await readdir(state)).toEqual([]);
  });

  test("root's own folder keeps data, log and heartbeat for the server, and nothing else", async () => {
    const state = join(folder, 'state');
    await ends(0, run(['status', '--state', state]));
    const owner = async (...names: readonly string[]) => (await lstat(join(state, ...names))).uid;
    expect([await owner(), await owner('postgres'), await owner('postgres', 'owner')]).toEqual([0, 0, 0]);
    for (const name of ['data', 'server.log', 'heartbeat'])
      expect(await owner('postgres', name), name).toBe(SERVER);
    for (const path of await everyPath(join(state, 'postgres', 'data')))
      expect((await lstat(path)).uid, path).toBe(SERVER);
  });

  test("the server's folder below root's is taken over, and its server goes on", LONG, async () => {
    const state = join(folder, 'state');
    await ends(0, run(['status', '--state', state]));
    // As an earlier release left it.
    for (const name of ['', 'owner']) await chown(join(state, 'postgres', name), SERVER, SERVER);
    await ends(0, run(['status', '--state', state]));
    expect((await lstat(join(state, 'postgres'))).uid).toBe(0);
  });

  describe.each([
    ['server.log', []],
    ['heartbeat', ['long']],
  ] as const)('in place of the file %s of the server', (name, tags) => {
    test.each([
      ['a link', symlink],
      ['a second name of another file', link],
    ] as const)(
      '%s is refused, and what it leads to is not touched',
      { tags: [...tags] },
      async (_, plant) => {
        const state = join(folder, 'state');
        await folderOf(0, 'state');
        await folderOf(SERVER, 'state', 'postgres');
        await plant(secret, join(state, 'postgres', name));
        const before = await seen();
        await ends(5, run(['status', '--state', state]), join(state, 'postgres', name));
        expect(await seen()).toEqual(before);
      },
    );
  });

  test('a link in place of the owner file is replaced, not followed', async () => {
    const state = join(folder, 'state');
    await folderOf(0, 'state');
    await folderOf(SERVER, 'state', 'postgres');
    await symlink(secret, join(state, 'postgres', 'owner'));
    // The file says that there was a database.
    const before = await seen();
    await ends(0, run(['status', '--state', state, '--start-empty']));
    expect((await lstat(join(state, 'postgres', 'owner'))).isFile()).toBe(true);
    expect(await seen()).toEqual(before);
  });

  describe.each([
    ['root', 0, []],
    // `initdb` wants an account with a name; PostgreSQL's and others' systems have this one.
    ['an ordinary user', 1, ['long']],
  ] as const)('%s', (_, uid, tags) => {
    test('leaves nothing that others can write, even with umask 000', { tags: [...tags] }, async () => {
      const place = await folderOf(uid, 'place');
      // Too long for a socket in it.
      const state = join(place, 'a'.repeat(60), 'b'.repeat(40));
      const how = { uid, shell: 'umask 000', cwd: place };
      await writeFile(join(place, 'list.csv'), 'website\nacme.com\n');
      await ends(0, run(['run', 'list.csv', '--sample'], { ...how, env: { TMPDIR: place } }));
      await ends(0, run(['status', '--state', state], { ...how, env: { TMPDIR: place } }));
      for (const path of [...(await everyPath(place)), ...(await everyPath(`/tmp/brand-enrich-${uid}`))]) {
        const facts = await lstat(path);
        expect(facts.mode & 0o022, `${path} ${facts.mode.toString(8)}`).toBe(0);
      }
    });
  });

  test('an ordinary user refuses the state folder of another one', async () => {
    const state = await folderOf(MALLORY, 'state');
    await writeFile(join(folder, 'list.csv'), 'website\nacme.com\n');
    for (const args of [['status'], ['plan', 'list.csv']]) {
      const result = await ends(5, run([...args, '--state', state], { uid: ALICE }));
      expect(result.stderr).toContain(`belongs to another user, number ${MALLORY}`);
    }
  });

  describe('in a folder that many may write to', () => {
    /** Both are root's here, whose token would leave. */
    const shared = async () => {
      const place = await folderOf(MALLORY, 'shared');
      await writeFile(join(place, 'list.csv'), 'website\nacme.com\n');
      return place;
    };

    test('the config file of another user is not read unless it is named', async () => {
      const place = await shared();
      const config = join(place, 'brand-enrich.config.json');
      const settings = { baseUrl: 'http://127.0.0.1:9', state: join(folder, 'state') };
      await writeFile(config, JSON.stringify(settings));
      await chown(config, MALLORY, MALLORY);
      const env = { BRAND_API_TOKEN: 'x' };
      for (const args of [['run', 'list.csv'], ['plan', 'list.csv'], ['worker'], ['up', '--inbox', '.']]) {
        const result = await ends(2, run(args, { cwd: place, env }));
        expect(result.stderr).toMatch(/it belongs to another user\); name it with --config if you trust it/);
      }
      await ends(0, run(['config', '--config', config], { cwd: place }));
      await chown(config, 0, 0);
      const own = await ends(0, run(['config'], { cwd: place, uid: ALICE }));
      expect(own.stdout).toContain('http://127.0.0.1:9');
    });

    test('a link of another user in place of an output is not followed', LONG, async () => {
      const place = await shared();
      const before = await seen();
      for (const name of ['list.enriched.csv', 'list.errors.csv', 'list.report.html']) {
        const planted = join(place, name);
        await symlink(secret, planted);
        await lchown(planted, MALLORY, MALLORY);
        const result = await ends(5, run(['run', 'list.csv', '--sample'], { cwd: place }));
        expect(result.stderr).toContain(`${planted} (a symbolic link of another user); remove it`);
        expect(await seen()).toEqual(before);
        await rm(planted);
      }
      await symlink(join(place, 'elsewhere.csv'), join(place, 'list.enriched.csv'));
      await ends(0, run(['run', 'list.csv', '--sample'], { cwd: place }));
      expect((await lstat(join(place, 'list.enriched.csv'))).isSymbolicLink()).toBe(true);
      expect(await readFile(join(place, 'elsewhere.csv'), 'utf8')).toContain('brand_status');
    });
  });

  test("an ordinary user's `engine stop` of root's engine says that it may not", async () => {
    const state = join(folder, 'state');
    await ends(0, run(['status', '--state', state]));
    const result = await ends(5, run(['engine', 'stop', '--state', state], { uid: ALICE }));
    expect(result.stderr).toContain(`${join(state, 'postgres')} (permission denied)`);
  });

  test.each([
    ['a folder', async (path: string) => mkdir(path, { mode: 0o777 })],
    ['a link', async (path: string) => symlink(folder, path)],
  ] as const)('%s of another user in place of a folder for sockets is refused', async (_, make) => {
    const uid = ALICE + process.pid;
    const home = await folderOf(uid, 'home');
    const squat = `/tmp/brand-enrich-${uid}`;
    await make(squat);
    onTestFinished(() => rm(squat, { recursive: true, force: true }));
    const state = join(home, 'a'.repeat(100));
    const result = await ends(5, run(['status', '--state', state], { uid, cwd: home }));
    expect(result.stderr).toContain(`remove ${squat}, or use a state folder with a shorter path`);
  });

  test('answers that another user put into the spool are not stored', async () => {
    const state = await folderOf(ALICE, 'state');
    const spool = await folderOf(MALLORY, 'state', 'spool');
    const planted = join(spool, '1-0123456789ab.answers');
    await writeFile(planted, '{"key":"k","status":"matched","packed":null}\n');
    await chown(planted, MALLORY, MALLORY);
    const { listSpooled } = await import('../../src/worker/answer-spool.js');
    // Seen by root here: a file of any user but its own.
    expect(await listSpooled(join(state, 'spool'), Date.now())).toEqual([]);
  });
});

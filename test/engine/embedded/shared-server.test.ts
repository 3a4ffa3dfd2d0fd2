/**
 * The private server while its environment changes: killed, orphaned, moved.
 *
 * @module-tag long
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { attempt, isRunning } from '../../../src/core/lifecycle.js';
import { silentLog } from '../../../src/core/log.js';
import { initdbFailure, judgeData } from '../../../src/engine/embedded/data-folder.js';
import { pidIn } from '../../../src/engine/embedded/lock-files.js';
import { judgeStart } from '../../../src/engine/embedded/server-process.js';
import { openEmbeddedEngine } from '../../../src/engine/embedded/shared-server.js';
import type { Engine } from '../../../src/engine/engine.js';
import { LONG } from '../../e2e/commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type Child, startClient } from './child.js';

/** null if the server does not answer. */
const matchedIn = (engine: Engine) =>
  engine.outcomes.stats().then(
    ({ matched }) => matched,
    () => null,
  );
const SOON = { timeout: 50_000, interval: 20 };
const ANSWER = {
  key: 'k',
  status: 'matched',
  packed: Buffer.from('a'),
  billed: true,
  freshMs: null,
} as const;

describe('the private server', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  async function open(): Promise<Engine> {
    const engine = await openEmbeddedEngine({ folder, log: silentLog() });
    onTestFinished(() => engine.close());
    return engine;
  }
  /** A process that has run this with `open`, \`say\` and \`stay\`; it is killed after the test. */
  function client(script: string): Child {
    const child = startClient(folder, `const stay = () => setInterval(() => {}, 1000); ${script}`);
    onTestFinished(() => child.kill('SIGKILL'));
    return child;
  }
  const home = (...names: readonly string[]) => join(folder, 'postgres', ...names);
  const serverPid = () => Number(readFileSync(home('data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const starts = async () =>
    (await readFile(home('server.log'), 'utf8')).match(/starting PostgreSQL/g)?.length ?? 0;

  /** The engine ids that as many processes see, which begin at the same moment and stay. */
  const openTogether = async (count: number) => {
    const children = Array.from({ length: count }, () =>
      client('const engine = await open(); await engine.outcomes.stats(); say(engine.id); stay();'),
    );
    return new Set(await Promise.all(children.map((child) => child.nextLine())));
  };

  test('is started once by five processes that begin at the same moment', async () => {
    expect((await openTogether(5)).size).toBe(1);
    expect(await starts()).toBe(1);
  });

  test('is shared by thirty processes at once', { tags: ['long'] }, async () => {
    expect((await openTogether(30)).size).toBe(1);
    expect(await starts()).toBe(1);
  });

  test('listens on no port, and only its owner and root reach its socket', async () => {
    await open();
    const [address] = readFileSync(home('data', 'postmaster.pid'), 'utf8').split('\n').slice(5, 6);
    expect(address).toBe('');
    const facts = await stat(home('data', '.s.PGSQL.5432'));
    expect([facts.isSocket(), facts.mode & 0o777]).toEqual([true, 0o700]);
    expect((await stat(home('data'))).mode & 0o777).toBe(0o700);
  });

  test.each(['a,b', `$$ '"$w$`])('is watched in a folder that was moved to %s', LONG, async (name) => {
    await (await open()).close();
    const place = folder;
    folder = join(place, name);
    await mkdir(folder);
    await rename(join(place, 'postgres'), home());
    await rm(home('heartbeat'));
    await open();
    await vi.waitUntil(() => /^\d{4}-/.test(readFileSync(home('heartbeat'), 'utf8')), SOON);
  });

  test('is one server under every name of its folder, a long one with a socket elsewhere', async () => {
    const link = join(folder, 'link');
    folder = join(folder, 'long-'.repeat(20));
    await mkdir(folder);
    await symlink(folder, link);
    await open();
    const pid = serverPid();
    const other = await openEmbeddedEngine({ folder: link, log: silentLog() });
    await other.close();
    expect(serverPid()).toBe(pid);
    expect(await starts()).toBe(1);
  });

  test('works for the next client after it was killed with all its clients', { tags: ['long'] }, async () => {
    await (await open()).close();
    const child = client('say((await open()).id); stay();');
    const id = await child.nextLine();
    const pid = serverPid();
    await child.kill('SIGKILL');
    const engine = await open();
    expect(engine.id).toBe(id);
    expect(serverPid()).toBe(pid);
  });

  /** Processes of PostgreSQL in the data folder, the oldest first, without the guard. */
  const serverProcesses = async () => {
    const found: number[] = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const [cwd, name] = await Promise.all([
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
        readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''),
      ]);
      if (cwd === home('data') && name.trim() === 'postgres') found.push(Number(pid));
    }
    return found.sort((one, other) => one - other);
  };

  test.runIf(process.platform === 'linux')(
    'is started again after a kill at any moment of its start',
    { tags: ['long'], timeout: 600_000 },
    async () => {
      const first = await open();
      const { id } = first;
      await first.outcomes.record([ANSWER]);
      await first.close();
      const moments = Number(process.env.START_KILLS ?? 6);
      for (let moment = 0; moment < moments; moment += 1) {
        const opening = openEmbeddedEngine({ folder, log: silentLog(), startsEmpty: true });
        opening.catch(() => undefined);
        let alive = await serverProcesses();
        while (alive.length === 0) alive = await serverProcesses();
        await after((moment * 67) % 400);
        alive = await serverProcesses();
        // The server, a part of it, or all of it at once.
        const chosen = [alive.slice(0, 1), alive.slice(-1), alive][moment % 3] ?? [];
        for (const pid of chosen) attempt(() => process.kill(pid, 'SIGKILL'), undefined);
        const engine = await opening;
        expect(engine.id, `moment ${moment}`).toBe(id);
        await expect.poll(() => matchedIn(engine), SOON).toBe(1);
        await engine.close();
      }
      expect((await readdir(home())).filter((name) => name.startsWith('data'))).toEqual(['data']);
    },
  );

  describe('ends', { tags: ['long'] }, () => {
    async function endsAfter(kill: string): Promise<void> {
      const child = client(`
        const { existsSync } = await import('node:fs');
        const opening = open();
        const die = () => process.kill(process.pid, 'SIGKILL');
        ${kill}
      `);
      await once(child.process, 'exit');
      const pid = serverPid();
      expect(isRunning(pid)).toBe(true);
      await vi.waitUntil(() => !isRunning(pid), { timeout: 120_000, interval: 500 });
      await expect(stat(home('data', 'postmaster.pid'))).rejects.toThrow();
    }

    test('some time after its last client was killed', () => endsAfter('await opening; die();'));

    test('when its starter was killed before it had a session', () =>
      endsAfter(
        `setInterval(() => existsSync(${JSON.stringify(home('data', 'postmaster.pid'))}) && die(), 1);`,
      ));
  });

  test('ends with its last clients, even if they leave at the same moment', async () => {
    const engines = await Promise.all([open(), open(), open()]);
    const pid = serverPid();
    await Promise.all(engines.map((engine) => engine.close()));
    // Its data are free a moment before its process is gone.
    await vi.waitUntil(() => !isRunning(pid), SOON);
    expect(await starts()).toBe(1);
  });

  test('removes copies of its programs by earlier versions, but only when it starts', LONG, async () => {
    await mkdir(home('server-0.1', 'bin'), { recursive: true });
    await open();
    await expect(stat(home('server-0.1'))).rejects.toThrow('ENOENT');
    await mkdir(home('server-0.2'));
    await open();
    expect((await stat(home('server-0.2'))).isDirectory()).toBe(true);
  });

  test('is created although the initdb of a killed start is still writing', LONG, async () => {
    await mkdir(home('new-killed'), { recursive: true });
    const child = client(`
      const { mkdirSync } = await import('node:fs');
      say('writing');
      for (let number = 0; number < 100; number += 1) {
        for (let each = 0; each < 50; each += 1) {
          try {
            mkdirSync(${JSON.stringify(home('new-killed'))} + '/' + number + '/' + each, { recursive: true });
          } catch {}
        }
        await new Promise(setImmediate);
      }
      stay();
    `);
    await child.nextLine();
    expect(await (await open()).outcomes.stats()).toMatchObject({ matched: 0 });
  });

  test('is stopped and restarted when its socket was removed', async () => {
    const first = await open();
    const pid = serverPid();
    for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) await rm(home('data', name));
    const second = await open();
    expect(serverPid()).not.toBe(pid);
    await vi.waitUntil(async () => (await matchedIn(first)) !== null, SOON);
    expect(await second.outcomes.stats()).toMatchObject({ matched: 0 });
  });

  test('is started though another program has the process id of a crashed one', LONG, async () => {
    await (await open()).close();
    // As a crash of the machine leaves it: the file names a live process that is no server.
    const other = client("say('here'); stay();");
    await other.nextLine();
    const lines = [other.process.pid, home('data'), 1, 5432, home('data'), '', '', 'ready   '];
    await writeFile(home('data', 'postmaster.pid'), `${lines.join('\n')}\n`);
    const engine = await open();
    expect(serverPid()).not.toBe(other.process.pid);
    expect(await engine.outcomes.stats()).toMatchObject({ matched: 0 });
  });

  describe('of another machine or container', { tags: ['long'] }, () => {
    test('is left alone while it writes its heartbeat', async () => {
      await (await open()).close();
      await writeFile(home('owner'), 'elsewhere some-boot pid:[1]\n');
      await writeFile(home('data', 'postmaster.pid'), '7\n');
      const heartbeats = setInterval(() => void utimes(home('heartbeat'), new Date(), new Date()), 1_000);
      onTestFinished(() => clearInterval(heartbeats));
      await expect(open()).rejects.toMatchObject({
        code: 'engine-held',
        message: expect.stringMatching(/\(elsewhere\) is using this state folder/),
      });
    });

    test('is forgotten once it is gone', async () => {
      const first = await open();
      await first.outcomes.record([ANSWER]);
      await first.close();
      await writeFile(home('owner'), 'elsewhere some-boot pid:[1]\n');
      await writeFile(home('data', 'postmaster.pid'), '999999\n');
      expect((await (await open()).outcomes.stats()).matched).toBe(1);
    });
  });

  test('ignores settings in the environment of its users', LONG, async () => {
    const child = client(`
      Object.assign(process.env, { PGDATA: '/nowhere', PGHOST: 'nowhere', PGPORT: '1', PGUSER: 'nobody', PGOPTIONS: '-c nothing=1',
        PGSSLMODE: 'require', PGDATABASE: 'none', PGPASSWORD: 'x', LANG: 'xx_XX', LC_ALL: 'xx_XX', TZ: 'Nowhere/Else' });
      const engine = await open();
      say(engine.kind);
      await engine.close();
    `);
    expect(await child.nextLine()).toBe('embedded');
  });

  test('does not keep our output pipe open', LONG, async () => {
    const child = client("await open(); say('open'); process.kill(process.pid, 'SIGKILL');");
    expect(await child.nextLine()).toBe('open');
    // The pipe closes though the server continues to run.
    await new Promise((resolve) => child.process.once('close', resolve));
    expect(isRunning(serverPid())).toBe(true);
    await open();
  });
});

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  test('a folder that only root may enter is refused, and another folder suggested', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'closed-'));
    await mkdir(join(closed, 'state'));
    const opening = openEmbeddedEngine({ folder: join(closed, 'state'), log: silentLog() });
    await expect(opening).rejects.toMatchObject({
      code: 'engine-unfit',
      todo: expect.stringContaining('--state /var/lib/brand-enrich'),
    });
    await rm(closed, { recursive: true });
  });
});

test.each([
  [null, '', false, 'none'],
  [null, '', true, 'unusable'],
  [[], '', false, 'unusable'],
  [['base', 'global', 'PG_VERSION'], '18\n', false, 'ready'],
  [['base', 'PG_VERSION'], '18\n', false, 'unusable'],
  [['base', 'global', 'PG_VERSION'], '', false, 'unusable'],
] as const)('data with %j and version %j, used before: %s, are %s', (names, version, wasUsed, type) => {
  expect(judgeData(names, version, wasUsed).type).toBe(type);
});

test.each([
  ['', null],
  ['\0\0\0', null],
  ['garbled', null],
  ['-0', null],
  ['0\n', null],
  ['4711\n/data\n', 4_711],
  // Of a server for one user, which PostgreSQL writes so.
  ['-4711\n', 4_711],
  ['4711x', 4_711],
])('a lock file that begins %j names process %s', (text, pid) => {
  expect(pidIn(text)).toBe(pid);
});

const AT = '2026-01-01 00:00:00.000 UTC [7]';
test.each([
  [`${AT} FATAL:  lock file "postmaster.pid" already exists\n${AT} HINT:  Is another running?`, 'ended'],
  [`${AT} FATAL:  lock file "postmaster.pid" is empty`, 'ended'],
  [`${AT} FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use`, 'ended'],
  [`${AT} LOG:  startup process (PID 7) was terminated by signal 9: Killed`, 'ended'],
  [`${AT} LOG:  startup process (PID 7) was terminated by signal 11: Segmentation fault`, 'ended'],
  [`${AT} LOG:  database system was interrupted; last known up at 2026-01-01 00:00:00 UTC`, 'ended'],
  [`${AT} FATAL:  the database system is starting up`, 'ended'],
  [`${AT} FATAL:  terminating connection due to unexpected postmaster exit`, 'ended'],
  ['', 'ended'],
  [
    `${AT} PANIC:  could not locate a valid checkpoint record at 0/1\n${AT} LOG:  startup process (PID 7) was terminated by signal 6: Aborted\n${AT} FATAL:  the database system is starting up`,
    'damaged',
    /^could not locate/,
  ],
  ['postgres: could not find it\nbut could not open file "/data/pg_control"\n', 'damaged', /pg_control/],
  [`${AT} FATAL:  could not write lock file "x.pid": No space left on device`, 'damaged', /No space/],
  ['/bin/postgres: error while loading shared libraries: libx.so.5\n', 'failed', /libx/],
] as const)('a start that says %j has %s', (log, type, reason = /^it ended with 1$/) => {
  expect(judgeStart(log, 'it ended with 1')).toMatchObject({ type, reason: expect.stringMatching(reason) });
  if (type !== 'damaged') return;
  expect(judgeStart(log, 'it ended with SIGKILL').type, 'killed in the middle of it').toBe('ended');
  expect(judgeStart(log, 'it ended with SIGABRT').type).toBe('damaged');
});

test.each([
  [
    'running bootstrap script ... 2026-01-01 UTC [7] FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n' +
      'child process exited with exit code 1\ninitdb: removing contents of data directory "/x"\n',
    'could not write to file "pg_wal/xlogtemp.7": No space left on device',
  ],
  [
    'initdb: error: could not create directory "/x": Permission denied\ninitdb: hint: y\n',
    'could not create directory "/x": Permission denied',
  ],
  ['libpq.so.5: cannot open shared object file\n', 'libpq.so.5: cannot open shared object file'],
  ['', ''],
])('initdb that says %j failed for that reason', (stderr, reason) => {
  expect(initdbFailure(stderr)).toBe(reason);
});

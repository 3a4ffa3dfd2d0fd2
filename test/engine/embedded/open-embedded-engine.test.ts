/**
 * The embedded engine over data of other builds and users, damaged ones, and what closes it.
 *
 * @module-tag long
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { RunError } from '../../../src/core/errors.js';
import { silentLog } from '../../../src/core/log.js';
import { joinServer, openEmbeddedEngine } from '../../../src/engine/embedded/shared-server.js';
import { LONG } from '../../e2e/commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { exchangeRequest, runSettings } from '../contract/run-settings.js';
import { startClient } from './child.js';

const ANY = Number.MAX_SAFE_INTEGER;
const ANY_AGE = { asOf: 0, maxAgeMs: ANY, maxAgeMissingMs: ANY, notBefore: 0 };
const DAY_MS = 86_400_000;
const ANSWER = { status: 'matched', packed: Buffer.from('answer'), billed: true, freshMs: null } as const;
const isRoot = process.getuid?.() === 0;

describe('the embedded engine', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  async function open(some: { offsetMs?: number; where?: string; startsEmpty?: boolean } = {}) {
    const { offsetMs = 0, where = folder, startsEmpty } = some;
    const engine = await openEmbeddedEngine({
      folder: where,
      log: silentLog(),
      clockOffsetMs: () => offsetMs,
      startsEmpty,
    });
    onTestFinished(() => engine.close());
    return engine;
  }
  const dataOf = (where = folder) => join(where, 'postgres', 'data');

  test('opens without warnings, and only its owner can read its data', async () => {
    const state = join(folder, 'deep', 'state');
    const engine = await open({ where: state });
    expect(engine).toMatchObject({ kind: 'embedded', address: state, warnings: [] });
    expect(await engine.freeMemory()).toBeNull();
    expect((await stat(dataOf(state))).mode & 0o777).toBe(0o700);
    expect((await stat(state)).mode & 0o077).toBe(isRoot ? 0o011 : 0);
    await engine.close();
    await expect(engine.outcomes.stats(), 'a closed engine refuses calls at once').rejects.toThrow();
  });

  test('opens in a state folder that a run on another engine made', async () => {
    const state = join(folder, 'state');
    await mkdir(join(state, 'runs'), { recursive: true, mode: 0o700 });
    await open({ where: state });
    expect((await stat(state)).mode & 0o077).toBe(isRoot ? 0o011 : 0);
  });

  test('opens a relative folder below the current one; a folder with other files keeps its mode', async () => {
    await writeFile(join(folder, 'customers.csv'), '');
    await chmod(folder, 0o755);
    await open({ where: relative(process.cwd(), folder) });
    expect(existsSync(dataOf())).toBe(true);
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
  });

  test('data survive a close, except answers older than 30 days that no live run uses', async () => {
    const first = await open();
    await first.outcomes.record([{ key: 'k', ...ANSWER }]);
    await first.close();
    const second = await open({ offsetMs: 29 * DAY_MS });
    expect((await second.outcomes.read(['k'], ANY_AGE))[0]?.packed?.toString()).toBe('answer');
    const label = { host: 'etl-1', name: '' };
    await second.runs.start({ id: 'r', key: 'r', label, settings: runSettings() });
    await second.close();
    const third = await open({ offsetMs: 29 * DAY_MS + 1 });
    expect((await third.outcomes.stats()).matched).toBe(1);
    await third.close();
    const fourth = await open({ offsetMs: 31 * DAY_MS });
    await expect.poll(() => fourth.outcomes.stats()).toMatchObject({ matched: 0 });
  });

  test('a database whose creation was interrupted is created again, and its remains are removed', async () => {
    const home = join(folder, 'postgres');
    const remains = join(home, 'new-0123456789ab');
    const interrupt = async () => {
      await mkdir(remains, { recursive: true });
      await chmod(home, 0o711);
      await writeFile(join(remains, 'PG_VERSION'), '18\n');
    };
    await interrupt();
    const engine = await open();
    expect(await engine.outcomes.stats()).toMatchObject({ matched: 0 });
    expect(existsSync(remains)).toBe(false);
    // An `initdb` that nobody waits for any more may write after its remains were removed.
    await interrupt();
    await engine.close();
    await (await open()).close();
    expect(existsSync(remains)).toBe(false);
  });

  describe('refuses to start empty', () => {
    async function expectRefusal(words: RegExp): Promise<void> {
      await expect(open()).rejects.toMatchObject({
        code: 'engine-unfit',
        message: expect.stringMatching(words),
      });
    }

    test('when its data are of another major version, damaged, incomplete or gone', async () => {
      await (await open()).close();
      const version = join(dataOf(), 'PG_VERSION');
      const ours = await readFile(version);
      await writeFile(version, '12\n');
      await expectRefusal(
        /PostgreSQL 12 wrote the stored answers and the ledger, but this machine has .*engine export/,
      );
      await rm(version);
      await expectRefusal(/damaged.*--start-empty/);
      await writeFile(version, ours);
      await rm(join(dataOf(), 'global', 'pg_control'));
      // In the words of PostgreSQL.
      await expectRefusal(/cannot start \(.*pg_control.*--start-empty/);
      await rm(dataOf(), { recursive: true });
      await expectRefusal(/although it was in use before.*--start-empty/);
    });

    test('unless --start-empty insists, which moves the old data aside', async () => {
      const first = await open();
      await first.outcomes.record([{ key: 'k', ...ANSWER }]);
      await first.close();
      await rm(join(dataOf(), 'PG_VERSION'));
      const second = await open({ startsEmpty: true });
      expect((await second.outcomes.stats()).matched).toBe(0);
      expect(second.id).not.toBe(first.id);
      await second.close();
      const third = await open();
      expect(third.id).toBe(second.id);
    });
  });

  test('data of another build are refused, and set aside with --start-empty once no process uses them', async () => {
    const first = await open();
    const shared = await joinServer(folder, false, silentLog(), new AbortController().signal);
    onTestFinished(() => shared.leave());
    const session = new Client(shared.connection);
    await session.connect();
    await session.query('UPDATE brand_enrich.engine_state SET version = 1000');
    await session.end();
    await first.close();
    const refusal = { code: 'engine-unfit', message: expect.stringMatching(/engine export.*--start-empty/) };
    await expect(open()).rejects.toMatchObject(refusal);
    await expect(open({ startsEmpty: true })).rejects.toMatchObject(refusal);
    await shared.leave();
    await expect(open()).rejects.toMatchObject(refusal);
    const second = await open({ startsEmpty: true });
    expect(second.id).not.toBe(first.id);
    expect(await readdir(join(folder, 'postgres'))).toContainEqual(expect.stringMatching(/^data\.\d/));
  });

  test('data of another build are set aside once, and the database of a quicker start stays', async () => {
    await (await open()).close();
    const late = await joinServer(folder, true, silentLog(), new AbortController().signal);
    await late.leave();
    const quicker = await joinServer(folder, true, silentLog(), new AbortController().signal);
    await quicker.leave();
    const unusable = new RunError({ code: 'engine-unfit', subject: folder, todo: 'use another build' });
    await quicker.replace(unusable);
    const begun = await open();
    const { id } = begun;
    await begun.close();
    await late.replace(unusable);
    expect((await open()).id).toBe(id);
  });

  test('repeated kill -9 during work loses no acknowledged answer and no permit', LONG, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [run, worker] = [`run-${round}`, `worker-${round}`];
      const begun = { id: run, key: run, label: { host: 'etl-1', name: '' }, settings: runSettings() };
      const reading = { quota: 1e6, usage: 0, period: 'none' };
      const asked = { account: runSettings().account, worker, run, reading, permitMs: 3_600_000 };
      const child = startClient(
        folder,
        `
        const { ledger, outcomes, runs } = await open();
        const { worker, run, ...request } = ${JSON.stringify(exchangeRequest(asked))};
        const { asOf } = await runs.start(${JSON.stringify(begun)});
        const freshness = { asOf, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: asOf };
        for (let batch = 0; ; batch += 1) {
          const keys = Array.from({ length: 20 }, (_, i) => 'k-${round}-' + batch + '-' + i);
          await outcomes.claim(worker, keys, freshness);
          const take = keys.map((key) => ({ permit: 'p-' + key, key }));
          const { permits } = await ledger.exchange({ ...request, worker, run, take });
          if (permits.some(({ answer }) => answer !== 'granted')) throw new Error('not granted');
          await outcomes.record(keys.map((key) => (
            { key, status: 'matched', packed: Buffer.alloc(600, key), billed: true, freshMs: null })));
          say('${round}-' + batch);
        }
      `,
      );
      onTestFinished(() => child.kill('SIGKILL'));
      for (let line = 0; line < 10 + 7 * round; line += 1) acknowledged.push(await child.nextLine());
      await child.kill('SIGKILL');
      acknowledged.push(...child.takenLines());
    }
    const engine = await open();
    const keys = acknowledged.flatMap((batch) => Array.from({ length: 20 }, (_, i) => `k-${batch}-${i}`));
    const found = await engine.outcomes.read(keys, ANY_AGE);
    expect(found.filter((outcome) => outcome === null)).toEqual([]);
    expect(found.every((outcome) => outcome?.packed?.equals(Buffer.alloc(600, outcome.key)))).toBe(true);
    expect((await engine.ledger.show(runSettings().account)).held).toBeGreaterThanOrEqual(keys.length);
  });
});

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FolderLock } from '../../../src/engine/embedded/folder-lock.js';
import { askFolderHolder, lockFolder } from '../../../src/engine/embedded/folder-lock.js';
import { FailFileError } from '../../../src/errors.js';
import { createReleasers } from '../../../src/lifecycle.js';
import type { Child } from './child.js';
import { startChild } from './child.js';

const self = { pid: 4711, command: 'brand-enrich run a.csv', since: '2026-11-20T09:00:00.000Z' };

describe('the lock of a folder', () => {
  const releasers = createReleasers();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lock-'));
    releasers.push(() => rm(folder, { recursive: true, force: true }));
  });
  afterEach(() => releasers.releaseAll());

  async function lock(where = folder): Promise<FolderLock> {
    const held = await lockFolder(where, self);
    releasers.push(() => held.release());
    return held;
  }
  function child(script: string): Child {
    const started = startChild(script);
    releasers.push(() => started.kill('SIGKILL'));
    return started;
  }
  const lockingChild = () =>
    child(`
      const { lockFolder } = await load('src/engine/embedded/folder-lock.js');
      const since = new Date().toISOString();
      try {
        await lockFolder(${JSON.stringify(folder)}, { pid: process.pid, command: 'other', since });
        say('has it');
      } catch (error) {
        say(error.code);
      }
      setInterval(() => {}, 1000);
    `);

  test('who comes second is told who holds it and what to do', async () => {
    await lock();
    await expect(lock()).rejects.toMatchObject({
      code: 'engine-held',
      message: expect.stringMatching(
        /process 4711 \(brand-enrich run a\.csv\) since 2026-11-20.*--state.*redis:/,
      ),
    });
  });

  test('a released folder can be locked again, and nothing is left in it', async () => {
    await (await lock()).release();
    await (await lock()).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test('of many starters at the same moment one gets the folder', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lock()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('of many processes at the same moment one gets the folder, though a dead one left its socket', async () => {
    const dead = lockingChild();
    expect(await dead.nextLine()).toBe('has it');
    await dead.kill('SIGKILL');
    expect(await readdir(folder)).toHaveLength(1);
    const children = Array.from({ length: 4 }, lockingChild);
    const words = await Promise.all(children.map((one) => one.nextLine()));
    expect(words.sort()).toEqual(['engine-held', 'engine-held', 'engine-held', 'has it']);
  });

  test('the folder of a killed process is free at once', async () => {
    const holder = lockingChild();
    expect(await holder.nextLine()).toBe('has it');
    await expect(lock()).rejects.toMatchObject({
      message: expect.stringContaining(`process ${holder.process.pid} (other)`),
    });
    await holder.kill('SIGKILL');
    await lock();
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a holder that does not answer still holds', async () => {
    const holder = lockingChild();
    expect(await holder.nextLine()).toBe('has it');
    await holder.kill('SIGSTOP');
    await expect(lock()).rejects.toMatchObject({ code: 'engine-held' });
  });

  test('a file that only looks like a socket does not hold', async () => {
    await writeFile(join(folder, 'lock-0000000000000000.sock'), '');
    await lock();
  });

  test('a folder whose name is too long for a socket is locked like any other', async () => {
    const deep = join(folder, 'a'.repeat(100), 'b'.repeat(100));
    await mkdir(deep, { recursive: true });
    const held = await lock(deep);
    held.onRequest(() => 'here');
    await expect(lock(deep)).rejects.toMatchObject({ code: 'engine-held' });
    expect(await askFolderHolder(deep, null)).toBe('here');
  });

  test('the holder answers the requests of others', async () => {
    const held = await lock();
    const early = askFolderHolder(folder, 'early');
    held.onRequest(async (request) => ({ echo: request }));
    expect(await early).toEqual({ echo: 'early' });
    const request = { ask: 'status', text: 'ü\n'.repeat(50_000) };
    expect(await askFolderHolder(folder, request)).toEqual({ echo: request });
    held.onRequest(() => {
      throw new Error('no such request');
    });
    await expect(askFolderHolder(folder, 1)).rejects.toThrow('no such request');
    const unfit = {
      code: 'engine-unfit',
      what: 'what: it',
      subject: 'run; 1',
      todo: 'do: this; and that',
    } as const;
    held.onRequest(() => {
      throw new FailFileError(unfit);
    });
    const { what: _, ...fields } = unfit;
    await expect(askFolderHolder(folder, 1)).rejects.toMatchObject({
      ...fields,
      name: 'FailFileError',
      message: 'what: it: run; 1; do: this; and that',
    });
    await held.release();
    expect(await askFolderHolder(folder, 1)).toBeNull();
  });

  test('nobody answers for a folder that is not there', async () => {
    expect(await askFolderHolder(join(folder, 'none'), 1)).toBeNull();
  });
});

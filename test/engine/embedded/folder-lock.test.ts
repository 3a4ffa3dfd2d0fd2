/**
 * The lock of a folder among processes that die, hang or begin at the same moment.
 *
 * @module-tag long
 */
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { lockFolder, removeStaleSockets } from '../../../src/engine/embedded/folder-lock.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type Child, startChild } from './child.js';

/** For a lock that is held permanently. */
const PATIENCE_MS = 200;
/** For a lock that will be released. */
const IN_TURN_MS = 30_000;

describe('the lock of a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  async function lock(where = folder) {
    const held = await lockFolder(where, PATIENCE_MS);
    onTestFinished(() => held.release());
    return held;
  }
  function child(script: string): Child {
    const started = startChild(script);
    onTestFinished(() => started.kill('SIGKILL'));
    return started;
  }
  const lockingChild = () =>
    child(`
      const { lockFolder } = await load('src/engine/embedded/folder-lock.js');
      try {
        await lockFolder(${JSON.stringify(folder)}, 2_000);
        say('has it');
      } catch (error) {
        say(error.code);
      }
      setInterval(() => {}, 1000);
    `);

  test('the second process learns who holds the lock and what to do', async () => {
    await lock();
    await expect(lock()).rejects.toMatchObject({
      code: 'engine-held',
      message: expect.stringMatching(new RegExp(`process ${process.pid} .*end that process`)),
    });
  });

  test('a released folder can be locked again, and contains no leftovers', async () => {
    await (await lock()).release();
    await (await lock()).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test('one of many concurrent attempts holds the lock at a time, and all succeed in the end', async () => {
    let inside = 0;
    let most = 0;
    const turns = Array.from({ length: 20 }, async () => {
      const held = await lockFolder(folder, IN_TURN_MS);
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      await held.release();
    });
    await Promise.all(turns);
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  test('one of many processes gets the folder, though a dead process left its socket', async () => {
    const dead = lockingChild();
    expect(await dead.nextLine()).toBe('has it');
    await dead.kill('SIGKILL');
    expect(await readdir(folder)).toHaveLength(1);
    const children = Array.from({ length: 4 }, lockingChild);
    const words = await Promise.all(children.map((one) => one.nextLine()));
    expect(words.sort()).toEqual(['engine-held', 'engine-held', 'engine-held', 'has it']);
  });

  test('a process without a lock removes the socket of a killed process, not the socket of a holder', async () => {
    const owner = lockingChild();
    expect(await owner.nextLine()).toBe('has it');
    await removeStaleSockets(folder);
    expect(await readdir(folder)).toHaveLength(1);
    await expect(lock()).rejects.toMatchObject({ code: 'engine-held' });
    await owner.kill('SIGKILL');
    await removeStaleSockets(folder);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a socket without its final name, whose process was killed, is removed after a minute', async () => {
    const [old, young] = ['lock-0000000000000000.sock.new', 'lock-0000000000000001.sock.new'];
    for (const name of [old, young]) await writeFile(join(folder, name), '');
    await utimes(join(folder, old), 0, 0);
    await (await lock()).release();
    expect(await readdir(folder)).toEqual([young]);
  });

  test('a process that does not answer still holds the lock', async () => {
    const owner = lockingChild();
    expect(await owner.nextLine()).toBe('has it');
    await owner.kill('SIGSTOP');
    await expect(lock()).rejects.toMatchObject({ code: 'engine-held' });
  });

  test('a regular file in place of the socket does not hold the lock', async () => {
    await writeFile(join(folder, 'lock-0000000000000000.sock'), '');
    await lock();
  });

  test('a folder whose name is too long for a socket is locked like any other', async () => {
    const deep = join(folder, 'a'.repeat(100), 'b'.repeat(100));
    await mkdir(deep, { recursive: true });
    const held = await lock(deep);
    await expect(lock(deep)).rejects.toMatchObject({ code: 'engine-held' });
    await held.release();
    await lock(deep);
  });
});

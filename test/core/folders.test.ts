import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder, makePrivateFolder } from '../../src/core/folders.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('makeFolder makes a folder and its parents, and returns whether it did', async () => {
  const path = join(await temporaryFolder(), 'a', 'b');
  expect(makeFolder(path, 0o700)).toBe(true);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  expect(makeFolder(path)).toBe(false);
});

it('makeFolder throws the cause when it cannot make the folder', async () => {
  const file = join(await temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'a', 'b'))).toThrow('ENOTDIR');
});

it.runIf(process.platform === 'linux')('does not try for ever where folders cannot be made', () => {
  expect(() => makeFolder('/proc/none/a')).toThrow('ENOENT');
});

it('makeFolder is the only way that the sources make a folder with its parents', () => {
  const source = new URL('../../src/', import.meta.url).pathname;
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const others = files.filter((name) =>
    /mkdir(?:Sync)?\([^;]*recursive|mkdir: true/.test(readFileSync(join(source, name), 'utf8')),
  );
  expect(others).toEqual([]);
});

describe('a private folder', () => {
  it('is closed to others, also when it was there', async () => {
    const path = join(await temporaryFolder(), 'deep', 'runs');
    makePrivateFolder(path);
    await chmod(path, 0o777);
    makePrivateFolder(path);
    expect((await lstat(path)).mode & 0o777).toBe(0o700);
  });

  it('is never a link, whose target keeps its mode', async () => {
    const folder = await temporaryFolder();
    const [target, path] = [join(folder, 'target'), join(folder, 'runs')];
    await mkdir(target);
    await chmod(target, 0o755);
    await symlink(target, path);
    expect(() => makePrivateFolder(path)).toThrow('it is a symbolic link');
    expect((await lstat(target)).mode & 0o777).toBe(0o755);
  });
});

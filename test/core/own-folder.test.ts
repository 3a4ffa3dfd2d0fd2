import { chmod, lstat, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makePrivateFolder } from '../../src/core/own-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a private folder', () => {
  it('is closed to others, also when it was there', async () => {
    const path = join(await temporaryFolder(), 'deep', 'runs');
    makePrivateFolder(path);
    await chmod(path, 0o777);
    makePrivateFolder(path);
    expect((await lstat(path)).mode & 0o777).toBe(0o700);
  });

  it('is not a link, and what the link leads to keeps its mode', async () => {
    const folder = await temporaryFolder();
    const [target, path] = [join(folder, 'target'), join(folder, 'runs')];
    await mkdir(target);
    await chmod(target, 0o755);
    await symlink(target, path);
    expect(() => makePrivateFolder(path)).toThrow('it is a symbolic link');
    expect((await lstat(target)).mode & 0o777).toBe(0o755);
  });
});

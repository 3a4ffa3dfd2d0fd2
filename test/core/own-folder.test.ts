import { chmod, lstat, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makePrivateFolder, strangerIn } from '../../src/core/own-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const [ROOT, ALICE, MALLORY, UNMAPPED] = [0, 1_000, 1_001, 65_534];

describe('a state folder, and the folders above it,', () => {
  it.each<[us: number, folder: number | null, above: number[], stranger: string | null]>([
    [ROOT, ROOT, [ROOT, ROOT], null],
    [ROOT, ALICE, [ROOT], 'state'],
    [ROOT, ROOT, [ROOT, ALICE, ROOT], 'above 1'],
    [ROOT, null, [ALICE, ROOT], 'above 0'],
    [ROOT, null, [ROOT], null],
    [ROOT, ROOT, [ROOT, UNMAPPED], null],
    [ROOT, UNMAPPED, [ROOT], 'state'],
    [ALICE, ALICE, [ALICE, ROOT], null],
    [ALICE, ROOT, [ROOT], null],
    [ALICE, MALLORY, [ROOT], 'state'],
    [ALICE, ALICE, [MALLORY, ROOT], null],
    [ALICE, null, [ROOT], null],
  ])('used by %d, owned by %d and %j: stranger %s', (us, folder, above, stranger) => {
    const own = folder === null ? null : { path: 'state', uid: folder };
    const others = above.map((uid, index) => ({ path: `above ${index}`, uid }));
    expect(strangerIn(us, own, others)?.path ?? null).toBe(stranger);
  });
});

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

/** Room on disks: when a folder has too little left, also while bytes arrive. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assertDiskRoom, CHECK_DISK_EVERY_BYTES } from '../../src/core/disk-room.js';
import { FailFileError } from '../../src/core/errors.js';
import { keepBytes } from '../../src/intake/byte-source.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MB = 1_048_576;

describe('a folder has room', () => {
  it('while 200 MB are left after what is to be written', async () => {
    const folder = await temporaryFolder();
    const { bavail, bsize } = await statfs(folder);
    const left = bavail * bsize;
    // Other tests write to the same disk.
    await expect(assertDiskRoom([folder], left - 1_000 * MB)).resolves.toBeUndefined();
    const low = assertDiskRoom(['/nowhere', folder], left);
    await expect(low).rejects.toBeInstanceOf(FailFileError);
    await expect(low).rejects.toMatchObject({
      code: 'disk-low',
      subject: expect.stringMatching(new RegExp(`^${folder} has \\d+ MB left$`)),
      todo: expect.stringContaining(`free at least ${Math.ceil(left / MB + 200)} MB`),
    });
  });

  it('where nothing is known of its disk', async () => {
    await expect(assertDiskRoom(['/nowhere'], 2 ** 52)).resolves.toBeUndefined();
  });

  it.runIf(existsSync('/proc/self'))('where the file system has no blocks', async () => {
    await expect(assertDiskRoom(['/proc/self/fd'], 2 ** 52)).resolves.toBeUndefined();
  });
});

it('a stream that fills the disk ends while there is room for answers, and leaves nothing', async ({
  skip,
}) => {
  const folder = await temporaryFolder();
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=220m', 'tmpfs', folder]);
  if (made.status !== 0) return skip('this user may not mount a file system');
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  const { bfree } = await statfs(folder);
  let sent = 0;
  async function* endless() {
    const chunk = Buffer.alloc(MB, 'a');
    for (; sent < 100 * MB; sent += chunk.length) yield chunk;
  }
  await expect(keepBytes(endless(), 'list.csv', folder)).rejects.toMatchObject({ code: 'disk-low' });
  expect(sent).toBeLessThanOrEqual(2 * CHECK_DISK_EVERY_BYTES);
  expect((await statfs(folder)).bfree).toBe(bfree);
});

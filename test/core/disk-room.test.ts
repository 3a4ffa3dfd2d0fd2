import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  assertDiskRoom,
  assertRoomForInput,
  CHECK_DISK_EVERY_BYTES,
  InputDiskUse,
  isToBlame,
} from '../../src/core/disk-room.js';
import { RunError } from '../../src/core/errors.js';
import { keepBytes } from '../../src/input/byte-source.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDisk } from '../support/tiny-disk.js';

const MB = 1_048_576;

describe('a folder has room', () => {
  it('while 200 MB are left after the write', async () => {
    const folder = await temporaryFolder();
    const { bavail, bsize } = await statfs(folder);
    const left = bavail * bsize;
    // Other tests write to the same disk.
    await expect(assertDiskRoom([folder], left - 1_000 * MB)).resolves.toBeUndefined();
    const low = assertDiskRoom(['/nowhere', folder], left);
    await expect(low).rejects.toBeInstanceOf(RunError);
    await expect(low).rejects.toMatchObject({
      code: 'disk-low',
      subject: expect.stringMatching(new RegExp(`^${folder} has \\d+ MB left$`)),
      todo: expect.stringContaining(`free at least ${Math.ceil(left / MB + 200)} MB`),
    });
  });

  it('when the system reports nothing about its disk', async () => {
    await expect(assertDiskRoom(['/nowhere'], 2 ** 52)).resolves.toBeUndefined();
  });

  it.runIf(existsSync('/proc/self'))('where the file system has no blocks', async () => {
    await expect(assertDiskRoom(['/proc/self/fd'], 2 ** 52)).resolves.toBeUndefined();
  });
});

describe('a disk with too little left', () => {
  it.each([
    ['a large input', { left: 190, own: 120, all: 120 }, true],
    ['a large input among small ones', { left: 190, own: 120, all: 200 }, true],
    ['one input of two of the same size', { left: 190, own: 120, all: 240 }, false],
    ['a small input, on a disk that others filled', { left: 190, own: 99, all: 99 }, false],
    ['a small input that ends the room', { left: 199, own: 1, all: 1 }, false],
    ['a large input, without which there is no room either', { left: 40, own: 120, all: 120 }, false],
  ])('is due to %s: %j is %s', (_what, { left, own, all }, expected) => {
    expect(isToBlame({ left: left * MB, own: own * MB, all: all * MB })).toBe(expected);
  });

  it('is due to inputs on that disk, not on others', async ({ skip }) => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const areMade = [here, there].every((folder) => tinyDisk(folder, '190m') !== null);
    if (!areMade) return skip('this user may not mount a file system');
    // Counted, not written: each disk has 190 MB left all the time.
    const keep = (input: string, folder: string, megabytes: number) => {
      const kept = new InputDiskUse(input, folder);
      expect(() => kept.add(megabytes * MB)).toThrow(RunError);
      return kept;
    };
    const all = [keep('list.csv', here, 120), keep('list.csv', there, 150), keep('other.csv', there, 150)];
    expect(() => assertRoomForInput('list.csv', here)).toThrow(
      expect.objectContaining({
        code: 'input-exceeds-disk',
        subject: expect.stringMatching(/takes at least 120 MB .* has 310 MB/),
      }),
    );
    for (const [input, folder] of [
      ['list.csv', there],
      ['other.csv', here],
    ] as const)
      expect(() => assertRoomForInput(input, folder)).toThrow(expect.objectContaining({ code: 'disk-low' }));
    for (const kept of all) kept.release();
    expect(() => assertRoomForInput('list.csv', here)).toThrow(expect.objectContaining({ code: 'disk-low' }));
  });
});

it('a stream that fills the disk ends while there is room for answers, and leaves nothing', async ({
  skip,
}) => {
  const folder = await temporaryFolder();
  if (tinyDisk(folder, '310m') === null) return skip('this user may not mount a file system');
  const { bfree } = await statfs(folder);
  let sent = 0;
  async function* endless() {
    const chunk = Buffer.alloc(MB, 'a');
    for (; sent < 200 * MB; sent += chunk.length) yield chunk;
  }
  await expect(keepBytes(endless(), 'list.csv', folder)).rejects.toMatchObject({
    code: 'input-exceeds-disk',
  });
  expect(sent).toBeLessThanOrEqual(110 * MB + CHECK_DISK_EVERY_BYTES);
  expect((await statfs(folder)).bfree).toBe(bfree);
});

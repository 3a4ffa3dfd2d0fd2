/** Room on disks: what was paid for must be stored. */
import { statfs } from 'node:fs/promises';
import { FailFileError } from './errors.js';

const LEAST_DISK_BYTES = 200 * 1_048_576;
/** How many bytes may be written between two checks. */
export const CHECK_DISK_EVERY_BYTES = 16 * 1_048_576;

/**
 * Keeps room for what is bought: throws FailFileError `disk-low` when any folder would have less
 * than 200 MB left after `bytes` more.
 */
export async function assertDiskRoom(folders: Iterable<string>, bytes = 0): Promise<void> {
  for (const folder of new Set(folders)) {
    const facts = await statfs(folder).catch(() => null);
    // /proc, and with it /dev/fd, has no blocks at all.
    const left = facts === null || facts.blocks === 0 ? Number.POSITIVE_INFINITY : facts.bavail * facts.bsize;
    if (left - bytes >= LEAST_DISK_BYTES) continue;
    throw new FailFileError({
      code: 'disk-low',
      subject: `${folder} has ${Math.floor(left / 1_048_576)} MB left`,
      todo: `free at least ${Math.ceil((LEAST_DISK_BYTES + bytes) / 1_048_576)} MB (or use another disk: --state, -o), then run again`,
    });
  }
}

/** A file system of a few pages, which a test can fill. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounted at `folder`; null where this user may not mount one. `size`: as `mount` takes it. */
export function tinyDisk(folder: string, size = '128k'): { fill(): void; free(): void } | null {
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (made.status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  const filler = join(folder, '.filler');
  return {
    fill() {
      for (const bytes of [65_536, 4_096, 1]) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
        } catch {
          // Full for pieces of this size.
        }
      }
    },
    free: () => rmSync(filler),
  };
}

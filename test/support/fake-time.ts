/** A clock that tests set while processes run (`faketime`); monotonic time is unaffected. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.js';

/** Why no clock can be set on this machine; null if one can. */
export function missingFakeTime(): string | null {
  return findLibrary() === null ? 'faketime is not on this machine (apt-get install faketime)' : null;
}

/** A clock that shows the machine's time until it is set. */
export async function createFakeTime() {
  const library = findLibrary();
  if (library === null) throw new Error('faketime is missing');
  const folder = await temporaryFolder();
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755);
  const path = join(folder, 'clock');
  const set = (offsetMs: number) =>
    writeFileSync(path, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1_000}`);
  set(0);
  return {
    /** Environment of the processes that see this clock. */
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    /** Sets the clock this many milliseconds off the machine's. Takes effect within a second. */
    set,
  };
}

let found: string | null = null;

/**
 * The library as the program itself would load it; null where it is missing. The program fails now
 * and then where a killed one with the same process id left a semaphore, so it is asked up to three
 * times, and its answer is kept.
 */
function findLibrary(): string | null {
  for (let tries = 1; found === null && tries <= 3; tries += 1) {
    const { stdout } = spawnSync('faketime', ['-m', '-f', '+0s', 'env'], { encoding: 'utf8' });
    found = /^LD_PRELOAD=(.+)$/m.exec(stdout ?? '')?.[1] ?? null;
  }
  return found;
}

/** Who is dead, and how watchers tell. */
import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  HEARTBEAT_FILE,
  isDead,
  ownIdentity,
  readSignOfLife,
  touchHeartbeat,
} from '../../../src/daemon/inbox/heartbeat.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const OWN = { host: 'here', pid: 10, space: 'boot pid:[1]' };
const NOW = 1_000_000;

describe('a watcher', () => {
  it.each([
    ['with a fresh heartbeat is alive', 0, { ...OWN, pid: 11 }, true, false],
    ['of another machine is alive for 30 s', 30_000, { ...OWN, host: 'there', space: 'x' }, false, false],
    ['is dead after 30 s, whatever runs under its number', 30_001, { ...OWN, pid: 11 }, true, true],
    ['of this machine whose process is gone is dead at once', 0, { ...OWN, pid: 11 }, false, true],
    [
      'of another container is judged by its heartbeat alone',
      0,
      { ...OWN, pid: 11, space: 'boot pid:[2]' },
      false,
      false,
    ],
    ['that cannot be told from others is judged by its heartbeat alone', 0, null, false, false],
    [
      'of a system that tells nothing is judged by its heartbeat alone',
      0,
      { ...OWN, pid: 11, space: '' },
      false,
      false,
    ],
  ] as const)('%s', (_, ageMs, identity, isRunning, expected) => {
    const own = identity?.space === '' ? { ...OWN, space: '' } : OWN;
    expect(isDead({ beatAt: NOW - ageMs, identity }, own, NOW, () => isRunning)).toBe(expected);
  });

  it('is known by its heartbeat file, or by its folder when there is none', async () => {
    const folder = await temporaryFolder();
    const desk = join(folder, 'watcher');
    const identity = await ownIdentity();
    const at = await touchHeartbeat(desk, identity);
    expect(await readSignOfLife(desk)).toEqual({ beatAt: at, identity });
    // In whole seconds: systems round times differently.
    const old = new Date(Math.floor(at / 1_000) * 1_000 - 60_000);
    await utimes(join(desk, HEARTBEAT_FILE), old, old);
    expect((await readSignOfLife(desk))?.beatAt).toBe(old.getTime());
    const silent = join(folder, 'silent');
    await mkdir(silent);
    await utimes(silent, old, old);
    expect(await readSignOfLife(silent)).toEqual({ beatAt: old.getTime(), identity: null });
    expect(await readSignOfLife(join(folder, 'nobody'))).toBeNull();
  });

  it('never makes the folders above its own, which may be away with their share', async () => {
    const folder = await temporaryFolder();
    await expect(touchHeartbeat(join(folder, 'away', 'watcher'), OWN)).rejects.toThrow('ENOENT');
  });
});

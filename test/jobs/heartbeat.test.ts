/** How watchers recognise a dead watcher. */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineIdentity, processIdentity } from '../../src/core/process-identity.js';
import { isDead, touchHeartbeat } from '../../src/jobs/watch-inbox.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** In whole seconds, since file systems round times differently. */
const NOW = 1_700_000_000_000;
const GONE = `${machineIdentity()} ${spawnSync('true').pid} 1`;
const [HOST = '', BOOT] = machineIdentity().split(' ');

async function watcherWith(heartbeat: string | null, at: number): Promise<string> {
  const folder = join(await temporaryFolder(), 'watcher');
  await mkdir(folder);
  const path = heartbeat === null ? folder : join(folder, '.heartbeat');
  if (heartbeat !== null) await writeFile(path, `${heartbeat}\n`);
  await utimes(path, new Date(at), new Date(at));
  return folder;
}

describe('a watcher', () => {
  it.each([
    ['with a fresh heartbeat is alive', 0, processIdentity(), false],
    ['of another machine is alive for 24 s', 24_000, GONE.replace(HOST, `${HOST}x`), false],
    ['is dead after 24 s, whatever process has its number', 25_000, processIdentity(), true],
    ['of this machine whose process is gone is dead at once', 0, GONE, true],
    ['of another container is judged by its heartbeat alone', 0, `${HOST} ${BOOT} other 999999999 1`, false],
    ['without a process identity is judged by its heartbeat alone', 0, '', false],
    ['without a heartbeat is judged by the time of its folder: alive', 24_000, null, false],
    ['without a heartbeat is judged by the time of its folder: dead', 25_000, null, true],
  ] as const)('%s', async (_, ageMs, heartbeat, expected) => {
    expect(await isDead(await watcherWith(heartbeat, NOW - ageMs), NOW)).toBe(expected);
  });

  it('adopts nothing when its folder is gone', async () => {
    expect(await isDead(join(await temporaryFolder(), 'nobody'), NOW)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('records its process identity for others to judge', async () => {
    const folder = join(await temporaryFolder(), 'watcher');
    const at = await touchHeartbeat(folder);
    expect(await readFile(join(folder, '.heartbeat'), 'utf8')).toBe(`${processIdentity()}\n`);
    expect(await isDead(folder, at)).toBe(false);
  });

  it('never creates the parents of its folder, which may be on a share that is not mounted', async () => {
    const folder = await temporaryFolder();
    await expect(touchHeartbeat(join(folder, 'away', 'watcher'))).rejects.toThrow('ENOENT');
  });
});

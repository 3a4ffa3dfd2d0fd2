/**
 * The state of `--sample`: a folder of its own among the system's temporary files, gone with its process. It holds the
 * identifiers of the user's file, so what a killed process left is removed by the next one.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning, type Releasers } from '../core/lifecycle.js';

const START = 'brand-enrich-sample-';

/** Makes the folder, for this user alone. It goes when `releasers` run. */
export async function openSampleState(releasers: Releasers): Promise<string> {
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${START}${process.pid}-`));
  releasers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Others may write to the folder of temporary files: only what this user made, and no link, is touched. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = /^(\d+)-[A-Za-z0-9]{6}$/.exec(name.startsWith(START) ? name.slice(START.length) : '')?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(tmpdir(), name);
    const facts = await lstat(path).catch(() => null);
    if (facts?.isDirectory() !== true || facts.uid !== (process.getuid?.() ?? facts.uid)) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

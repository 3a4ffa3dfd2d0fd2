/**
 * What `--sample` brings: the local service in this process on the sample catalogue, and a state of its own.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../core/clock.js';
import { isRunning, type Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { loadCatalogue } from '../local-service/load-catalogue.js';
import { LocalService } from '../local-service/local-service.js';
import { DEFAULT_OWN_DOMAIN, demoAccounts, sampleCatalogue } from '../local-service/serve.js';

/** Usage is kept in memory. Throws FailFileError when the package's catalogue is missing. */
export async function openSampleService(log: Log): Promise<LocalService> {
  return new LocalService({
    catalogue: await loadCatalogue(sampleCatalogue()),
    accounts: demoAccounts(),
    ownDomain: DEFAULT_OWN_DOMAIN,
    clock: systemClock,
    log,
  });
}

const START = 'brand-enrich-sample-';

/**
 * Makes a folder for this user alone among the system's temporary files, which goes when `releasers` run. It will hold the identifiers
 * of the user's file, so what a killed process left is removed first.
 */
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

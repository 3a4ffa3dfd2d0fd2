/** `--sample`: a local service in this process on the sample catalogue, and a state of its own. */
import { lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../brand-api/client.js';
import { systemClock } from '../core/clock.js';
import { makeTemporaryFolder } from '../core/folders.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { removeLeftovers } from '../core/private-file.js';
import { FORGETFUL, serverFolders } from '../engine/embedded/data-folder.js';
import { isLock, lockFolder } from '../engine/embedded/folder-lock.js';
import { loadCatalogue } from '../local-service/load-catalogue.js';
import { LocalService } from '../local-service/local-service.js';
import { DEFAULT_OWN_DOMAIN, DEMO_TOKEN, demoAccounts, sampleCatalogue } from '../local-service/serve.js';
import { sendTo } from '../local-service/service-request.js';

/** Opens a client of the sample service. Throws RunError without a catalogue. */
export async function openSampleClient(log: Log, releasers: Releasers) {
  const service = new LocalService({
    catalogue: await loadCatalogue(sampleCatalogue()),
    accounts: demoAccounts(),
    ownDomain: DEFAULT_OWN_DOMAIN,
    clock: systemClock,
    log,
  });
  releasers.push(() => service.close());
  const client = createClient(sendTo(service), DEMO_TOKEN);
  return { client, token: DEMO_TOKEN };
}

const START = 'brand-enrich-sample-';
const FOLDER_NAME = new RegExp(`^${START}(\\d+)-[A-Za-z0-9]{6}$`);

/**
 * Returns a private folder until `releasers` run: the user's own, whose database starts empty, or a
 * temporary one while another process uses that. Removes folders of killed processes.
 */
export async function openSampleState(releasers: Releasers): Promise<string> {
  await removeLeftovers(tmpdir(), FOLDER_NAME, 'isDirectory');
  const own = join(tmpdir(), `${START}of-${process.getuid?.() ?? 'user'}`);
  const lock = await lockOwn(own).catch(() => null);
  if (lock === null) {
    const folder = await makeTemporaryFolder(`${START}${process.pid}-`);
    releasers.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }
  releasers.push(() => lock.release());
  const { home } = serverFolders(own);
  const others = (await readdir(own)).filter((name) => join(own, name) !== home && !isLock(name));
  await Promise.all(others.map((name) => rm(join(own, name), { recursive: true, force: true })));
  await writeFile(join(own, FORGETFUL), '');
  return own;
}

/** Locks the folder. Throws if it cannot be made, others can use it, or another process has it. */
async function lockOwn(folder: string) {
  await mkdir(folder, 0o700).catch(() => undefined);
  const facts = await lstat(folder);
  const isOwn = facts.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid);
  if (!isOwn || (facts.mode & 0o066) !== 0) throw new Error('it is not only for this user');
  return lockFolder(folder, 0);
}

/** For `--sample`: a local service in this process on the sample catalogue, and its own state. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../core/clock.js';
import { isRunning, type Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { makeTemporaryFolder } from '../core/make-folder.js';
import { loadCatalogue } from '../local-service/load-catalogue.js';
import { LocalService } from '../local-service/local-service.js';
import { DEFAULT_OWN_DOMAIN, DEMO_TOKEN, demoAccounts, sampleCatalogue } from '../local-service/serve.js';
import { sendTo } from '../local-service/service-request.js';
import { createClient } from '../lookup/client.js';

/** A client of the sample service, usage in memory. Throws FailFileError without a catalogue. */
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

/** A private folder until `releasers` run; removes leftovers of killed processes (identifiers). */
export async function openSampleState(releasers: Releasers): Promise<string> {
  await removeLeftovers();
  const folder = await makeTemporaryFolder(`${START}${process.pid}-`);
  releasers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Others may write to the temporary folder: touches only what this user made, and no links. */
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

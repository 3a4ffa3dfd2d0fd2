/** For `--sample`: a local service in this process on the sample catalogue, and its own state. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createClient } from '../brand-api/client.js';
import { systemClock } from '../core/clock.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { makeTemporaryFolder } from '../core/make-folder.js';
import { removeLeftovers } from '../core/private-file.js';
import { loadCatalogue } from '../local-service/load-catalogue.js';
import { LocalService } from '../local-service/local-service.js';
import { DEFAULT_OWN_DOMAIN, DEMO_TOKEN, demoAccounts, sampleCatalogue } from '../local-service/serve.js';
import { sendTo } from '../local-service/service-request.js';

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
const FOLDER_NAME = new RegExp(`^${START}(\\d+)-[A-Za-z0-9]{6}$`);

/** A private folder until `releasers` run; removes leftovers of killed processes (identifiers). */
export async function openSampleState(releasers: Releasers): Promise<string> {
  await removeLeftovers(tmpdir(), FOLDER_NAME, 'isDirectory');
  const folder = await makeTemporaryFolder(`${START}${process.pid}-`);
  releasers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

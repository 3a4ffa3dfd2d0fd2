/**
 * The local service in this process, on the sample catalogue: what `--sample` asks.
 */

import { systemClock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createService, type LocalService } from '../local-service/create-service.js';
import { loadCatalogue } from '../local-service/load-catalogue.js';
import { DEFAULT_OWN_DOMAIN, demoAccounts, sampleCatalogue } from '../local-service/serve.js';

/** Usage is kept in memory. Throws FailFileError when the package's catalogue is missing. */
export async function openSampleService(log: Log): Promise<LocalService> {
  return createService({
    catalogue: await loadCatalogue(sampleCatalogue()),
    accounts: demoAccounts(),
    ownDomain: DEFAULT_OWN_DOMAIN,
    clock: systemClock,
    log,
    usageFile: undefined,
    statementFile: undefined,
    journalFile: undefined,
    trace: undefined,
  });
}

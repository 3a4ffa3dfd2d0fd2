/**
 * The local service in this process, on the sample catalogue: what `--sample` asks.
 */
import { createService, type LocalService } from '../catalogue/create-service.js';
import { loadCatalogue } from '../catalogue/load-catalogue.js';
import { systemClock } from '../clock.js';
import type { Log } from '../log.js';
import { DEFAULT_OWN_DOMAIN, demoAccounts, sampleCatalogue } from './serve.js';

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

/** The library's entry: an enricher by the options of a program. */
import { keepRunning, orRelease } from '../core/lifecycle.js';
import { forwardingLog, silentLog } from '../core/log.js';
import { loadOptions } from '../settings/load-settings.js';
import type { Enricher, EnricherOptions, FileOptions } from './enricher.js';
import { settingsOfFile } from './file-run.js';
import { openEnricher } from './open-enricher.js';
import { forProgram } from './waiters.js';

/**
 * Opens an enricher: `await enricher.close()` when it is no longer needed, or `await using`. Throws
 * `NeverStartError` for options that cannot be, all problems at once, and `FailFileError` when the
 * engine cannot be used.
 */
export async function createEnricher(options: EnricherOptions = {}): Promise<Enricher> {
  const { log: target, name = null, ...given } = options;
  // All files are of one account, whatever else they are given.
  const { baseUrl, token, tokenFile, account, sample, env } = given;
  const own = { baseUrl, token, tokenFile, account, sample, env };
  const frame = () => ({
    settings: loadOptions({ ...given }),
    settingsOf: (input: string, file: FileOptions) => settingsOfFile(input, { ...given, ...file, ...own }),
    log: target === undefined ? silentLog() : forwardingLog(target),
    name,
  });
  try {
    const opened = await keepRunning(orRelease(async (releasers) => openEnricher(frame(), releasers)));
    return opened.enricher;
  } catch (error) {
    throw forProgram(error);
  }
}

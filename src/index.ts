/**
 * The library: brands for the identifiers of a program, under the same ledger as the command line.
 * Nothing else is public.
 *
 *   await using enricher = await createEnricher({ maxRequests: 500 });
 *   const { status, brand } = await enricher.lookup('acme.com');
 */
/// <reference types="node" preserve="true" />
import { keepRunning, orRelease } from './core/lifecycle.js';
import { forwardingLog, silentLog } from './core/log.js';
import type { Enricher, EnricherOptions, FileOptions } from './library/enricher.js';
import { settingsOfFile } from './library/file-run.js';
import { openEnricher } from './library/open-enricher.js';
import { forProgram } from './library/waiters.js';
import { loadOptions } from './settings/load-settings.js';

export { type Brand, type QualityTier, qualityTier } from './brand-api/brand.js';
export {
  AuthenticationError,
  BrandEnrichError,
  ConfigError,
  type ErrorCode,
  EXIT,
  type ExitCode,
  InterruptedError,
  RunError,
} from './core/errors.js';
export type { IdentifierKind } from './core/identifier.js';
export type { AnswerSource, OutcomeStatus, StatusCounts, StopCode } from './core/outcome.js';
export type * from './library/documents.js';
export type * from './library/enricher.js';
export { valueAt as fieldOf } from './run/output/brand-fields.js';

/**
 * Opens an enricher. Call `close()` when you no longer need it, or use `await using`. Throws
 * `ConfigError` with all wrong options at once, and `RunError` if the engine cannot be used.
 */
export async function createEnricher(options: EnricherOptions = {}): Promise<Enricher> {
  const { log: target, name = null, dispatcher, signal, ...others } = options;
  const given = { ...others, env: others.env ?? process.env };
  // Options of a file cannot change service or account.
  const { baseUrl, token, tokenFile, account, sample, env } = given;
  const own = { baseUrl, token, tokenFile, account, sample, env };
  const frame = () => ({
    settings: loadOptions({ ...given }),
    settingsOf: (input: string, file: FileOptions) => settingsOfFile(input, { ...given, ...file, ...own }),
    log: target === undefined ? silentLog() : forwardingLog(target),
    name,
    dispatcher,
    signal,
  });
  try {
    const opened = await keepRunning(orRelease(async (releasers) => openEnricher(frame(), releasers)));
    return opened.enricher;
  } catch (error) {
    throw forProgram(error, signal);
  }
}

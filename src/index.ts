/**
 * The library: brands for the identifiers of a program, under the same ledger as the command line.
 * Nothing else is public.
 *
 *   await using enricher = await createEnricher({ baseUrl, token });
 *   const { status, brand } = await enricher.lookup('acme.com');
 */

export { type Brand, type QualityTier, qualityTier } from './brand-api/brand.js';
export {
  BrandEnrichError,
  type ErrorCode,
  EXIT,
  type ExitCode,
  FailFileError,
  InterruptedError,
  NeverStartError,
  RefusedError,
} from './core/errors.js';
export type { IdentifierKind } from './core/identifier.js';
export type { AnswerSource, OutcomeStatus, StatusCounts } from './core/outcome.js';
export { createEnricher } from './library/create-enricher.js';
export type { AccountState, AccountUse, FilePlan } from './library/documents.js';
export type {
  Candidate,
  Candidates,
  Enriched,
  Enricher,
  EnricherLog,
  EnricherOptions,
  EnrichOptions,
  FileOptions,
  FileProgress,
  FileResult,
  LookupOptions,
  PlanOptions,
} from './library/enricher.js';

/**
 * The public library: what the command line is made of, for programs. Everything else is the house's own and may
 * change with any version.
 *
 *   const engine = await openEngine({ engine: 'redis://localhost:6379', stateFolder: '/var/lib/brand-enrich', log });
 *   const result = await enrichFile(request, surroundings);
 */
export type { Clock } from './clock.js';
export { systemClock } from './clock.js';
export type { Brand } from './contract/brand.js';
export { qualityTier } from './contract/brand.js';
export { type ServeOptions, type Serving, serve } from './doors/serve.js';
export type { ChunkLine, Engine, EngineKind } from './engine/engine.js';
export { type OpenEngineOptions, openEngine } from './engine/open-engine.js';
export { BrandEnrichError, ERROR_CATALOGUE, type ErrorCode, EXIT, type ExitCode } from './errors.js';
export { type ChosenColumns, type ColumnChoice, chooseColumns } from './identify/choose-columns.js';
export { identifyCell } from './identify/identify-cell.js';
export { createLog, type Log, silentLog } from './log.js';
export { type Client, createClient } from './lookup/client.js';
export { createHttpSend, type HttpSend } from './lookup/http-send.js';
export type { Answer, Meaning } from './lookup/read-answer.js';
export type { Identified, Identifier, IdentifierKind, OutcomeStatus, StatusCounts } from './model.js';
export { enrichFile } from './pipeline/enrich-file.js';
export type {
  EnrichProgress,
  EnrichRequest,
  EnrichResult,
  EnrichSurroundings,
} from './pipeline/enrich-request.js';
export { type Plan, type PlanRequest, planFile } from './pipeline/plan-file.js';
export { makeReport, type RunReport } from './pipeline/report.js';
export { createLookupWorker, type LookupWorker, type LookupWorkerOptions } from './resolve/lookup-worker.js';
export type { RunRecord, RunSettings } from './runs/run-store.js';

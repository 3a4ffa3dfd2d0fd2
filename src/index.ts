/**
 * The public library: what the command line is made of, for programs. Everything else is internal
 * and may change with any version.
 *
 *   const stateFolder = '/var/lib/brand-enrich';
 *   const engine = await openEngine({ engine: 'redis://localhost:6379', stateFolder, log });
 *   const result = await enrichFile(request, surroundings);
 */
export type { Clock } from './core/clock.js';
export { systemClock } from './core/clock.js';
export { BrandEnrichError, ERROR_CATALOGUE, type ErrorCode, EXIT, type ExitCode } from './core/errors.js';
export type { Identified, Identifier, IdentifierKind } from './core/identifier.js';
export { createLog, type Log, silentLog } from './core/log.js';
export type { OutcomeStatus, StatusCounts } from './core/outcome.js';
export type { ChunkQueue, Engine, EngineKind } from './engine/engine.js';
export { type OpenEngineOptions, openEngine } from './engine/open-engine.js';
export { type ChosenColumns, chooseColumns } from './identify/choose-columns.js';
export type { ColumnChoice } from './identify/find-column.js';
export { identifyCell } from './identify/identify-cell.js';
export { type ServeOptions, type Serving, serve } from './local-service/serve.js';
export type { Brand } from './lookup/brand.js';
export { qualityTier } from './lookup/brand.js';
export { type Client, createClient } from './lookup/client.js';
export type { Answer, Meaning } from './lookup/read-answer.js';
export { createHttpSend, type HttpSend } from './lookup/send.js';
export { type EnrichResult, enrichFile } from './run/enrich-file.js';
export type { EnrichProgress, EnrichRequest, EnrichSurroundings } from './run/enrich-request.js';
export { type Plan, type PlanRequest, planFile } from './run/plan-file.js';
export { makeReport, type RunReport } from './run/report/report.js';
export type { RunRecord, RunSettings } from './stores/run-store.js';
export { createLookupWorker, type LookupWorker, type LookupWorkerOptions } from './worker/lookup-worker.js';

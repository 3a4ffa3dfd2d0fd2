/**
 * Settings as the pipeline and the workers take them. Pure: nothing is opened here.
 */
import type { Settings } from '../config/settings.js';
import { requestsFor } from '../core/decimal.js';
import { openingPace, REMOTE_RATE } from '../ledger/pace.js';
import type { RunSettings } from '../stores/run-store.js';
import type { EnrichRequest } from './enrich-request.js';

/** The service of a run, and whose account pays. */
export interface RunService {
  /** Its base URL. */
  readonly service: string;
  readonly account: string;
  readonly isLoopback: boolean;
  /** The service's own brand, for free requests; null when unknown. */
  readonly ownDomain: string | null;
}

/** What `run` asks of the pipeline for one input. */
export function requestOf(
  input: string,
  settings: Settings,
  service: RunService,
  stateFolder: string,
  streams: { readonly stdin: NodeJS.ReadableStream; readonly stdout: NodeJS.WritableStream },
): EnrichRequest {
  const { maxErrors } = settings;
  return {
    input,
    stdin: input === '-' ? streams.stdin : null,
    stdout: settings.output === '-' ? streams.stdout : null,
    intake: intakeOf(settings),
    scan: scanOf(settings),
    output: {
      path: settings.output,
      format: settings.format,
      fields: settings.fields,
      isSorted: settings.sort === 'quality',
      escapeFormulas: settings.escapeFormulas,
      errors: settings.errors,
      report: settings.report,
    },
    settings: runSettingsOf(settings, service),
    overagePrice: settings.overagePrice,
    pace: openingPace(settings.rate, settings.burst, service.isLoopback),
    onLimit: settings.onLimit,
    ownDomain: service.ownDomain,
    maxErrors:
      maxErrors === null
        ? null
        : maxErrors.type === 'count'
          ? { count: maxErrors.count }
          : { percent: maxErrors.percent },
    stateFolder,
  };
}

export function intakeOf(settings: Settings): EnrichRequest['intake'] {
  return {
    ...(settings.delimiter === null ? {} : { delimiter: settings.delimiter }),
    ...(settings.encoding === null ? {} : { encoding: settings.encoding }),
    hasHeader: settings.header,
    skipLines: settings.skipLines,
    limit: settings.limit,
    ...(settings.ragged === null ? {} : { ragged: settings.ragged }),
  };
}

export function scanOf(settings: Settings): EnrichRequest['scan'] {
  const { columns: requested, kind, allowMismatch, waterfall, prefix, priority } = settings;
  return { requested, kind, allowMismatch, waterfall, prefix, priority };
}

/** What workers know of the run. */
export function runSettingsOf(
  settings: Settings,
  service: Pick<RunService, 'service' | 'account' | 'isLoopback'>,
): RunSettings {
  const overage = settings.plan === 'paid' ? requestsFor(settings.overageBudget, settings.overagePrice) : 0;
  return {
    service: service.service,
    account: service.account,
    allowNsfw: settings.allowNsfw,
    allowUnknown: settings.allowUnknown,
    maxAgeMs: settings.maxAgeMs,
    maxAgeMissingMs: settings.maxAgeMissingMs,
    refresh: settings.refresh,
    plan: settings.plan ?? 'unsaid',
    quotaCap: settings.quota,
    overage,
    period: settings.period,
    freeStatuses: settings.freeStatuses,
    maxRequests: settings.maxRequests,
    maxOverageRequests:
      settings.maxCost === null ? null : requestsFor(settings.maxCost, settings.overagePrice),
    timeoutMs: settings.timeoutMs,
    maxRate: maxRateOf(settings.rate, service.isLoopback),
  };
}

function maxRateOf(rate: number | null, isLoopback: boolean): number | null {
  if (rate !== null) return rate === 0 ? null : rate;
  return isLoopback ? null : REMOTE_RATE;
}

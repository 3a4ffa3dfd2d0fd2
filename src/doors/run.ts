/**
 * The door of `run`: settings in, exit code out. Opens engine and service, lets the pipeline do the work, and tells
 * people and programs how it went. Signals are the root's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { systemClock } from '../clock.js';
import type { Settings } from '../config/settings.js';
import { openEngine } from '../engine/open-engine.js';
import { EXIT, type ExitCode, gravestExit } from '../errors.js';
import { type Releasers, withReleasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import { enrichFile } from '../pipeline/enrich-file.js';
import type { EnrichRequest, EnrichResult } from '../pipeline/enrich-request.js';
import { makeReport, writeReport } from '../pipeline/report.js';
import { isMoreThan, type SpendingEstimate } from '../pipeline/spending.js';
import { requestsFor } from '../quota/money.js';
import { openingPace, REMOTE_RATE } from '../quota/pace.js';
import { isNearLimit, limitOf } from '../quota/policy.js';
import { createLookupWorker } from '../resolve/lookup-worker.js';
import type { RunHalt, RunSettings } from '../runs/run-store.js';
import { type OpenedService, openService } from './open-service.js';
import { createProgressView, type ProgressView } from './progress-view.js';
import { summaryText } from './run-summary-text.js';

/** What a command may touch of its process. */
export interface DoorStreams {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}

export interface RunDoor extends DoorStreams {
  readonly log: Log;
  /** First signal: stop asking. */
  readonly stop: AbortSignal;
  /** How long requests in flight may be waited for after it. */
  readonly graceMs: (timeoutMs: number) => number;
}

/** Enriches one file. Throws what prevents a run; whatever stops one is the exit code. */
export function runFile(input: string, settings: Settings, door: RunDoor): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop, stderr, stdout } = door;
    const stateFolder = settings.sample ? await temporaryState(releasers) : settings.state;
    const service = await openService(settings, log, releasers);
    const view = createProgressView({
      stream: stderr,
      isQuiet: settings.quiet,
      hasColor: settings.color,
      overagePrice: settings.overagePrice,
      now: Date.now,
    });
    releasers.push(() => view.end());
    if (settings.sample)
      view.notice('sample data: brands from the built-in catalogue, nothing is sent to any service');
    const engine = await openEngine({
      engine: settings.sample ? 'embedded' : settings.engine,
      stateFolder,
      log,
      waitsForDisk: settings.waitForDisk,
    });
    releasers.push(() => engine.close());
    if (!settings.sample) for (const warning of engine.warnings) view.notice(`note: ${warning}`);

    const request = requestOf(input, settings, service, stateFolder, door);
    const warn = warnOnce(view);
    const tellTrouble = tellOnce(view);
    const result = await enrichFile(request, {
      engine,
      queueName: service.queueName,
      openWorker: settings.worker
        ? (onChunk) =>
            createLookupWorker({
              engine,
              clientFor: service.clientFor,
              queueName: service.queueName,
              concurrency: settings.concurrency,
              timeoutMs: settings.timeoutMs,
              usageLagMs: settings.usageLagMs,
              compress: settings.compression,
              spoolFolder: join(stateFolder, 'spool'),
              clock: systemClock,
              log,
              onChunk,
            })
        : null,
      clock: systemClock,
      log,
      stop,
      graceMs: () => door.graceMs(settings.timeoutMs),
      onProgress: (progress) => {
        view.update(progress);
        if (progress.trouble !== null) tellTrouble(progress.trouble);
        if (progress.ledger && isNearLimit(progress.ledger)) warn(progress.ledger);
      },
      onNotice: (notice) => view.notice(notice),
      confirm: (estimate) => confirmSpending(estimate, settings, door, view),
    });
    view.end();

    const exitCode = exitCodeOf(result, settings.strict);
    const report = makeReport(request, result, exitCode);
    await writeReport(result.names.report, report);
    if (settings.json) stdout.write(`${JSON.stringify(report)}\n`);
    if (!settings.quiet) stderr.write(summaryText(request, result, report, exitCode));
    return exitCode;
  });
}

const EXIT_OF_HALT: Record<RunHalt['why'], ExitCode> = {
  credentials: EXIT.credentials,
  limit: EXIT.limit,
  throttled: EXIT.limit,
  unreachable: EXIT.trouble,
};

function exitCodeOf(result: EnrichResult, isStrict: boolean): ExitCode {
  const { end, written } = result;
  const codes: ExitCode[] = [];
  if (end.type === 'halted') codes.push(EXIT_OF_HALT[end.halt.why]);
  if (end.type === 'too_many_failures') codes.push(EXIT.tooManyErrors);
  if (end.type === 'stopped' || end.type === 'cancelled') codes.push(EXIT.interrupted);
  if (written.counts.failed > 0) codes.push(EXIT.someFailed);
  if (isStrict && written.counts.invalid > 0) codes.push(EXIT.someFailed);
  return gravestExit(codes);
}

function requestOf(
  input: string,
  settings: Settings,
  service: OpenedService,
  stateFolder: string,
  door: RunDoor,
): EnrichRequest {
  const { maxErrors } = settings;
  return {
    input,
    stdin: input === '-' ? door.stdin : null,
    stdout: settings.output === '-' ? door.stdout : null,
    intake: intakeOf(settings),
    survey: {
      requested: settings.columns,
      kind: settings.kind,
      waterfall: settings.waterfall,
      prefix: settings.prefix,
    },
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
  };
}

/** What workers are told of the run. */
export function runSettingsOf(
  settings: Settings,
  service: { readonly service: string; readonly account: string; readonly isLoopback: boolean },
): RunSettings {
  const overage = settings.plan === 'paid' ? requestsFor(settings.overageBudget, settings.overagePrice) : 0;
  return {
    service: service.service,
    account: service.account,
    allowNsfw: settings.allowNsfw,
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

async function temporaryState(releasers: Releasers): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-sample-'));
  releasers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** At 80 % of the limit a warning is shown once. */
function warnOnce(view: ProgressView): (ledger: Parameters<typeof limitOf>[0]) => void {
  let isWarned = false;
  return (ledger) => {
    if (isWarned) return;
    isWarned = true;
    view.notice(`warning: 80 % of the limit of ${limitOf(ledger)?.toLocaleString('en-US')} requests is used`);
  };
}

/** That the service is away is worth a line of its own the first time; the progress repeats it. */
function tellOnce(view: ProgressView): (trouble: string) => void {
  let isTold = false;
  return (trouble) => {
    if (!isTold) view.notice(`the service does not answer: ${trouble}; one request at a time goes on trying`);
    isTold = true;
  };
}

/** On a terminal a run that may cost more than `--confirm-above` asks first; elsewhere the cost is said before it is spent. */
async function confirmSpending(
  estimate: SpendingEstimate,
  settings: Settings,
  door: RunDoor,
  view: ProgressView,
): Promise<boolean> {
  const { requests, withinQuota, overageRequests, maxCost } = estimate;
  const parts = [`${requests.toLocaleString('en-US')} identifiers to ask for`];
  if (withinQuota !== null) parts.push(`${withinQuota.toLocaleString('en-US')} within the quota`);
  if (overageRequests > 0)
    parts.push(`up to ${overageRequests.toLocaleString('en-US')} as overage for at most ${maxCost}`);
  if ((estimate.deferred ?? 0) > 0)
    parts.push(`${estimate.deferred?.toLocaleString('en-US')} beyond the limit`);
  view.notice(parts.join(', '));
  const isTerminal = door.stdin.isTTY === true && door.stderr.isTTY === true;
  if (settings.yes || !isTerminal || !isMoreThan(maxCost, settings.confirmAbove)) return true;
  const prompt = createInterface({ input: door.stdin, output: door.stderr });
  try {
    const answer = await prompt.question('spend it? [y/N] ', { signal: door.stop });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

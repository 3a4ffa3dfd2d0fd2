/** From a file to enriched file, reports, notices and exit code. All commands call `runFile`. */
import { stat } from 'node:fs/promises';
import type { Network } from '../core/connector.js';
import { type ExitCode, RunError } from '../core/errors.js';
import type { Streams } from '../core/terminal-text.js';
import { openingPace } from '../ledger/pace.js';
import { networkOf } from '../settings/network.js';
import { type EnrichResult, enrichFile } from './enrich-file.js';
import {
  type EnrichRequest,
  type EnrichRuntime,
  type RunEvent,
  type RunService,
  runSettingsOf,
} from './enrich-request.js';
import { type ReaderWait, writeText } from './output/output-file.js';
import { pageDataOf, portableReport } from './report/portable-report.js';
import { makeReport, type RunReport } from './report/report.js';
import { lowestApart, type RankedBrand } from './report/run-summary.js';
import { exitCodeOf } from './run-end.js';

/** Logos are fetched after the files are safe, while a person waits. */
const LOGOS_TOTAL_MS = 10_000;

/** Shared by all runs of a process. `graceMs`: how long a stop waits for requests in flight. */
export interface RunContext extends Pick<EnrichRuntime, 'engine' | 'clock' | 'log' | 'stop' | 'graceMs'> {
  readonly service: RunService;
  readonly stateFolder: string;
  readonly streams: Pick<Streams, 'stdin' | 'stdout'>;
}

export type FileEvent =
  | RunEvent
  /** The last event: the files are written, and the run is over. */
  | {
      readonly type: 'ended';
      readonly result: EnrichResult;
      readonly report: RunReport;
      readonly exitCode: ExitCode;
    };

export interface FileRun
  extends Omit<EnrichRuntime, keyof RunContext | 'queueName' | 'emit'>,
    Pick<EnrichRequest, 'input' | 'settings' | 'only'> {
  readonly readers: readonly ((event: FileEvent) => void)[];
  /** Default `terminal`. */
  readonly reader?: EnrichRequest['reader'];
  /** The path of the result; default: `output` of the settings. */
  readonly output?: string;
}

/** `report` names files as the command does. `page`: the path of the page, null without one. */
export type FinishedRun = Readonly<Awaited<ReturnType<typeof runFile>>>;

/** Enriches one file. Throws if no run can begin; the exit code says why a begun run stopped. */
export async function runFile(run: FileRun, context: RunContext) {
  const { settings } = run;
  const emit = (event: FileEvent) => {
    for (const read of run.readers) read(event);
  };
  const { service, stop } = context;
  const request = requestFor(run, context);
  const runtime = { ...context, ...run, emit, queueName: service.queueName };
  const result = await enrichFile(request, runtime);
  const exitCode = exitCodeOf(result, settings.strict);
  const report = makeReport(request, result, exitCode);
  const portable = portableReport(report, result.names.report);
  const { sample: isSample, embedLogos: embedsLogos } = settings;
  const network = embedsLogos ? networkOf(settings) : null;
  const page = await writeReport(result.names.report, portable, runtime)
    .then(() => writeReportPage(result, portable, { isSample, network, stop }))
    .catch((error: unknown) => Promise.reject(afterOutput(error, result)));
  emit({ type: 'ended', result, report, exitCode });
  return { request, result, report, exitCode, page };
}

function requestFor(run: FileRun, { service, stateFolder, streams }: RunContext): EnrichRequest {
  const { input, settings, only, output = settings.output, reader = 'terminal' } = run;
  return {
    input,
    stdin: input === '-' ? streams.stdin : null,
    stdout: settings.output === '-' ? streams.stdout : null,
    only,
    settings: { ...settings, output },
    runSettings: runSettingsOf(settings, service),
    pace: openingPace(settings.rate, service.isLoopback),
    stateFolder,
    reader,
  };
}

/** Writes the report as JSON. Throws RunError `output-unwritable`. */
export function writeReport(path: string, report: RunReport, waiting?: ReaderWait): Promise<void> {
  return writeText(path, `${JSON.stringify(report, null, 2)}\n`, waiting);
}

/**
 * Writes the page and returns its path; null if the report goes to a device or pipe. Throws
 * `output-unwritable`. Embeds no logos of samples, which are made up, or without `network`.
 */
export async function writeReportPage(
  result: EnrichResult,
  report: RunReport,
  options: { isSample: boolean; network: Network | null; stop: AbortSignal },
): Promise<string | null> {
  const { names, facts } = result;
  const { isSample, network, stop } = options;
  const beside = await stat(names.report).catch(() => null);
  if (beside !== null && !beside.isFile()) return null;
  const shown = [...facts.brands.best, ...lowestApart(facts.brands)];
  const logos =
    network !== null && !isSample ? await logosOf(shown, network, stop) : new Map<string, string>();
  const data = pageDataOf(result, report, isSample, logos);
  const { renderPage } = await import('./report/render-page.js');
  await writeText(names.reportHtml, renderPage(data));
  return names.reportHtml;
}

/** Adds to an error of the report that the output itself was written. */
function afterOutput(error: unknown, { names, isComplete }: EnrichResult): unknown {
  if (!(error instanceof RunError)) return error;
  const target = isComplete ? names.complete : names.partial;
  const output = `${isComplete ? 'the output is complete' : 'the partial file is written'} (${target})`;
  return new RunError({ ...error.detail, what: `${output}, but its report cannot be written` });
}

async function logosOf(
  brands: readonly RankedBrand[],
  network: Network,
  stop: AbortSignal,
): Promise<Map<string, string>> {
  const { fetchLogos, openLogoAgent } = await import('./report/fetch-logos.js');
  const dispatcher = openLogoAgent(network);
  try {
    const urls = brands.flatMap(({ logoUrl }) => (logoUrl === null ? [] : [logoUrl]));
    return await fetchLogos(urls, { dispatcher, stop, totalMs: LOGOS_TOTAL_MS });
  } finally {
    await dispatcher.destroy();
  }
}

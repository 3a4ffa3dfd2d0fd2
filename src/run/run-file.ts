/** From a file to enriched file, reports, notices and exit code. All commands call `runFile`. */
import type { Streams } from '../core/terminal-text.js';
import { openingPace } from '../ledger/pace.js';
import { networkOf } from '../settings/network.js';
import { enrichFile } from './enrich-file.js';
import { type EnrichRequest, type EnrichRuntime, type RunService, runSettingsOf } from './enrich-request.js';
import type { RunNotices } from './notices/run-notices.js';
import { portableReport } from './report/portable-report.js';
import { makeReport } from './report/report.js';
import { afterOutput, writeReport, writeReportPage } from './report/write-report.js';
import { exitCodeOf } from './run-end.js';
import type { RunView } from './run-view.js';

/** What all runs of the process share. `graceMs`: how long `stop` waits for requests in flight. */
export interface RunContext extends Pick<EnrichRuntime, 'engine' | 'clock' | 'log' | 'stop' | 'graceMs'> {
  readonly service: RunService;
  readonly stateFolder: string;
  readonly streams: Pick<Streams, 'stdin' | 'stdout'>;
}

export interface FileRun
  extends Pick<EnrichRuntime, 'worker' | 'opensAccount' | 'table' | 'job' | 'series' | 'beginReading'>,
    Pick<EnrichRequest, 'input' | 'settings' | 'only'> {
  /** See `EnrichRequest`. Default `terminal`. */
  readonly reader?: EnrichRequest['reader'];
  /** Where the result goes; absent: where the settings say. */
  readonly output?: string;
  readonly view: RunView;
  readonly notices: Pick<RunNotices, 'noteProgress' | 'noteEnd'>;
}

/** `report` names files as the command does. `page`: the path of the page; null: there is none. */
export type FinishedRun = Readonly<Awaited<ReturnType<typeof runFile>>>;

/** Enriches one file. Throws what prevents a run; an exit code says what stopped a begun one. */
export async function runFile(run: FileRun, context: RunContext) {
  const { settings, view, notices } = run;
  const { service, stop } = context;
  const request = requestFor(run, context);
  const runtime: EnrichRuntime = {
    ...context,
    ...run,
    queueName: service.queueName,
    onProgress(progress) {
      view.update(progress);
      notices.noteProgress(progress, service.account);
    },
    onNotice: (notice, isWarning) => (isWarning ? view.warn(notice) : view.notice(notice)),
    confirm: view.confirm,
    ...(view.resumes && { resumes: view.resumes }),
    ...(view.asks && { asks: view.asks }),
    isInteractive: view.isInteractive,
  };
  const result = await enrichFile(request, runtime);
  view.end();
  const exitCode = exitCodeOf(result, settings.strict);
  const report = makeReport(request, result, exitCode);
  const portable = portableReport(report, result.names.report);
  const { sample: isSample, embedLogos: embedsLogos } = settings;
  const network = embedsLogos ? networkOf(settings) : null;
  const page = await writeReport(result.names.report, portable, runtime)
    .then(() => writeReportPage(result, portable, { isSample, network, stop }))
    .catch((error: unknown) => Promise.reject(afterOutput(error, result)));
  notices.noteEnd(result, report, exitCode, service.account);
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
    pace: openingPace(settings.rate, settings.burst, service.isLoopback),
    stateFolder,
    reader,
  };
}

/**
 * The product on one screen: a file goes in; the enriched file, its report for programs and for people, notifications and an exit
 * code come out. `run`, an inbox and a schedule all call this one function.
 */
import { basename } from 'node:path';
import type { Settings } from '../config/settings.js';
import type { Clock } from '../core/clock.js';
import type { ExitCode } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Streams } from '../core/streams.js';
import type { Engine } from '../engine/engine.js';
import { enrichFile } from './enrich-file.js';
import type { EnrichRequest, EnrichResult, EnrichSurroundings } from './enrich-request.js';
import { exitCodeOf } from './exit-code.js';
import type { RunNotices } from './notices/run-notices.js';
import { makeReport, type RunReport } from './report/report.js';
import { writeReport, writeReportPage } from './report/write-report.js';
import { type RunService, requestOf } from './run-request.js';
import type { RunView } from './run-view.js';

/** What the process has open for its runs. */
export interface RunContext {
  readonly engine: Engine;
  readonly service: RunService & { readonly queueName: string };
  readonly stateFolder: string;
  readonly streams: Pick<Streams, 'stdin' | 'stdout'>;
  /** Each run in a trace of its own, where traces are sent. `isStrict` as in `exitCodeOf`. */
  readonly traced: (enrich: typeof enrichFile, isStrict: boolean) => typeof enrichFile;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** How long requests in flight may be waited for after `stop`. */
  readonly graceMs: () => number;
}

export interface FileRun {
  readonly input: string;
  readonly settings: Settings;
  /** See `EnrichRequest.only`. */
  readonly only?: EnrichRequest['only'];
  /** Where the result goes; absent: where the settings say. */
  readonly output?: string;
  /** The folder of the results will move: the report names files as they are beside it. Default false. */
  readonly namesAreBare?: boolean;
  readonly worker: EnrichSurroundings['worker'];
  readonly opensAccount?: EnrichSurroundings['opensAccount'];
  readonly table?: EnrichSurroundings['table'];
  readonly view: RunView;
  readonly notices: Pick<RunNotices, 'noteProgress' | 'noteEnd'>;
}

export interface FinishedRun {
  readonly request: EnrichRequest;
  readonly result: EnrichResult;
  readonly report: RunReport;
  readonly exitCode: ExitCode;
  /** The path of the report as a page; null: there is none. */
  readonly page: string | null;
}

/** Enriches one file. Throws what prevents a run; whatever stops one that has begun is the exit code. */
export async function runFile(run: FileRun, context: RunContext): Promise<FinishedRun> {
  const { settings, view, notices } = run;
  const { service, stop } = context;
  const request = requestFor(run, context);
  const enrich = context.traced(enrichFile, settings.strict);
  const result = await enrich(request, {
    ...context,
    queueName: service.queueName,
    worker: run.worker,
    table: run.table ?? null,
    ...(run.opensAccount === undefined ? {} : { opensAccount: run.opensAccount }),
    onProgress: (progress) => {
      view.update(progress);
      notices.noteProgress(progress, service.account);
    },
    onNotice: (notice, isWarning) => (isWarning ? view.warn(notice) : view.notice(notice)),
    confirm: view.confirm,
  });
  view.end();
  const exitCode = exitCodeOf(result, settings.strict);
  const made = makeReport(request, result, exitCode);
  const report = run.namesAreBare === true ? withBareNames(made) : made;
  await writeReport(result.names.report, report);
  const { sample: isSample, embedLogos: embedsLogos } = settings;
  const page = await writeReportPage(result, report, { isSample, embedsLogos, stop });
  notices.noteEnd(result, report, exitCode, service.account);
  return { request, result, report, exitCode, page };
}

function requestFor({ input, settings, only, output }: FileRun, context: RunContext): EnrichRequest {
  const { service, stateFolder, streams } = context;
  const request = requestOf(input, settings, service, stateFolder, streams);
  return {
    ...request,
    ...(only === undefined ? {} : { only }),
    ...(output === undefined ? {} : { output: { ...request.output, path: output } }),
  };
}

function withBareNames(report: RunReport): RunReport {
  const { files, input } = report;
  return {
    ...report,
    input: { ...input, name: basename(input.name) },
    files: {
      output: basename(files.output),
      errors: files.errors === null ? null : basename(files.errors),
    },
  };
}

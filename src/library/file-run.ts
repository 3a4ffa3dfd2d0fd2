/** Runs and plans of files for a program: those of the command line, without a terminal. */
import { basename } from 'node:path';
import { type OpenedContext, openLookupWorker } from '../app/open-context.js';
import { openClient } from '../app/open-service.js';
import { ConfigError } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { readTableEarly } from '../input/read-table.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { planDocument, planFile } from '../run/plan-file.js';
import { stopOf } from '../run/run-end.js';
import { type FileEvent, type FileRun, type FinishedRun, runFile } from '../run/run-file.js';
import { createLogView, createStanding } from '../run/run-view.js';
import { sayDeferred } from '../run/words/say-reason.js';
import { loadOptions, type ProgramOptions } from '../settings/load-settings.js';
import type { Settings } from '../settings/settings.js';
import type { WorkerListener } from '../worker/asked.js';
import type { FilePlan } from './documents.js';
import type { EnricherOptions, FileOptions, FileProgress, FileResult } from './enricher.js';

/** Parts of a run besides its settings; see `FileRun`. */
export type FileHooks = Pick<FileRun, 'job' | 'key' | 'confirm'>;

/** Enriches a file. `token`: null with the sample service. Throws as `runFile` does. */
export async function runOneFile(
  input: string,
  settings: Settings,
  shared: Omit<OpenedContext, 'notifier'> & Pick<EnricherOptions, 'dispatcher'>,
  token: string | null,
  onProgress: FileOptions['onProgress'],
  hooks: FileHooks,
): Promise<FileResult> {
  const { engine, stateFolder, log } = shared;
  return withReleasers(async (releasers) => {
    // With its own sockets: waiting for a shared one would count against a request's time limit.
    const client =
      token === null
        ? shared.service.client
        : openClient(settings, shared.service.service, token, releasers, shared.dispatcher);
    const service = { ...shared.service, client };
    const show = createLogView(log, { file: basename(input) }, createStanding(log, null), 'program');
    const open = (listener: WorkerListener) =>
      openLookupWorker({ engine, service, settings, stateFolder, log }, listener);
    const worker = { type: 'own', open } as const;
    const readers = [show, reporter(onProgress)];
    const context = { ...shared, service, graceMs: () => settings.timeoutMs };
    return resultOf(
      await runFile({ input, settings, reader: 'program', worker, readers, ...hooks }, context),
    );
  });
}

function reporter(report: FileOptions['onProgress']): (event: FileEvent) => void {
  const none = { rows: 0, wanted: 0, answered: 0, billed: 0, inFlight: 0, outage: null };
  let last: FileProgress = { phase: 'reading', ...none };
  return (event) => {
    if (event.type === 'reading' || event.type === 'writing')
      last = { ...last, phase: event.type, rows: event.rows };
    else if (event.type === 'progress') {
      const { isParked, wanted, answered, inFlight, outage, run } = event;
      const billed = run?.tally.billed ?? 0;
      last = { ...last, phase: isParked ? 'parked' : 'asking', wanted, answered, billed, inFlight, outage };
    } else return;
    report?.(last);
  };
}

/** Plans a file. Throws as reading it and choosing columns do. */
export async function planOneFile(
  input: string,
  settings: Settings,
  { engine, service, stateFolder, stop }: Pick<OpenedContext, 'engine' | 'service' | 'stateFolder' | 'stop'>,
): Promise<FilePlan> {
  return withReleasers(async (releasers) => {
    const table = await readTableEarly(input, settings, stop);
    releasers.push(() => table?.input.close());
    const runSettings = runSettingsOf(settings, service);
    const request = { input, stdin: null, table, settings, stateFolder, runSettings };
    const plan = await planFile({ ...request, reader: 'program' }, engine, stop);
    return { version: DOCUMENT_VERSION, ...planDocument(plan) };
  });
}

/** Returns the settings of a file. Throws `ConfigError`, also for `-`, a stream of the program. */
export function settingsOfFile(input: string, options: ProgramOptions & FileOptions): Settings {
  const { output, errors, report, onProgress: _, signal: _signal, ...given } = options;
  if (![input, output, errors, report].includes('-')) return loadOptions(given, { output, errors, report });
  const what = 'standard input and output belong to the program';
  throw new ConfigError({ code: 'usage-invalid', what, subject: '-', todo: 'name a file' });
}

function resultOf({ result, report, exitCode, page }: FinishedRun): FileResult {
  const { sent, billed, overageCost } = report.requests;
  const stop = result.isComplete ? null : stopOf(result.end);
  return {
    exitCode,
    isComplete: result.isComplete,
    stopped: report.stopped,
    reason: stop && sayDeferred(stop, 'program'),
    rows: report.rows,
    requests: { sent, billed, overageCost },
    changes: report.changes,
    fills: report.fills,
    output: report.files.output,
    errors: report.files.errors,
    report: result.names.report,
    page,
  };
}

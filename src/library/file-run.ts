/** One file on a program's engine: run and plan of the command line, without a terminal. */
import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { openLookupWorker } from '../app/open-context.js';
import { type OpenedService, openClient } from '../app/open-service.js';
import { systemClock } from '../core/clock.js';
import { NeverStartError } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { readTableEarly } from '../input/read-table.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { planDocument, planFile } from '../run/plan-file.js';
import { stopOf } from '../run/run-end.js';
import { type FileEvent, type FinishedRun, type RunContext, runFile } from '../run/run-file.js';
import { createLogView, createStanding } from '../run/run-view.js';
import { sayDeferred } from '../run/words/say-reason.js';
import { loadOptions, type ProgramOptions } from '../settings/load-settings.js';
import type { Settings } from '../settings/settings.js';
import type { FilePlan } from './documents.js';
import type { FileOptions, FileProgress, FileResult } from './enricher.js';

interface FileRunContext extends Pick<RunContext, 'engine' | 'stateFolder' | 'log' | 'stop'> {
  readonly service: OpenedService;
  /** null: the sample service, which needs none. */
  readonly token: string | null;
}

/** `options`: of the enricher and, over them, of the file. Throws as `runFile` does. */
export async function runOneFile(
  input: string,
  options: ProgramOptions & FileOptions,
  { engine, service: shared, token, stateFolder, log, stop }: FileRunContext,
): Promise<FileResult> {
  const settings = settingsOf(input, options);
  return withReleasers(async (releasers) => {
    // Its requests have sockets of their own: waiting for one must not use up their time.
    const client = token === null ? shared.client : openClient(settings, shared.service, token, releasers);
    const service = { ...shared, client };
    const show = createLogView(log, { file: basename(input) }, createStanding(log, null), 'program');
    const finished = await runFile(
      {
        input,
        settings,
        reader: 'program',
        worker: {
          type: 'own',
          open: (listener) => openLookupWorker({ engine, service, settings, stateFolder, log }, listener),
        },
        readers: [show, reporter(options.onProgress)],
      },
      {
        engine,
        service,
        stateFolder,
        clock: systemClock,
        log,
        stop,
        graceMs: () => settings.timeoutMs,
        streams: { stdin: new PassThrough(), stdout: new PassThrough() },
      },
    );
    return resultOf(finished);
  });
}

/** Follows a run for a program. */
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

interface PlanContext extends Pick<RunContext, 'engine' | 'stateFolder' | 'stop'> {
  readonly service: OpenedService;
}

/** `options`: as for `runOneFile`. Throws what reading the file and choosing columns throw. */
export async function planOneFile(
  input: string,
  options: ProgramOptions & FileOptions,
  { engine, service, stateFolder, stop }: PlanContext,
): Promise<FilePlan> {
  const settings = settingsOf(input, options);
  return withReleasers(async (releasers) => {
    const table = await readTableEarly(input, settings, stop);
    releasers.push(() => table?.input.close());
    const runSettings = runSettingsOf(settings, service);
    const request = { input, stdin: null, table, settings, stateFolder, runSettings };
    const plan = await planFile({ ...request, reader: 'program' }, engine, stop);
    return { version: DOCUMENT_VERSION, ...planDocument(plan) };
  });
}

/** Throws `NeverStartError`, also for standard input and output: they belong to the program. */
function settingsOf(input: string, options: ProgramOptions & FileOptions): Settings {
  const { output, errors, report, onProgress: _, signal: _signal, ...given } = options;
  if (![input, output, errors, report].includes('-')) return loadOptions(given, { output, errors, report });
  const what = 'standard input and output belong to the program';
  throw new NeverStartError({ code: 'usage-invalid', what, subject: '-', todo: 'name a file' });
}

function resultOf({ result, report, exitCode, page }: FinishedRun): FileResult {
  const { sent, billed, overageCost } = report.requests;
  const stop = stopOf(result.end);
  return {
    exitCode,
    isComplete: result.isComplete,
    stopped: report.stopped,
    reason: stop && sayDeferred(stop, 'program'),
    rows: report.rows,
    requests: { sent, billed, overageCost },
    changes: report.changes,
    output: report.files.output,
    errors: report.files.errors,
    report: result.names.report,
    page,
  };
}

/**
 * The door of `run`: settings in, exit code out. Opens engine and service, lets the pipeline do the work, and tells
 * people and programs how it went. Signals are the root's.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { LoadedSettings } from '../config/settings.js';
import { NOT_SERVED, openMetrics } from '../context/open-metrics.js';
import { openService } from '../context/open-service.js';
import { openTelemetry } from '../context/open-telemetry.js';
import { openSampleState } from '../context/sample-state.js';
import { openLookupWorker } from '../context/workplace.js';
import { systemClock } from '../core/clock.js';
import { type ExitCode, FailFileError } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { type CommandStreams, printJson, printText } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/open-engine.js';
import { isNearLimit, limitOf } from '../ledger/policy.js';
import { confirmSpending } from '../run/confirm-spending.js';
import { enrichFile } from '../run/enrich-file.js';
import { exitCodeOf } from '../run/exit-code.js';
import { openNotifier } from '../run/notices/notifier.js';
import { createRunNotices, type RunNotices } from '../run/notices/run-notices.js';
import { createProgressView, type ProgressView } from '../run/progress-view.js';
import { makeReport, writeReport } from '../run/report/report.js';
import { writeReportPage } from '../run/report/write-report-page.js';
import { intakeOf, requestOf, surveyOf } from '../run/run-request.js';
import { stopText, summaryText } from '../run/run-summary-text.js';
import { checkInput } from '../run/scan/check-input.js';

export interface RunDoor extends CommandStreams {
  readonly log: Log;
  /** First signal: stop asking. */
  readonly stop: AbortSignal;
  /** How long requests in flight may be waited for after it. */
  readonly graceMs: (timeoutMs: number) => number;
}

/** Enriches one file. Throws what prevents a run; whatever stops one is the exit code. */
export function runFile(input: string, loaded: LoadedSettings, door: RunDoor): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop } = door;
    const { settings } = loaded;
    const stateFolder = settings.sample ? await openSampleState(releasers) : settings.state;
    const notifier = openNotifier({ settings, stateFolder, log, stop });
    releasers.push(() => notifier.close());
    const { sample: isSample } = settings;
    const notices = createRunNotices({ notifier, input, isSample, clock: systemClock });
    try {
      return await runInState(stateFolder, input, loaded, door, notices);
    } catch (error) {
      if (!stop.aborted) notices.noteError(error);
      throw error;
    }
  });
}

function runInState(
  stateFolder: string,
  input: string,
  { settings, origins }: LoadedSettings,
  door: RunDoor,
  notices: RunNotices,
): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop, stderr, stdout } = door;
    const service = await openService(settings, log, releasers);
    await checkInput({ input, intake: intakeOf(settings), survey: surveyOf(settings) }, stop);
    const view = createProgressView({
      stream: stderr,
      isQuiet: settings.quiet,
      hasColor: settings.color,
      overagePrice: settings.overagePrice,
      now: systemClock.monotonic,
    });
    releasers.push(() => view.end());
    if (settings.sample)
      view.notice('sample data: brands from the built-in catalogue, nothing is sent to any service');
    const traces = await openTelemetry(settings, log, releasers);
    const engine = await openEngine({
      engine: settings.sample ? 'embedded' : settings.engine,
      stateFolder,
      startsEmpty: settings.startEmpty,
      log,
      waitsForDisk: settings.waitForDisk,
      stop,
      telemetry: traces.telemetry,
    });
    releasers.push(() => engine.close());

    // The config file that a run shares with `up` may name the port that `up` has.
    const isPortForThis = origins.metricsPort === 'flag';
    const metrics = await openMetrics(settings, engine, stop, releasers).catch((error) => {
      if (isPortForThis || !(error instanceof FailFileError)) throw error;
      view.warn(`note: ${error.message}`);
      return NOT_SERVED;
    });
    if (metrics.url !== null) view.notice(`metrics at ${metrics.url}/metrics`);
    const clientFor = traces.watchClients(metrics.watchClients(service.clientFor));

    const request = requestOf(input, settings, service, stateFolder, door);
    const warn = warnOnce(view);
    const tellTrouble = tellOnce(view);
    const enrich = traces.traced(enrichFile, settings.strict);
    const result = await enrich(request, {
      engine,
      queueName: service.queueName,
      openWorker: settings.worker
        ? (listener) => {
            const place = { engine, service: { ...service, clientFor }, settings, stateFolder, log };
            const worker = openLookupWorker(place, listener);
            metrics.watchWorker(worker, () => [service.account]);
            return worker;
          }
        : null,
      clock: systemClock,
      log,
      stop,
      graceMs: () => door.graceMs(settings.timeoutMs),
      onProgress: (progress) => {
        view.update(progress);
        if (progress.trouble !== null) tellTrouble(progress.trouble);
        if (progress.ledger && isNearLimit(progress.ledger)) warn(progress.ledger);
        notices.noteProgress(progress, service.account);
      },
      onNotice: (notice, isWarning) => (isWarning ? view.warn(notice) : view.notice(notice)),
      confirm: (estimate) => confirmSpending(estimate, settings, door, view),
    });
    view.end();

    const exitCode = exitCodeOf(result, settings.strict);
    const report = makeReport(request, result, exitCode);
    await writeReport(result.names.report, report);
    const { sample: isSample, embedLogos: embedsLogos } = settings;
    const page = await writeReportPage(result, report, { isSample, embedsLogos, stop });
    notices.noteEnd(result, report, exitCode, service.account);
    if (settings.json) printJson(stdout, report);
    if (!settings.sample && !settings.quiet) {
      for (const warning of await warningsToTell(engine)) view.notice(`note: ${warning}`);
    }
    printText(
      stderr,
      settings.quiet
        ? stopText(request, result, report, exitCode)
        : summaryText(request, result, report, exitCode, page),
    );
    return exitCode;
  });
}

/** At 80 % of the limit a warning is shown once. */
function warnOnce(view: ProgressView): (ledger: Parameters<typeof limitOf>[0]) => void {
  let isWarned = false;
  return (ledger) => {
    if (isWarned) return;
    isWarned = true;
    view.warn(`warning: 80 % of the limit of ${limitOf(ledger)?.toLocaleString('en-US')} requests is used`);
  };
}

/** That the service is away is worth a line of its own the first time; the progress repeats it. */
function tellOnce(view: ProgressView): (trouble: string) => void {
  let isTold = false;
  return (trouble) => {
    if (!isTold) view.warn(`the service is unavailable: ${trouble}; trying again with one request at a time`);
    isTold = true;
  };
}

/** One that nothing was done about is worth saying now and then, not every night; `status` always says it. */
const WARN_AGAIN_MS = 7 * 86_400_000;

/** What the engine warns of and no run of it has said for a week. */
async function warningsToTell({ warnings, notes }: Pick<Engine, 'warnings' | 'notes'>): Promise<string[]> {
  const told = await Promise.all(
    warnings.map(async (warning) => {
      const name = createHash('sha256').update(warning).digest('hex').slice(0, 16);
      // Another text each time: only one that is a week old may be replaced.
      const isDue = await notes.claim('warnings', name, randomUUID(), WARN_AGAIN_MS).catch(() => false);
      return isDue ? warning : null;
    }),
  );
  return told.filter((warning) => warning !== null);
}

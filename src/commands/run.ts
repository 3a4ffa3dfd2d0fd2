/** `run`: enriches one file and shows it on a terminal. The run itself is in `run/run-file.ts`. */
import { randomUUID } from 'node:crypto';
import { openContext, openState } from '../app/open-context.js';
import { systemClock } from '../core/clock.js';
import { BrandEnrichError, EXIT, type ExitCode } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { systemWords } from '../core/system-error.js';
import { printControlled, printJson, printText, wrapLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { readTableEarly } from '../input/read-table.js';
import { createRunNotices } from '../run/notices/notifier.js';
import type { RunReport } from '../run/report/report.js';
import type { FinishedRun } from '../run/run-file.js';
import { stopText, summaryText } from '../run/run-summary-text.js';
import { createTerminalView } from '../run/terminal-view.js';
import type { CommandCall } from './answer.js';

/** Enriches one file. Throws if a run cannot begin; a run that stops has an exit code. */
export async function runRun(call: CommandCall): Promise<ExitCode> {
  try {
    const { exitCode, report } = await runOne(call);
    await noteMetrics(call, exitCode, report);
    return exitCode;
  } catch (error) {
    await noteMetrics(call, error instanceof BrandEnrichError ? error.exitCode : EXIT.ioError, null);
    throw error;
  }
}

/** Writes `--metrics-file`. If that fails, warns, and the run keeps its result. */
async function noteMetrics(
  { settings, args, stderr }: CommandCall,
  exitCode: ExitCode,
  report: RunReport | null,
) {
  const { metricsFile: path } = settings;
  if (path === null) return;
  const { writeMetricsFile } = await import('../app/metrics.js');
  const [input = '-'] = args;
  await writeMetricsFile(path, { input, exitCode, endedAt: systemClock.now(), report }).catch((error) => {
    printText(stderr, `warning: no metrics were written: ${path} (${systemWords(error)})\n`);
  });
}

function runOne(call: CommandCall): Promise<FinishedRun> {
  return withReleasers(async (releasers) => {
    const { settings, origins, stop, stdout, stderr } = call;
    const [input = '-'] = call.args;
    const { sample: isSample, json, quiet, color } = settings;
    const state = await openState(settings, call, releasers);
    const notices = createRunNotices({ notifier: state.notifier, input, isSample, clock: systemClock });
    return notices.notingErrors(stop, async () => {
      const table = await readTableEarly(input, settings, stop);
      releasers.push(() => table?.input.close());
      const view = createTerminalView({ streams: call, settings, clock: systemClock, stop });
      releasers.push(() => view.end());
      if (isSample)
        view.notice('sample data: brands come from the built-in catalogue; nothing is sent or kept');
      // A port of the config file may be in use by `up`: only a port given as a flag must be free.
      const isPortOfFlag = origins.metricsPort === 'flag';
      const [context, { runFile }] = await Promise.all([
        openContext(settings, state, call, releasers, {
          ...(isPortOfFlag ? {} : { onMetricsRefused: ({ message }) => view.warn(`note: ${message}`) }),
        }),
        // Loaded while the engine starts.
        import('../run/run-file.js'),
      ]);
      const { engine, metrics, openWorker } = context;
      if (metrics.url !== null) view.notice(`metrics at ${metrics.url}/metrics`);
      const worker = settings.worker ? ({ type: 'own', open: openWorker } as const) : null;
      const readers = [view.show, notices.note];
      const finished = await runFile({ input, settings, table, worker, readers, ...view.questions }, context);
      if (json) printJson(stdout, finished.report);
      const warnings = isSample || quiet ? [] : await dueWarnings(engine);
      for (const warning of warnings) view.notice(`note: ${warning}`);
      const hasColor = color && stderr.isTTY === true;
      printControlled(
        stderr,
        wrapLines(quiet ? stopText(finished) : summaryText(finished, hasColor), stderr),
      );
      return finished;
    });
  });
}

/** Repeats a warning once a week, not every night. */
const WARN_AGAIN_MS = 7 * 86_400_000;

/** Returns the engine's warnings that no run has shown for a week. */
async function dueWarnings({ warnings, keyValues }: Engine): Promise<string[]> {
  const due: string[] = [];
  for (const { code, text } of warnings) {
    // A claim replaces a different value only after a week.
    if (await keyValues.claim('warnings', code, randomUUID(), WARN_AGAIN_MS).catch(() => false))
      due.push(text);
  }
  return due;
}

/**
 * `run`: one file, from the command line. What people and programs see of it is here; the run itself is `run/run-file.ts`.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { LoadedSettings, Settings } from '../config/settings.js';
import { type CommandContext, openContext, openState } from '../context/open-context.js';
import { systemClock } from '../core/clock.js';
import type { ExitCode } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { intakeOf, scanOf } from '../run/enrich-request.js';
import { createRunNotices } from '../run/notices/run-notices.js';
import { type FinishedRun, runFile } from '../run/run-file.js';
import { stopText, summaryText } from '../run/run-summary-text.js';
import type { RunView } from '../run/run-view.js';
import { openTableEarly } from '../run/scan/open-table.js';
import { createTerminalView } from '../run/terminal-view.js';

/** Enriches one file. Throws what prevents a run; whatever stops one is the exit code. */
export function runRun(input: string, loaded: LoadedSettings, command: CommandContext): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { stop } = command;
    const { settings, origins } = loaded;
    const state = await openState(settings, command, releasers);
    const { notifier } = state;
    const notices = createRunNotices({ notifier, input, isSample: settings.sample, clock: systemClock });
    return notices.notingErrors(stop, async () => {
      const asked = { input, intake: intakeOf(settings), scan: scanOf(settings) };
      const table = await openTableEarly(asked, stop);
      releasers.push(() => table?.input.close());
      const view = createTerminalView({ streams: command, settings, clock: systemClock, stop });
      releasers.push(() => view.end());
      if (settings.sample)
        view.notice('sample data: brands from the built-in catalogue, nothing is sent to any service');
      // The config file that a run shares with `up` may name the port that `up` has.
      const isPortForThis = origins.metricsPort === 'flag';
      const context = await openContext(settings, state, command, releasers, {
        ...(isPortForThis ? {} : { onMetricsRefused: ({ message }) => view.warn(`note: ${message}`) }),
      });
      const { engine, metrics, openWorker } = context;
      if (metrics.url !== null) view.notice(`metrics at ${metrics.url}/metrics`);
      const worker = settings.worker ? ({ type: 'own', open: openWorker } as const) : null;
      const finished = await runFile({ input, settings, table, worker, view, notices }, context);
      await showFinished(finished, settings, engine, view, command);
      return finished.exitCode;
    });
  });
}

async function showFinished(
  finished: FinishedRun,
  settings: Settings,
  engine: Engine,
  view: RunView,
  { stdout, stderr }: CommandContext,
): Promise<void> {
  if (settings.json) printJson(stdout, finished.report);
  if (!settings.sample && !settings.quiet) {
    for (const warning of await dueWarnings(engine)) view.notice(`note: ${warning}`);
  }
  printText(stderr, settings.quiet ? stopText(finished) : summaryText(finished));
}

/** One that nothing was done about is worth saying now and then, not every night; `status` always says it. */
const WARN_AGAIN_MS = 7 * 86_400_000;

/** Warnings of the engine that no run on it has shown for a week. */
async function dueWarnings({
  warnings,
  keyValues,
}: Pick<Engine, 'warnings' | 'keyValues'>): Promise<string[]> {
  const due = await Promise.all(
    warnings.map(async (warning) => {
      const name = createHash('sha256').update(warning).digest('hex').slice(0, 16);
      // Another text each time: only one that is a week old may be replaced.
      const isDue = await keyValues.claim('warnings', name, randomUUID(), WARN_AGAIN_MS).catch(() => false);
      return isDue ? warning : null;
    }),
  );
  return due.filter((warning) => warning !== null);
}

/**
 * `up`: a worker for runs here and elsewhere, inboxes, this machine's schedules, dashboard, metrics and health in one process, until
 * it is stopped. Each part is what its own command is; here they share engine, service and worker.
 */

import { setMaxListeners } from 'node:events';
import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { throwProblems, usageProblem } from '../config/problems.js';
import { readDashboardPassword } from '../config/secrets.js';
import type { LoadedSettings } from '../config/settings.js';
import { type DaemonContext, withDaemonContext } from '../context/daemon-context.js';
import type { CommandContext } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import { openDashboard } from '../daemon/dashboard/open-dashboard.js';
import { type InboxFolders, openFolders, PLACES } from '../daemon/inbox/inbox-folders.js';
import { watchInbox } from '../daemon/inbox/watch-inbox.js';
import { createHostedScheduleRunner } from '../daemon/schedules/scheduled-run.js';

/** The port that Prometheus' exporters of telemetry use by custom. */
const METRICS_PORT = 9464;

/**
 * Stays until `stop`, or until the service refuses the credentials of an inbox (exit code 4). Throws what opening throws, and
 * NeverStartError for folders that are named twice. An inbox whose `brand-enrich.json` means nothing is closed; the rest works.
 */
export async function runUp(loaded: LoadedSettings, command: CommandContext): Promise<ExitCode> {
  // Before anything is opened: what would prevent the dashboard is no trouble of the engine.
  if (loaded.settings.dashboard) readDashboardPassword(loaded.settings);
  const inboxes = await openInboxes(loaded, command.folder);
  const metricsPort = loaded.settings.metricsPort ?? METRICS_PORT;
  const withMetrics = { ...loaded, settings: { ...loaded.settings, metricsPort } };
  const ending = new AbortController();
  const stop = AbortSignal.any([command.stop, ending.signal]);
  // Each inbox, schedule and run listens to it.
  setMaxListeners(0, stop);
  const ended = { ...command, stop };
  return withDaemonContext(withMetrics, ended, async (context, releasers) => {
    const { metrics, service, engine, log, stop } = context;
    const { settings } = loaded;
    metrics.watchQueue(service.queueName);
    const folders = inboxes.map(({ root }) => root);
    const shown = { settings, engine, names: service, inboxes: folders };
    const trouble = () => context.worker?.worker.trouble ?? null;
    // The sign-in link is not for the log.
    await openDashboard({ ...shown, trouble, log, stderr: command.stderr, stop, releasers });

    await context.begin();
    const schedules = settings.sample ? null : hostSchedules(context, command);
    let stopped: Promise<void> | undefined;
    const stopSchedules = () => {
      stopped ??= schedules?.stop();
      return stopped;
    };
    releasers.push(stopSchedules);
    await schedules?.start();
    const facts = { host: hostname(), engine: engine.address, worker: context.worker?.worker.name };
    log.info({ ...facts, metrics: `${metrics.url}/metrics`, inboxes: inboxes.length }, 'up');

    let isRefused = false;
    const watching = inboxes.map(async (folders) => {
      try {
        isRefused = (await watchInbox(context, folders.root)) === 'refused' || isRefused;
      } finally {
        // An inbox ends by itself only when none of them could go on.
        ending.abort(new Error('an inbox has ended'));
      }
    });
    const watched = Promise.all(watching);
    watched.catch(() => undefined);
    await untilAborted(stop);
    log.info(
      { inFlight: context.worker?.worker.inFlight ?? 0 },
      'stopping: requests in flight are waited for',
    );
    await Promise.all([Promise.allSettled(watching), stopSchedules()]);
    await watched;
    return isRefused ? EXIT.credentials : EXIT.done;
  });
}

async function openInboxes(loaded: LoadedSettings, folder: string): Promise<InboxFolders[]> {
  const paths = await Promise.all(loaded.settings.inboxes.map((each) => truePath(resolve(folder, each))));
  throwProblems(
    paths.flatMap((path, at) => {
      if (paths.indexOf(path) !== at) {
        return [usageProblem('this inbox is named twice', `--inbox ${path}`, 'name it once')];
      }
      const places = paths.flatMap((other) => PLACES.map((place) => join(other, place)));
      return places.some((place) => path === place || path.startsWith(`${place}${sep}`))
        ? [
            usageProblem(
              'this folder belongs to another inbox',
              `--inbox ${path}`,
              'name the folder above it',
            ),
          ]
        : [];
    }),
  );
  return Promise.all(paths.map((path) => openFolders(path)));
}

/** Through symbolic links; as it is while nothing is there. */
function truePath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function hostSchedules(context: DaemonContext, { load }: CommandContext) {
  const { loaded, worker, service } = context;
  const { settings } = loaded;
  const shared = worker === null ? null : { worker, service, settings };
  return createHostedScheduleRunner({ ...context, settings, load, shared });
}

/** `watch`: one inbox. `up`: all parts in one process, which share engine, service and worker. */
import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { withDaemonContext } from '../app/daemon-context.js';
import { EXIT, type ExitCode, throwProblems, usageProblem } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import { printText, visibleLines } from '../core/terminal-text.js';
import { readFolderSettings, settingsFilesOf } from '../jobs/inbox-folder-settings.js';
import { openFolders, PLACES } from '../jobs/inbox-folders.js';
import { createUploadPlans } from '../jobs/plan-upload.js';
import { createHostedScheduleRunner } from '../jobs/schedules/scheduled-run.js';
import { createFileCaps } from '../jobs/start-file.js';
import { createUploads } from '../jobs/uploads.js';
import { watchInbox } from '../jobs/watch-inbox.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { readDashboardPassword } from '../settings/secrets.js';
import type { CommandCall } from './answer.js';

/** The customary port of OpenTelemetry's Prometheus exporters. */
const METRICS_PORT = 9464;

/** Runs until `stop`, or until an inbox's credentials are refused. Throws as opening does. */
export async function runUp(call: CommandCall): Promise<ExitCode> {
  const { settings, origins, load, stderr, folder } = call;
  const isForPeople = stderr.isTTY === true && settings.logFile === null && !settings.quiet;
  const showsFiles = isForPeople && origins.logLevel === 'default';
  // Checked before the engine is opened: a wrong dashboard setting is not an engine error.
  if (settings.dashboard) readDashboardPassword(settings);
  const inboxes = await openInboxes(settings.inboxes.map((each) => resolve(folder, each)));
  const metricsPort = settings.metricsPort ?? METRICS_PORT;
  const withMetrics = { origins, settings: { ...settings, metricsPort } };
  const ending = new AbortController();
  const ended = { ...call, stop: AbortSignal.any([call.stop, ending.signal]) };
  return withDaemonContext(withMetrics, ended, async (context, releasers) => {
    const { stop, metrics, service, engine, worker, log, stateFolder } = context;
    metrics.watchQueue(service.queueName);
    const outage = () => worker?.worker.outage ?? null;
    const uploads = createUploads(inboxes, context.clock);
    const sweeping = await uploads.begin();
    releasers.push(sweeping.stop);
    const received = { uploads, plans: createUploadPlans(context) };
    const asker = worker && { worker: worker.worker, settings: runSettingsOf(settings, service) };
    const shown = {
      settings,
      engine,
      stateFolder,
      names: service,
      inboxes,
      uploads: received,
      caps: createFileCaps(context),
      outage,
      asker,
    };
    // The sign-in link goes to stderr, never to the log; on a terminal, `startLines` prints it.
    const streams = { log, stderr: isForPeople ? null : stderr };
    const { openDashboard } = await import('../dashboard/open-dashboard.js');
    const dashboard = await openDashboard({ ...shown, ...streams, stop, releasers });

    await context.begin();
    const host = { ...context, settings, load, configFile: call.configFile, daemon: context };
    const schedules = settings.sample ? null : await createHostedScheduleRunner(host);
    let stopped: Promise<void> | undefined;
    const stopSchedules = () => {
      stopped ??= schedules?.stop();
      return stopped;
    };
    releasers.push(stopSchedules);
    await schedules?.start();
    const facts = { host: hostname(), engine: engine.address, worker: worker?.worker.name };
    log.info({ ...facts, metrics: `${metrics.url}/metrics`, inboxes: inboxes.length }, 'up');
    if (isForPeople)
      printText(stderr, visibleLines(startLines({ dashboard, inboxes, metricsUrl: metrics.url })));
    if (showsFiles) log.level = 'info';

    // An inbox ends without `stop` only when no inbox could continue.
    const watching = inboxes.map((root) =>
      watchInbox(context, root).finally(() => ending.abort(new Error('an inbox has stopped'))),
    );
    const ends = Promise.all(watching);
    ends.catch(() => undefined);
    await untilAborted(stop);
    log.info({ inFlight: worker?.worker.inFlight ?? 0 }, 'stopping: waiting for requests in flight');
    await Promise.all([Promise.allSettled(watching), stopSchedules()]);
    return (await ends).includes('refused') ? EXIT.credentials : EXIT.done;
  });
}

/** Watches until `stop`, or until the credentials are refused. Throws as opening does. */
export async function runWatch(call: CommandCall): Promise<ExitCode> {
  const [directory = '.'] = call.args;
  // Throws now for an inbox or settings that are unusable; `watchInbox` would wait for a repair.
  const { root } = await openFolders(resolve(call.folder, directory), true);
  await readFolderSettings(settingsFilesOf(root), call);
  return withDaemonContext(call, call, async (context) => {
    await context.begin();
    return (await watchInbox(context, root)) === 'refused' ? EXIT.credentials : EXIT.done;
  });
}

/** Returns what `up` prints on a terminal once all parts have started. Pure. */
export function startLines(started: {
  readonly dashboard: { readonly url: string; readonly signInUrl: string | null } | null;
  readonly inboxes: readonly string[];
  readonly metricsUrl: string | null;
}): string[] {
  const { dashboard, inboxes, metricsUrl } = started;
  const link = dashboard?.signInUrl ?? null;
  return [
    'brand-enrich is up.',
    ...(dashboard === null ? [] : [`  dashboard  ${link ?? dashboard.url}`]),
    ...(link === null ? [] : ['             the link signs you in; it is new at each start']),
    ...inboxes.map((root) => `  inbox      ${join(root, 'inbox')}, results in ${join(root, 'done')}`),
    ...(inboxes.length === 0 ? ['  inbox      none: name one with --inbox DIR'] : []),
    ...(metricsUrl === null ? [] : [`  metrics    ${metricsUrl}/metrics`]),
    '  stop       Ctrl-C; requests in flight are awaited, and the next start continues',
  ];
}

/** Opens inboxes, and follows symbolic links. Throws `ConfigError` if one is inside another. */
async function openInboxes(folders: readonly string[]): Promise<string[]> {
  const paths = await Promise.all(folders.map((each) => realpath(each).catch(() => each)));
  const places = paths.flatMap((path) => PLACES.map((place) => join(path, place)));
  const problems = paths.flatMap((path, at) => {
    const subject = `--inbox ${path}`;
    if (paths.indexOf(path) !== at) return usageProblem('this inbox is given twice', subject, 'give it once');
    return places.some((place) => path === place || path.startsWith(`${place}${sep}`))
      ? usageProblem('this folder is inside another inbox', subject, 'give the folder above it')
      : [];
  });
  throwProblems(problems);
  const opened = await Promise.all(paths.map((path) => openFolders(path, true)));
  return opened.map(({ root }) => root);
}

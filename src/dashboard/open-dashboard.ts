/** The dashboard for `up`: page, parts, and the same as JSON. */
import { hostname } from 'node:os';
import { getRequestListener } from '@hono/node-server';
import { systemClock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import { type Releasers, withinDeadline } from '../core/lifecycle.js';
import { createGuardedServer, type HttpListener, listenHttp } from '../core/listen-http.js';
import type { Log } from '../core/log.js';
import { printText } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { createFileFinder } from '../jobs/find-files.js';
import { createScheduleBook } from '../jobs/schedules/schedule-book.js';
import { createScheduleFiles } from '../jobs/schedules/schedule-files.js';
import type { FileCaps } from '../jobs/start-file.js';
import type { AccountNames } from '../run/enrich-request.js';
import { openSpoolFolder } from '../run/scan/spool-file.js';
import { readDashboardPassword } from '../settings/secrets.js';
import type { Settings } from '../settings/settings.js';
import { type Action, addActions, logForged } from './actions.js';
import { fileActions } from './file-actions.js';
import { addFileRoutes } from './file-routes.js';
import { answerText, createGate, type GatedApp, type GateOptions, randomPassword, sendLive } from './gate.js';
import { createNewestData, type DashboardView, gatherDashboard, statusOf } from './gather-dashboard.js';
import { createFileLook, createRunLook } from './look-at-run.js';
import { dashboardBody } from './overview.js';
import { addRunDocuments, createRunReader } from './program-routes.js';
import { createResultRows } from './result-rows.js';
import { type AccountAsker, accountAction, runActions } from './run-actions.js';
import { scheduleActions } from './schedule-actions.js';
import { discardAllAction, startAllAction } from './sent-files.js';
import { addUploads, type UploadParts } from './upload-routes.js';

export interface DashboardContext {
  readonly settings: Settings;
  readonly engine: Engine;
  /** Where this machine's schedules are defined. */
  readonly stateFolder: string;
  /** The account and queue to show; null if the settings do not name them. */
  readonly names: AccountNames | null;
  /** The watched folders, absolute: their files in `waiting/` are shown. */
  readonly inboxes: readonly string[];
  /** Files that people send for one of these folders. */
  readonly uploads: UploadParts;
  readonly caps: FileCaps;
  /** Checks the account when a person orders it. Default: workers are elsewhere. */
  readonly asker?: AccountAsker | null;
  /** Returns why the service is unavailable; null while it answers. Default: never known. */
  readonly outage?: () => string | null;
  readonly log: Log;
  /** Prints a sign-in link, never in the log; null if the caller shows the link. */
  readonly stderr: NodeJS.WritableStream | null;
  /** Once aborted, the page says that the process is stopping. */
  readonly stop: AbortSignal;
  readonly releasers: Releasers;
}

const CLOSE_MS = 1_000;

/**
 * Serves the dashboard until `releasers` run; null with `--no-dashboard`. `signInUrl` is a secret,
 * null if the settings name a password. Throws `ConfigError` if others could reach the dashboard
 * without a password, `RunError` if it has no port.
 */
export async function openDashboard(context: DashboardContext) {
  const { settings, engine, stateFolder, names, inboxes, uploads, caps, log, stderr, stop, releasers } =
    context;
  if (!settings.dashboard) return null;
  const given = readDashboardPassword(settings);
  const password = given ?? randomPassword();

  const queue = names && engine.openQueue(names.queueName);
  const close = async () => queue?.close().catch(() => undefined);
  releasers.push(() => withinDeadline(close(), CLOSE_MS));
  const files = createScheduleFiles(stateFolder);
  const book = createScheduleBook(engine, files);
  const finder = createFileFinder(inboxes);
  const newest = createNewestData({
    gather: () => gatherDashboard(engine, book, names, queue, { ...settings, isHost: true }, finder),
    clock: systemClock,
    onError: (error) => log.warn({ reason: errorText(error) }, 'the dashboard could not be updated'),
  });

  const look = async () => ({
    ...(await newest.look()),
    uploads: { roots: inboxes, received: await finder.listDrafts() },
    host: hostname(),
    now: systemClock.now(),
    serviceOutage: context.outage?.() ?? null,
    currency: settings.currency,
    isSample: settings.sample,
    canCheck: context.asker != null,
    isStopping: stop.aborted,
  });
  const terms = { overagePrice: settings.overagePrice, currency: settings.currency };
  const lookAtRun = createRunLook({ engine, look, finder });
  const lookAtFile = createFileLook(finder, lookAtRun, newest.expire);
  const readRun = createRunReader(lookAtRun, lookAtFile);
  const server = await serveDashboard({
    host: settings.dashboardHost,
    port: settings.dashboardPort,
    url: settings.dashboardUrl,
    password,
    linkToken: given === null ? password : null,
    clock: systemClock,
    actions: [
      ...runActions({ engine, look, lookAtRun, readRun, terms, uploads: uploads.uploads }),
      ...fileActions({ ...uploads, engine, finder, caps, terms }),
      ...scheduleActions(book, engine, look),
      discardAllAction(finder),
      startAllAction({ ...uploads, finder, engine }),
      ...(context.asker == null ? [] : [accountAction(engine, context.asker, terms, log)]),
    ],
    onAction: newest.expire,
    log,
    look,
    addPages(app) {
      // First: pages of runs would take the names.
      addRunDocuments(app, readRun);
      addFileRoutes(app, {
        ...uploads,
        look,
        lookAtRun,
        lookAtFile,
        finder,
        caps,
        terms,
        results: createResultRows(() => openSpoolFolder(stateFolder), stop),
        now: systemClock.now,
      });
      addUploads(app, { ...uploads, engine, log });
    },
    onError: (error) => log.error({ err: error }, 'a dashboard request failed'),
  });
  releasers.push(() => server.close());
  const url = `${settings.dashboardUrl ?? server.url}/`;
  const signInUrl = given === null ? `${url}?token=${password}` : null;
  // The link opens the dashboard, so it is not logged: logs are kept and passed on.
  if (signInUrl !== null) {
    if (stderr !== null) printText(stderr, `dashboard: ${signInUrl}\n`);
  } else {
    const behind = settings.dashboardUrl === null ? {} : { listensOn: server.url };
    log.info({ ...behind, url }, 'serving the dashboard');
  }
  return { url, signInUrl };
}

export interface DashboardServerOptions extends GateOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly look: () => Promise<DashboardView>;
  /** Adds further pages. Default: none. */
  readonly addPages?: (app: GatedApp) => void;
  readonly actions: readonly Action[];
  /** Called before and after each action, so that action and page see the newest data. */
  readonly onAction?: () => void;
  readonly onError: (error: Error) => void;
}

/** Serves the pages. Throws `RunError` if the server cannot listen. */
export async function serveDashboard(options: DashboardServerOptions): Promise<HttpListener> {
  const { host, port, look, actions, onAction = () => undefined, log, onError } = options;
  const app = createGate(options);
  logForged(app, log, options.clock);
  app.get('/', async (context) => {
    const view = await look();
    return sendLive(context, 'brand-enrich dashboard', (viewer) => dashboardBody(view, viewer));
  });
  options.addPages?.(app);
  addActions(app, actions, { log, onAction });
  app.get('/status.json', async (context) => {
    context.header('content-security-policy', "default-src 'none'");
    return context.json(statusOf(await look()));
  });
  app.notFound((context) => answerText(context, 'not found; the dashboard is at /', 404, 'not-found'));
  app.onError((error, context) => {
    onError(error);
    return answerText(context, 'internal error; see the log', 500, 'internal');
  });
  const todo = 'choose another --dashboard-port or --dashboard-host, or --no-dashboard';
  const server = createGuardedServer(getRequestListener(app.fetch, { hostname: 'localhost' }));
  return listenHttp(server, { host, port, purpose: 'dashboard', todo });
}

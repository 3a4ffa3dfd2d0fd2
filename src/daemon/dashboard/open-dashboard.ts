/**
 * Opens the dashboard for `up`, beside its worker, inboxes and schedules. Server, page and Bull Board are loaded when
 * they are needed, so that other commands do not pay for them.
 */
import { hostname } from 'node:os';
import { readDashboardPassword } from '../../config/secrets.js';
import type { Settings } from '../../config/settings.js';
import { systemClock } from '../../core/clock.js';
import { errorText } from '../../core/errors.js';
import { type Releasers, withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { printText } from '../../core/terminal-text.js';
import type { Engine } from '../../engine/engine.js';
import type { AccountNames } from '../../run/enrich-request.js';
import { readChartLibrary } from '../../run/report/page-script.js';
import { tickQueueOf } from '../schedules/schedule-book.js';
import { createNewestData, gatherDashboard } from './gather-dashboard.js';
import type { QueueBoard } from './queue-board.js';
import { randomPassword } from './sign-in.js';

export interface DashboardContext {
  readonly settings: Settings;
  readonly engine: Engine;
  /** Account and queue that are shown; null where the settings do not name them. */
  readonly names: AccountNames | null;
  /** The watched folders, absolute: their files in `waiting/` are shown. */
  readonly inboxes: readonly string[];
  /** Why the service is taken to be unavailable; null while it answers. Default: never known. */
  readonly trouble?: () => string | null;
  readonly log: Log;
  /** Where a sign-in link with a random password is printed; never the log. */
  readonly stderr: NodeJS.WritableStream;
  /** The page says that the process is stopping. */
  readonly stop: AbortSignal;
  readonly releasers: Releasers;
}

export interface OpenedDashboard {
  /** `http://host:port/`, without a password. */
  readonly url: string;
  /** The same, signing in who opens it. Secret. null when the password is one of the settings, which is never printed. */
  readonly signInUrl: string | null;
}

const CLOSE_MS = 1_000;

/**
 * Serves the dashboard until `releasers` run. null with `--no-dashboard`. Throws `NeverStartError` when others could reach it
 * without a password, and `FailFileError` when the port cannot be had.
 */
export async function openDashboard(context: DashboardContext): Promise<OpenedDashboard | null> {
  const { settings, engine, names, inboxes, log, stderr, stop, releasers } = context;
  if (!settings.dashboard) return null;
  const given = readDashboardPassword(settings);
  const password = given ?? randomPassword();

  const openQueue = (name: string) => {
    const queue = engine.openQueue(name);
    releasers.push(() =>
      withinDeadline(
        queue.close().catch(() => undefined),
        CLOSE_MS,
      ),
    );
    return queue;
  };
  const queue = names && openQueue(names.queueName);
  const sources = { engine, names, queue, terms: { ...settings, isHost: true }, inboxes };
  const newest = createNewestData({
    gather: () => gatherDashboard(sources),
    clock: systemClock,
    onTrouble: (error) => log.warn({ reason: errorText(error) }, 'the dashboard has no newer data'),
  });

  let board: Promise<QueueBoard> | undefined;
  async function loadBoard(): Promise<QueueBoard> {
    const { createQueueBoard } = await import('./queue-board.js');
    const lookups = queue && {
      queue,
      title: 'Lookups',
      description: 'chunks of up to 50 identifiers that workers look up',
    };
    const ticks = {
      queue: openQueue(tickQueueOf(hostname())),
      title: 'Schedules',
      description: `times at which schedules of ${hostname()} are due`,
    };
    return createQueueBoard(lookups === null ? [ticks] : [lookups, ticks], (reason) =>
      log.debug({ reason }, 'the queue cannot be shown'),
    );
  }

  const { serveDashboard } = await import('./dashboard-server.js');
  const server = await serveDashboard({
    host: settings.dashboardHost,
    port: settings.dashboardPort,
    password,
    clock: systemClock,
    chartLibrary: await readChartLibrary(),
    async look() {
      const { data, awayNoticedAt } = await newest.look();
      return {
        host: hostname(),
        now: systemClock.now(),
        data,
        awayNoticedAt,
        serviceTrouble: context.trouble?.() ?? null,
        isSample: settings.sample,
        isStopping: stop.aborted,
      };
    },
    openBoard() {
      board ??= loadBoard().catch((error: unknown) => {
        board = undefined;
        throw error;
      });
      return board;
    },
    onTrouble: (error) => log.error({ err: error }, 'the dashboard could not answer'),
  });
  releasers.push(() => server.close());
  const url = `${server.url}/`;
  const signInUrl = given === null ? `${url}?token=${password}` : null;
  // Not in the log: a log is kept and passed on, and this opens the dashboard.
  if (signInUrl !== null) printText(stderr, `dashboard: ${signInUrl}\n`);
  else log.info({ url }, 'the dashboard is served');
  return { url, signInUrl };
}

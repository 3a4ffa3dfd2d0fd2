/** Opens everything that a command needs, in order; the releasers close it in reverse order. */
import { setMaxListeners } from 'node:events';
import type { RequestDispatcher } from '../brand-api/protocol.js';
import { systemClock } from '../core/clock.js';
import { RunError } from '../core/errors.js';
import { assertOwnState } from '../core/folders.js';
import { type Releasers, withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { Engine } from '../engine/engine.js';
import { openNotifier } from '../run/notices/notifier.js';
import type { Settings } from '../settings/settings.js';
import type { WorkerListener } from '../worker/asked.js';
import { createLookupWorker, type LookupWorker } from '../worker/lookup-worker.js';
import type { MetricsRegistry } from './metrics.js';
import { type OpenedService, openService } from './open-service.js';
import { type CommandContext, openStores, spoolOf } from './open-stores.js';

export type EngineContext = Readonly<Awaited<ReturnType<typeof openEngineContext>>>;

export interface EngineOptions {
  /** Default: the folder of the settings. */
  readonly stateFolder?: string;
  /** Called if the metrics port is unavailable; the command then continues. Default: throws. */
  readonly onMetricsRefused?: (error: RunError) => void;
}

/** Opens the engine and the metrics of a command that does work. Throws as `openEngine` does. */
export async function openEngineContext(
  settings: Settings,
  command: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
  { stateFolder = settings.state, onMetricsRefused }: EngineOptions = {},
) {
  const engine = await openStores(settings, command, releasers, {
    stateFolder,
    waitsForDisk: settings.waitForDisk,
  });
  const metrics = await openMetrics(settings, engine, command.stop, releasers).catch((error: unknown) => {
    if (onMetricsRefused === undefined || !(error instanceof RunError)) throw error;
    onMetricsRefused(error);
    return NOT_SERVED;
  });
  return { engine, metrics };
}

interface OpenedMetrics extends Pick<MetricsRegistry, 'watchClient' | 'watchWorker'> {
  readonly url: string | null;
  watchQueue(name: string): void;
}

const NOT_SERVED: OpenedMetrics = {
  url: null,
  watchClient: (client) => client,
  watchWorker: () => undefined,
  watchQueue: () => undefined,
};
const CLOSE_MS = 1_000;

/** Serves metrics, if a port is set. Throws `RunError` if the port is unavailable. */
async function openMetrics(
  { metricsPort: port, metricsHost: host }: Pick<Settings, 'metricsPort' | 'metricsHost'>,
  engine: Pick<Engine, 'runs' | 'openChunkQueue'>,
  stop: AbortSignal,
  releasers: Releasers,
): Promise<OpenedMetrics> {
  if (port === null) return NOT_SERVED;
  const { createMetrics, serveMetrics } = await import('./metrics.js');
  const metrics = createMetrics();
  const askEngine = () => engine.runs.list(1);
  const server = await serveMetrics({ host, port, metrics, askEngine, stop });
  releasers.push(() => server.close());
  return {
    ...metrics,
    url: server.url,
    watchQueue(name) {
      const queue = engine.openChunkQueue(name);
      const close = () => queue.close().catch(() => undefined);
      releasers.push(() => withinDeadline(close(), CLOSE_MS));
      metrics.watchQueue(() => queue.counts());
    },
  };
}

/** Logs engine warnings and the address of the metrics for long-running processes. */
export function logOpened({ engine, metrics }: EngineContext, isSample: boolean, log: Log): void {
  if (!isSample) for (const { text } of engine.warnings) log.warn(text);
  if (metrics.url !== null) log.info({ url: `${metrics.url}/metrics` }, 'serving metrics');
}

export type StateContext = Readonly<Awaited<ReturnType<typeof openState>>>;

/** Returns the state folder; with `--sample` a folder of its own. */
export async function openStateFolder(settings: Settings, releasers: Releasers): Promise<string> {
  return settings.sample ? (await import('./sample.js')).openSampleState(releasers) : settings.state;
}

/** Opens state folder and notifier. Called first: later failures can then be notified. */
export async function openState(
  settings: Settings,
  { log, stop }: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
) {
  const stateFolder = await openStateFolder(settings, releasers);
  assertOwnState(stateFolder);
  const notifier = openNotifier({ settings, stateFolder, log, stop });
  releasers.push(() => notifier.close());
  return { stateFolder, notifier };
}

export type OpenedContext = Readonly<Awaited<ReturnType<typeof openContext<StateContext>>>>;

/** Opens all that runs need besides `state`. Throws as opening service and engine does. */
export async function openContext<State extends Pick<StateContext, 'stateFolder'>>(
  settings: Settings,
  state: State,
  command: Pick<CommandContext, 'stdin' | 'stdout' | 'log' | 'stop' | 'graceMs'>,
  releasers: Releasers,
  {
    dispatcher,
    ...options
  }: Pick<EngineOptions, 'onMetricsRefused'> & { readonly dispatcher?: RequestDispatcher | undefined } = {},
) {
  const { log, stop } = command;
  const { stateFolder } = state;
  const opened = await openService(settings, log, releasers, dispatcher);
  const engineContext = await openEngineContext(settings, command, releasers, { stateFolder, ...options });
  const { engine, metrics } = engineContext;
  const service = { ...opened, client: metrics.watchClient(opened.client) };
  return {
    ...state,
    ...engineContext,
    service,
    streams: command,
    clock: systemClock,
    log,
    stop,
    graceMs: () => command.graceMs(settings.timeoutMs),
    /** Makes the worker, which the caller starts and stops; `listener` gets chunks and answers. */
    openWorker(listener: WorkerListener): LookupWorker {
      const worker = openLookupWorker({ engine, service, settings, stateFolder, log }, listener);
      metrics.watchWorker(worker, service.account);
      return worker;
    },
  };
}

export interface WorkerContext {
  readonly engine: Engine;
  readonly service: Pick<OpenedService, 'client' | 'service' | 'account' | 'queueName'>;
  readonly settings: Pick<Settings, 'concurrency' | 'timeoutMs' | 'usageLagMs'>;
  readonly stateFolder: string;
  readonly log: Log;
  /** False for a worker that takes no chunks from the queue. Default true. */
  readonly takesChunks?: boolean;
}

/** Makes a worker, which the caller starts and stops; `listener` gets chunks and answers. */
export function openLookupWorker(
  { service, settings, stateFolder, ...rest }: WorkerContext,
  listener?: WorkerListener,
): LookupWorker {
  const { concurrency, timeoutMs, usageLagMs } = settings;
  const terms = { concurrency, timeoutMs, usageLagMs, spoolFolder: spoolOf(stateFolder) };
  return createLookupWorker({ ...rest, ...service, ...terms, clock: systemClock, listener });
}

/** Two checks in a row must find the engine lost: its folder may be moved away and back. */
const CHECK_EVERY_MS = 5_000;

/** Returns a `stop` that is also aborted once the engine is lost, which never recovers. */
export function stopWithEngine(stop: AbortSignal, releasers: Releasers) {
  const lost = new AbortController();
  const both = AbortSignal.any([stop, lost.signal]);
  // All inboxes, schedules and runs listen to it.
  setMaxListeners(0, both);
  return {
    stop: both,
    watch({ loss }: Pick<Engine, 'loss'>): void {
      if (loss === undefined) return;
      let wasLost = false;
      const timer = setInterval(() => {
        const why = loss();
        if (why !== null && wasLost) lost.abort(why);
        wasLost = why !== null;
      }, CHECK_EVERY_MS);
      releasers.push(() => clearInterval(timer));
    },
    /** Throws the `RunError` of a lost engine. */
    assertNotLost: (): void => lost.signal.throwIfAborted(),
  };
}

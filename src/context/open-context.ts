/**
 * What a command opens: engine, traces, metrics, service, notifier and lookup worker. Everything is opened here, in one order, and
 * closed in the other by the releasers of the command.
 */
import { join } from 'node:path';
import type { ConfigFile } from '../config/read-config-file.js';
import type { CommandName } from '../config/setting.js';
import type { LoadedSettings, Settings } from '../config/settings.js';
import { type Clock, systemClock } from '../core/clock.js';
import { FailFileError } from '../core/errors.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { Streams } from '../core/streams.js';
import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/open-engine.js';
import { type Notifier, openNotifier } from '../run/notices/notifier.js';
import { createLookupWorker, type LookupWorker } from '../worker/lookup-worker.js';
import type { WorkerListener } from '../worker/worker-listener.js';
import { NOT_SERVED, type OpenedMetrics, openMetrics } from './open-metrics.js';
import { type OpenedService, openService } from './open-service.js';
import { type OpenedTelemetry, openTelemetry } from './open-telemetry.js';

/** What the root gives to every command. */
export interface CommandContext extends Streams {
  readonly log: Log;
  /** First signal: stop asking and taking work. */
  readonly stop: AbortSignal;
  /** How long requests in flight may be waited for after it. */
  readonly graceMs: (timeoutMs: number) => number;
  readonly configFile: ConfigFile | null;
  /** What relative paths count from. */
  readonly folder: string;
  /** Settings of a command from flags and the surroundings of the process; `fallback` for variables that are not set. */
  readonly load: (
    command: CommandName,
    flags: Record<string, unknown>,
    fallback?: Readonly<Record<string, string>>,
  ) => LoadedSettings;
}

/** The engine of a command that looks and gives orders, and sends nothing. Throws what opening an engine throws. */
export async function openStores(
  settings: Settings,
  { log, stop }: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
): Promise<Engine> {
  const { engine: address, state: stateFolder, startEmpty: startsEmpty } = settings;
  const engine = await openEngine({ engine: address, stateFolder, startsEmpty, log, stop });
  releasers.push(() => engine.close());
  return engine;
}

export interface EngineContext {
  readonly engine: Engine;
  readonly metrics: OpenedMetrics;
  readonly traces: OpenedTelemetry;
}

export interface EngineOptions {
  /** Default: the one of the settings. */
  readonly stateFolder?: string;
  /** Told of a port for metrics that cannot be had, without which the command goes on; absent: that is thrown. */
  readonly onMetricsRefused?: (error: FailFileError) => void;
}

/** The engine of a command that works, with what watches it. Throws what opening an engine throws. */
export async function openEngineContext(
  settings: Settings,
  { log, stop }: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
  { stateFolder = settings.state, onMetricsRefused }: EngineOptions = {},
): Promise<EngineContext> {
  const traces = await openTelemetry(settings, log, releasers);
  const engine = await openEngine({
    engine: settings.sample ? 'embedded' : settings.engine,
    stateFolder,
    startsEmpty: settings.startEmpty,
    log,
    waitsForDisk: settings.waitForDisk,
    telemetry: traces.telemetry,
    stop,
  });
  releasers.push(() => engine.close());
  const metrics = await openMetrics(settings, engine, stop, releasers).catch((error: unknown) => {
    if (onMetricsRefused === undefined || !(error instanceof FailFileError)) throw error;
    onMetricsRefused(error);
    return NOT_SERVED;
  });
  return { engine, metrics, traces };
}

/** Logs what a process that stays should know of its engine, and where its metrics are. */
export function logOpened({ engine, metrics }: EngineContext, isSample: boolean, log: Log): void {
  if (!isSample) for (const warning of engine.warnings) log.warn(warning);
  if (metrics.url !== null) log.info({ url: `${metrics.url}/metrics` }, 'serving metrics');
}

export interface StateContext {
  /** With `--sample` a temporary one. */
  readonly stateFolder: string;
  readonly notifier: Notifier;
}

/** What is open before anything can fail that somebody wants to be notified of. */
export async function openState(
  settings: Settings,
  { log, stop }: Pick<CommandContext, 'log' | 'stop'>,
  releasers: Releasers,
): Promise<StateContext> {
  const stateFolder = settings.sample
    ? await (await import('./sample.js')).openSampleState(releasers)
    : settings.state;
  const notifier = openNotifier({ settings, stateFolder, log, stop });
  releasers.push(() => notifier.close());
  return { stateFolder, notifier };
}

/** All that runs need; see `RunContext` of `run/run-file.ts`. */
export interface OpenedContext extends StateContext, EngineContext {
  readonly service: OpenedService;
  readonly streams: Pick<Streams, 'stdin' | 'stdout'>;
  readonly traced: OpenedTelemetry['traced'];
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly graceMs: () => number;
  /** A worker for the chunks of this token. Its caller starts and stops it; `listener` hears of chunks and answers. */
  readonly openWorker: (listener: WorkerListener) => LookupWorker;
}

/** Throws what opening service and engine throws. `state` is open already. */
export async function openContext(
  settings: Settings,
  state: StateContext,
  command: Pick<CommandContext, 'stdin' | 'stdout' | 'log' | 'stop' | 'graceMs'>,
  releasers: Releasers,
  options: Pick<EngineOptions, 'onMetricsRefused'> = {},
): Promise<OpenedContext> {
  const { log, stop } = command;
  const { stateFolder } = state;
  const opened = await openService(settings, log, releasers);
  const around = await openEngineContext(settings, command, releasers, { stateFolder, ...options });
  const { engine, metrics, traces } = around;
  const service = watched(opened, around);
  return {
    ...state,
    ...around,
    service,
    streams: command,
    traced: traces.traced,
    clock: systemClock,
    log,
    stop,
    graceMs: () => command.graceMs(settings.timeoutMs),
    openWorker(listener) {
      const worker = openLookupWorker({ engine, service, settings, stateFolder, log }, listener);
      metrics.watchWorker(worker, () => [service.account]);
      return worker;
    },
  };
}

/** The same service; metrics and traces know of its lookups. */
export function watched<T extends Pick<OpenedService, 'clientFor'>>(
  service: T,
  { metrics, traces }: Pick<EngineContext, 'metrics' | 'traces'>,
): T {
  return { ...service, clientFor: traces.watchClients(metrics.watchClients(service.clientFor)) };
}

/** What a lookup worker takes of the settings of its process. */
type WorkerSettings = Pick<Settings, 'concurrency' | 'timeoutMs' | 'usageLagMs' | 'compression'>;

export interface WorkerContext {
  readonly engine: Engine;
  readonly service: Pick<OpenedService, 'clientFor' | 'queueName'>;
  readonly settings: WorkerSettings;
  readonly stateFolder: string;
  readonly log: Log;
}

/** Where paid answers wait that an engine could not take. */
export function spoolOf(stateFolder: string): string {
  return join(stateFolder, 'spool');
}

/** A worker for the chunks of one token. Its caller starts and stops it; `listener` hears of chunks and answers. */
export function openLookupWorker(context: WorkerContext, listener?: WorkerListener): LookupWorker {
  const { engine, service, settings, stateFolder, log } = context;
  return createLookupWorker({
    engine,
    clientFor: service.clientFor,
    queueName: service.queueName,
    concurrency: settings.concurrency,
    timeoutMs: settings.timeoutMs,
    usageLagMs: settings.usageLagMs,
    compress: settings.compression,
    spoolFolder: spoolOf(stateFolder),
    clock: systemClock,
    log,
    ...(listener === undefined ? {} : { listener }),
  });
}

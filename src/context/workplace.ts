/**
 * What a process that stays opens once and has all its work share: engine, service, one lookup worker and those who are told.
 * `watch` and `up` put inboxes and schedules into it. Signals are the root's.
 */
import { join } from 'node:path';
import type { LoadedSettings, Settings } from '../config/settings.js';
import { type Clock, systemClock } from '../core/clock.js';
import { type Releasers, withReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { CommandStreams } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/open-engine.js';
import { type Notifier, openNotifier } from '../run/notices/notifier.js';
import { createLookupWorker, type LookupWorker } from '../worker/lookup-worker.js';
import type { WorkerListener } from '../worker/worker-listener.js';
import { type OpenedMetrics, openMetrics } from './open-metrics.js';
import { type OpenedService, openService } from './open-service.js';
import { type OpenedTelemetry, openTelemetry } from './open-telemetry.js';
import { openSampleState } from './sample-state.js';
import { type SharedWorker, shareWorker } from './shared-worker.js';

export interface WorkplaceDoor extends Pick<CommandStreams, 'stdin' | 'stdout'> {
  readonly log: Log;
  /** First signal: stop taking work and asking. */
  readonly stop: AbortSignal;
  readonly graceMs: (timeoutMs: number) => number;
}

export interface Workplace {
  readonly loaded: LoadedSettings;
  readonly engine: Engine;
  readonly service: OpenedService;
  readonly stateFolder: string;
  /** null: workers elsewhere do the lookups. */
  readonly worker: SharedWorker | null;
  /** Lets the worker take chunks: once everything is open that could prevent the command. */
  readonly begin: () => Promise<void>;
  readonly notifier: Notifier;
  readonly metrics: OpenedMetrics;
  readonly traces: OpenedTelemetry;
  /** How long requests in flight may still be waited for, counted from the signal for all work together. */
  readonly graceMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
}

/** What a lookup worker takes of the settings of its process. */
export type WorkerSettings = Pick<Settings, 'concurrency' | 'timeoutMs' | 'usageLagMs' | 'compression'>;

export interface WorkerPlace {
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

/** A worker for the chunks of one token. Its caller starts and stops it; `listener` is told of chunks and answers. */
export function openLookupWorker(place: WorkerPlace, listener?: WorkerListener): LookupWorker {
  const { engine, service, settings, stateFolder, log } = place;
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

/** Runs `action` in an open workplace and closes it. Throws what opening throws. */
export function withWorkplace<T>(
  loaded: LoadedSettings,
  door: WorkplaceDoor,
  action: (place: Workplace, releasers: Releasers) => Promise<T>,
): Promise<T> {
  return withReleasers(async (releasers) => {
    const { log } = door;
    const { settings } = loaded;
    if (settings.sample)
      log.warn('sample data: brands from the built-in catalogue, nothing is sent to any service');
    const stateFolder = settings.sample ? await openSampleState(releasers) : settings.state;
    const notifier = openNotifier({ settings, stateFolder, log, stop: door.stop });
    releasers.push(() => notifier.close());
    const opened = await openService(settings, log, releasers);
    const traces = await openTelemetry(settings, log, releasers);
    const engine = await openEngine({
      engine: settings.sample ? 'embedded' : settings.engine,
      stateFolder,
      startsEmpty: settings.startEmpty,
      log,
      waitsForDisk: settings.waitForDisk,
      telemetry: traces.telemetry,
      stop: door.stop,
    });
    releasers.push(() => engine.close());
    const { stop } = door;
    if (!settings.sample) for (const warning of engine.warnings) log.warn(warning);
    const metrics = await openMetrics(settings, engine, stop, releasers);
    const service = { ...opened, clientFor: traces.watchClients(metrics.watchClients(opened.clientFor)) };
    const graceMs = graceFromSignal(door, settings.timeoutMs);
    const worker = settings.worker
      ? shareWorker((listener) => openLookupWorker({ engine, service, settings, stateFolder, log }, listener))
      : null;
    if (worker !== null) {
      metrics.watchWorker(worker.worker, () => [service.account]);
      releasers.push(stopAtSignal(worker.worker, stop, graceMs));
    }
    const begin = async () => worker?.worker.start();
    const place = { loaded, engine, service, stateFolder, worker, begin, notifier, metrics, traces, graceMs };
    return action({ ...place, clock: systemClock, log, stop }, releasers);
  });
}

/** Begins to stop at the signal, while files and runs come to their ends; what is returned waits for it. */
function stopAtSignal(worker: LookupWorker, stop: AbortSignal, graceMs: () => number): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  const begin = () => {
    stopped ??= worker.stop(graceMs());
    return stopped;
  };
  const onStop = () => void begin().catch(() => undefined);
  stop.addEventListener('abort', onStop, { once: true });
  return begin;
}

/** One stretch of time for everything that has to end: what one waits for is gone for the next. */
function graceFromSignal({ stop, graceMs }: WorkplaceDoor, timeoutMs: number): () => number {
  let endsAt: number | null = null;
  const begin = () => {
    endsAt = performance.now() + graceMs(timeoutMs);
  };
  if (stop.aborted) begin();
  else stop.addEventListener('abort', begin, { once: true });
  return () => (endsAt === null ? graceMs(timeoutMs) : Math.max(0, endsAt - performance.now()));
}

/** A command's metrics and traces; without their settings, loads no library and does nothing. */
import { type TraceSettings, traceTarget } from '../config/address-values.js';
import type { Settings } from '../config/settings.js';
import { type Releasers, withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { Engine } from '../engine/engine.js';
import type { MetricsRegistry } from './metrics.js';
import type { Traces } from './traces.js';

export interface OpenedMetrics extends Pick<MetricsRegistry, 'watchClient' | 'watchWorker'> {
  /** Where they are served; null: they are not. */
  readonly url: string | null;
  /** The depth of this queue, which is opened for it. */
  watchQueue(name: string): void;
}

export interface OpenedTraces extends Pick<Traces, 'watchClient' | 'traceRun'> {
  /** For `openEngine`; undefined: nothing is traced. */
  readonly telemetry: Traces['telemetry'] | undefined;
}

/** For a command without a port. */
export const NOT_SERVED: OpenedMetrics = {
  url: null,
  watchClient: (client) => client,
  watchWorker: () => undefined,
  watchQueue: () => undefined,
};
/** For a process without a collector. */
export const NOT_TRACED: OpenedTraces = {
  telemetry: undefined,
  watchClient: (client) => client,
  traceRun: (_engine, _isStrict, run) => run(),
};
const CLOSE_MS = 1_000;

/** Throws `FailFileError` when the server cannot listen on the port. */
export async function openMetrics(
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

/** Open it before the engine: it then closes, and sends the last spans, after it. Never rejects. */
export async function openTraces(
  settings: TraceSettings,
  log: Log,
  releasers: Releasers,
): Promise<OpenedTraces> {
  const target = traceTarget(settings);
  if (target.type === 'unusable')
    log.warn({ variable: target.variable }, 'no traces are sent: it holds no http or https address');
  if (target.type !== 'send') return NOT_TRACED;
  const { createTraces } = await import('./traces.js');
  const traces = createTraces({ url: target.url, log });
  releasers.push(() => traces.close());
  return traces;
}

/** A command's metrics; without their settings, loads no library and does nothing. */

import { type Releasers, withinDeadline } from '../core/lifecycle.js';
import type { Engine } from '../engine/engine.js';
import type { Settings } from '../settings/settings.js';
import type { MetricsRegistry } from './metrics.js';

export interface OpenedMetrics extends Pick<MetricsRegistry, 'watchClient' | 'watchWorker'> {
  /** Where they are served; null: they are not. */
  readonly url: string | null;
  /** The depth of this queue, which is opened for it. */
  watchQueue(name: string): void;
}

/** For a command without a port. */
export const NOT_SERVED: OpenedMetrics = {
  url: null,
  watchClient: (client) => client,
  watchWorker: () => undefined,
  watchQueue: () => undefined,
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

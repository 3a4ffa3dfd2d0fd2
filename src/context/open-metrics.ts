/**
 * The metrics of a command: served when `--metrics-port` is said, and nothing otherwise, so that commands need not ask.
 */
import type { Settings } from '../config/settings.js';
import { type Releasers, withinDeadline } from '../core/lifecycle.js';
import type { Engine } from '../engine/engine.js';
import type { Client } from '../lookup/client.js';
import type { LookupWorker } from '../worker/lookup-worker.js';

export type ClientFor = (service: string) => Client | null;

export interface OpenedMetrics {
  /** Where they are served; null: they are not. */
  readonly url: string | null;
  /** The same clients, watched. */
  watchClients(clientFor: ClientFor): ClientFor;
  /** `accounts`: names of those that this worker may have spent from. */
  watchWorker(worker: LookupWorker, accounts: () => Iterable<string>): void;
  /** The depth of this queue, which is opened for it. */
  watchQueue(name: string): void;
}

/** Of a command without a port. */
export const NOT_SERVED: OpenedMetrics = {
  url: null,
  watchClients: (clientFor) => clientFor,
  watchWorker: () => undefined,
  watchQueue: () => undefined,
};
const CLOSE_MS = 1_000;

/** Throws `FailFileError` when the port cannot be had. */
export async function openMetrics(
  settings: Pick<Settings, 'metricsPort' | 'metricsHost'>,
  engine: Pick<Engine, 'runs' | 'openChunkQueue'>,
  stop: AbortSignal,
  releasers: Releasers,
): Promise<OpenedMetrics> {
  const { metricsPort: port, metricsHost: host } = settings;
  if (port === null) return NOT_SERVED;
  const { createMetrics } = await import('./metrics.js');
  const { serveMetrics } = await import('./metrics-server.js');
  const metrics = createMetrics();
  const whyNotReady = createReadiness(() => engine.runs.list(1), stop);
  const server = await serveMetrics({ host, port, metrics, whyNotReady });
  releasers.push(() => server.close());
  return {
    url: server.url,
    watchClients: (clientFor) => watchEach(clientFor, metrics.watchClient),
    watchWorker(worker, accounts) {
      metrics.watchWorker({
        get inFlight() {
          return worker.inFlight;
        },
        get trouble() {
          return worker.trouble;
        },
        *accounts() {
          for (const account of accounts()) {
            const state = worker.ledgerState(account);
            if (state !== null) yield { account, state };
          }
        },
      });
    },
    watchQueue(name) {
      const line = engine.openChunkQueue(name);
      releasers.push(() =>
        withinDeadline(
          line.close().catch(() => undefined),
          CLOSE_MS,
        ),
      );
      metrics.watchQueue(() => line.counts());
    },
  };
}

/** One watched client per service, as there is one client. */
export function watchEach(clientFor: ClientFor, watch: (client: Client) => Client): ClientFor {
  const watched = new WeakMap<Client, Client>();
  return (service) => {
    const client = clientFor(service);
    if (client === null) return null;
    const known = watched.get(client) ?? watch(client);
    watched.set(client, known);
    return known;
  };
}

/** Probes give up after a second or two; an engine that takes longer is away. */
const PROBE_MS = 1_000;

/**
 * Why this process cannot do its work, in a few words; null: it can. `askEngine` is any small question to the engine. One question is
 * under way at a time, however many probes come.
 */
export function createReadiness(
  askEngine: () => Promise<unknown>,
  stop: AbortSignal,
): () => Promise<string | null> {
  let asking: Promise<true | null> | null = null;
  return async () => {
    if (stop.aborted) return 'stopping';
    asking ??= askEngine()
      .then(
        () => true as const,
        () => null,
      )
      .finally(() => {
        asking = null;
      });
    return (await withinDeadline(asking, PROBE_MS)) ? null : 'the engine does not answer';
  };
}

/**
 * What one process counts for Prometheus: answers as they come, through a client that is watched, and gauges read from
 * the worker when somebody asks. Nothing here waits for the engine except the depth of the queue, within a deadline.
 * Names, units and labels are for dashboards to rely on; serving them is `metrics-server.ts`'s.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withinDeadline } from '../core/lifecycle.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf, roomOf } from '../ledger/policy.js';
import type { Client } from '../lookup/client.js';
import type { Meaning } from '../lookup/read-answer.js';

/** Chunks in the queue by what becomes of them next. */
interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** What gauges are read from, at the moment of the asking. */
interface WatchedWorker {
  readonly inFlight: number;
  /** What the service does instead of answering; null while it answers. */
  readonly trouble: string | null;
  /** Accounts that this process has spent from, as it last saw them. */
  accounts(): Iterable<{ readonly account: string; readonly state: LedgerState }>;
}

export interface Metrics {
  readonly contentType: string;
  /** The same client, with every lookup counted and timed. */
  watchClient(client: Client): Client;
  watchWorker(worker: WatchedWorker): void;
  /** Asked for at each scrape; what does not come within a second is left out of it. */
  watchQueue(depth: () => Promise<QueueDepth>): void;
  /** In the Prometheus text format. Never rejects because of the engine. */
  text(): Promise<string>;
}

/** All meanings of an answer, so that each is there from the start, with 0. */
const OUTCOMES: Readonly<Record<Meaning['type'], true>> = {
  matched: true,
  not_found: true,
  failed: true,
  wasted: true,
  unavailable: true,
  credentials: true,
  refused: true,
};
/** Seconds: from an answer out of a cache to a live crawl of 30 s, and the default time-out of 40 s. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 40];
const QUEUE_DEADLINE_MS = 1_000;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const lookups = new Counter({
    name: 'brand_enrich_lookups_total',
    help: 'Requests sent, by what the answer came to: matched, not_found, failed, wasted (damaged or lost, perhaps billed), unavailable (5xx or unreachable), credentials (401, 402, 403), refused (429)',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of Object.keys(OUTCOMES)) lookups.inc({ outcome }, 0);
  const billed = new Counter({
    name: 'brand_enrich_billed_total',
    help: 'Requests that were or may have been billed',
    registers,
  });
  const latency = new Histogram({
    name: 'brand_enrich_lookup_duration_seconds',
    help: 'From sending a request to its whole answer',
    buckets: BUCKETS,
    registers,
  });
  const gauge = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Gauge({ name: `brand_enrich_${name}`, help, labelNames: [...labelNames], registers });
  const inFlight = gauge('in_flight', 'Requests under way in this process');
  const isServiceAway = gauge(
    'service_away',
    '1 while the service gives no good answers and is asked one request at a time',
  );
  const limit = gauge('limit', 'Requests that the account may send in this period: quota and overage', [
    'account',
  ]);
  const limitLeft = gauge(
    'limit_left',
    'Requests of the limit that are left, as this process last saw the account',
    ['account'],
  );
  const pace = gauge(
    'pace_per_second',
    'Requests per second that all workers of the account share; +Inf is unpaced',
    ['account'],
  );
  const queueDepth = gauge('queue_chunks', 'Chunks of up to 50 identifiers in the queue', ['state']);
  let worker: WatchedWorker | null = null;
  let readDepth: (() => Promise<QueueDepth>) | null = null;

  function readWorker({ inFlight: underWay, trouble, accounts }: WatchedWorker): void {
    inFlight.set(underWay);
    isServiceAway.set(trouble === null ? 0 : 1);
    for (const each of [limit, limitLeft, pace]) each.reset();
    for (const { account, state } of accounts()) {
      const room = roomOf(state);
      const most = limitOf(state);
      if (most !== null) limit.set({ account }, most);
      if (room !== null) limitLeft.set({ account }, room);
      pace.set({ account }, state.pace.rate ?? Number.POSITIVE_INFINITY);
    }
  }

  async function readQueue(read: () => Promise<QueueDepth>): Promise<void> {
    queueDepth.reset();
    const depth = await withinDeadline(
      read().catch(() => undefined),
      QUEUE_DEADLINE_MS,
    );
    // A depth that nobody knows is no depth of 0.
    for (const [state, chunks] of Object.entries(depth ?? {})) queueDepth.set({ state }, chunks);
  }

  return {
    contentType: registry.contentType,
    watchClient: (client) => ({
      async lookup(identifier, options) {
        const end = latency.startTimer();
        const answer = await client.lookup(identifier, options);
        end();
        lookups.inc({ outcome: answer.meaning.type });
        if (answer.cost !== 'free') billed.inc();
        return answer;
      },
    }),
    watchWorker(watched) {
      worker = watched;
    },
    watchQueue(depth) {
      readDepth = depth;
    },
    async text() {
      if (worker) readWorker(worker);
      if (readDepth) await readQueue(readDepth);
      return registry.metrics();
    },
  };
}

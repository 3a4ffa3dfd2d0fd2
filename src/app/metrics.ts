/** Metrics of a process, and of a run as a file. Names stay, because dashboards rely on them. */
import { readFile } from 'node:fs/promises';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Client } from '../brand-api/client.js';
import type { Meaning } from '../brand-api/read-answer.js';
import { succeeds, withinDeadline } from '../core/lifecycle.js';
import {
  createGuardedServer,
  type HttpListener,
  type ListenAddress,
  listenHttp,
} from '../core/listen-http.js';
import { phrase } from '../core/phrase.js';
import { replaceFile } from '../core/plain-file.js';
import type { ChunkCounts } from '../engine/engine.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf, roomOf } from '../ledger/policy.js';
import type { Document } from '../run/documents.js';
import { isOwnHost } from '../settings/address-values.js';
import type { LookupWorker } from '../worker/lookup-worker.js';

export type MetricsRegistry = ReturnType<typeof createMetrics>;

/** The labels of all meanings of an answer; each starts at 0. */
const OUTCOMES: Readonly<Record<Meaning['type'], string>> = {
  matched: 'matched',
  not_found: 'not_found',
  failed: 'failed',
  unusable: 'unusable',
  unavailable: 'unavailable',
  credentials: 'credentials',
  refused: 'refused',
};
/** Seconds: from a cached answer to a live crawl of 30 s, and the default time-out of 40 s. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 40];
const QUEUE_DEADLINE_MS = 1_000;
/** Probes give up after a second or two; an engine that takes longer counts as unavailable. */
const PROBE_MS = 1_000;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  let worker: Pick<LookupWorker, 'inFlight' | 'outage' | 'ledgerState'> | null = null;
  let account: string | null = null;
  let readDepth: (() => Promise<ChunkCounts>) | null = null;
  collectDefaultMetrics({ register: registry });
  const lookups = new Counter({
    name: 'brand_enrich_lookups_total',
    help:
      'Requests sent, by the meaning of the answer: matched, not_found, failed, unusable (damaged or ' +
      'lost, perhaps billed), unavailable (5xx or unreachable), credentials (401, 402, 403), refused ' +
      '(429)',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of Object.values(OUTCOMES)) lookups.inc({ outcome }, 0);
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
  const gauge = (name: string, help: string, labelNames: string[], fill: (gauge: Gauge) => unknown) =>
    new Gauge({
      name: `brand_enrich_${name}`,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        await fill(this);
      },
    });
  const gaugeOfAccounts = (name: string, help: string, read: (state: LedgerState) => number | null) =>
    gauge(name, help, ['account'], (each) => {
      const state = worker?.ledgerState() ?? null;
      const value = state && read(state);
      if (value !== null && account !== null) each.set({ account }, value);
    });
  gauge('in_flight', 'Requests under way in this process', [], (each) => each.set(worker?.inFlight ?? 0));
  const offline = '1 while the service gives no good answers and is asked one request at a time';
  gauge('service_offline', offline, [], (each) => each.set(worker?.outage ? 1 : 0));
  gaugeOfAccounts('limit', 'Requests that the account may send in this period: quota and overage', limitOf);
  const left = 'Requests left of the limit, as this process last saw the account';
  gaugeOfAccounts('limit_left', left, roomOf);
  gaugeOfAccounts(
    'pace_per_second',
    'Requests per second that all workers of the account share; +Inf is unpaced',
    ({ pace }) => pace.rate ?? Number.POSITIVE_INFINITY,
  );
  gauge('queue_chunks', 'Chunks of up to 200 identifiers in the queue', ['state'], async (each) => {
    const read = readDepth?.().catch(() => undefined);
    const depth = read && (await withinDeadline(read, QUEUE_DEADLINE_MS));
    // An unknown depth is not 0.
    for (const [state, chunks] of Object.entries(depth ?? {})) each.set({ state }, chunks);
  });

  return {
    contentType: registry.contentType,
    watchClient: (client: Client): Client => ({
      async lookup(identifier, options) {
        const end = latency.startTimer();
        const answer = await client.lookup(identifier, options);
        end();
        lookups.inc({ outcome: OUTCOMES[answer.meaning.type] });
        if (answer.cost !== 'free') billed.inc();
        return answer;
      },
    }),
    /** `spentFrom`: the name of the account that this worker spends from. */
    watchWorker(watched: NonNullable<typeof worker>, spentFrom: string) {
      worker = watched;
      account = spentFrom;
    },
    /** Reads `depth` at each scrape, and omits a value that takes more than a second. */
    watchQueue(depth: () => Promise<ChunkCounts>) {
      readDepth = depth;
    },
    /** Returns the Prometheus text format. Never rejects because of the engine. */
    text: () => registry.metrics(),
  };
}

export interface MetricsServerOptions extends Pick<ListenAddress, 'host' | 'port'> {
  readonly metrics: Pick<MetricsRegistry, 'text' | 'contentType'>;
  /** Rejects, or takes more than a second, while the engine does not answer. */
  readonly askEngine: () => Promise<unknown>;
  /** Aborted when the process is no longer ready. */
  readonly stop: AbortSignal;
}

/** Serves metrics and probes. Throws `RunError` if the server cannot listen. */
export function serveMetrics(options: MetricsServerOptions): Promise<HttpListener> {
  const { host, port, metrics, askEngine, stop } = options;
  let asking: Promise<boolean> | null = null;
  /** Returns why this process is not ready, or null. Probes of one moment share one look. */
  const whyNotReady = async () => {
    if (stop.aborted) return 'stopping';
    asking ??= succeeds(askEngine()).finally(() => {
      asking = null;
    });
    return (await withinDeadline(asking, PROBE_MS)) === true ? null : 'the engine does not answer';
  };
  const app = new Hono();
  app.use(async (context, next) => {
    context.header('cache-control', 'no-store');
    const { url } = context.req;
    if (!URL.canParse(url) || !isOwnHost(new URL(url).hostname, host, [])) {
      const todo = 'use an IP address, or the name that the setting metricsHost gives';
      return context.text(`the host name of the request is not allowed: ${todo}\n`, 421);
    }
    const isRead = ['GET', 'HEAD'].includes(context.req.method);
    return isRead ? next() : context.text('only GET is answered\n', 405);
  });
  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
  app.get('/healthz', (context) => context.text('alive\n'));
  app.get('/readyz', async (context) => {
    const whyNot = await whyNotReady();
    return whyNot === null ? context.text('ready\n') : context.text(`${whyNot}\n`, 503);
  });
  app.notFound((context) => context.text('not found; use /metrics, /healthz or /readyz\n', 404));
  const server = createGuardedServer(getRequestListener(app.fetch, { hostname: 'localhost' }));
  const todo = phrase`choose another ${{ setting: 'metricsPort' }} or ${{ setting: 'metricsHost' }}`;
  return listenHttp(server, { host, port, purpose: 'metrics', todo });
}

export interface EndedRun {
  /** As the command names it: the label that tells several jobs apart. */
  readonly input: string;
  readonly exitCode: number;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  /** null if the run failed before its report. */
  readonly report: Document<'report'> | null;
}

const LAST_COMPLETE = 'brand_enrich_run_last_complete_timestamp_seconds';

/** Returns only our metrics, as others clash with node_exporter's. `lastComplete`: in seconds. */
export function metricsText(ended: EndedRun, lastComplete: number | null): Promise<string> {
  const { input, exitCode, endedAt, report } = ended;
  const registry = new Registry();
  const put = (
    name: string,
    help: string,
    values: Readonly<Record<string, number | null>>,
    label?: string,
  ) => {
    const labelNames = label === undefined ? ['input'] : ['input', label];
    const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
    for (const [key, value] of Object.entries(values))
      if (value !== null) gauge.set(label === undefined ? { input } : { input, [label]: key }, value);
  };
  const one = (name: string, help: string, value: number | null) => put(name, help, { value });
  const seconds = endedAt / 1_000;
  const isComplete = report?.run.isComplete === true;
  one('brand_enrich_run_end_timestamp_seconds', 'When the last run ended', seconds);
  one(LAST_COMPLETE, 'When the last complete run ended', isComplete ? seconds : lastComplete);
  one('brand_enrich_run_exit_code', 'Exit code of the last run; 7: stopped, run it again', exitCode);
  if (report === null) return registry.metrics();
  const { sent, billed, unreported, overage, overageCost, savedByStored } = report.requests;
  one('brand_enrich_run_duration_seconds', 'Duration of the last run', report.seconds);
  put('brand_enrich_run_rows', 'Rows by status', report.rows, 'status');
  put(
    'brand_enrich_run_requests',
    'Requests by type: saved are answered from the store',
    { sent, billed, unreported, overage, saved: savedByStored },
    'type',
  );
  one('brand_enrich_run_overage_cost', 'Money for requests beyond the quota', Number(overageCost));
  const { limit = null, left = null } = report.account ?? {};
  one('brand_enrich_run_limit', 'Requests that the account may send in this period', limit);
  one('brand_enrich_run_limit_left', 'Requests left of the limit when the run ended', left);
  return registry.metrics();
}

/** Replaces the file in one step. Throws errors of the file system. */
export async function writeMetricsFile(path: string, ended: EndedRun): Promise<void> {
  const earlier = await readFile(path, 'utf8').catch(() => '');
  const pattern = new RegExp(`^${LAST_COMPLETE}(?:\\{[^\\n]*\\})? (\\d+(?:\\.\\d+)?)$`, 'm');
  const lastComplete = pattern.exec(earlier)?.[1];
  const text = await metricsText(ended, lastComplete === undefined ? null : Number(lastComplete));
  await replaceFile(path, text, { isShared: true });
}

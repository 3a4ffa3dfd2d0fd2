/** What Prometheus reads, over real HTTP. */
import { get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createMetrics,
  type MetricsRegistry,
  type MetricsServerOptions,
  serveMetrics,
} from '../../src/app/metrics.js';
import { ledgerState } from '../run/ledger-state.js';
import { answering } from '../support/answering-client.js';
import { deferred } from '../support/deferred.js';
import { scrape } from './scrape.js';

const NOT_STOPPED = new AbortController().signal;

async function served(metrics: MetricsRegistry, some: Partial<MetricsServerOptions> = {}): Promise<string> {
  const defaults = { host: '127.0.0.1', port: 0, askEngine: async () => undefined, stop: NOT_STOPPED };
  const server = await serveMetrics({ ...defaults, metrics, ...some });
  onTestFinished(() => server.close());
  return server.url;
}

const MATCHED = {
  meaning: { type: 'matched', body: Buffer.from('{}'), text: '{}', brand: {} },
  cost: 'billed',
} as const;
const MISSING = {
  meaning: { type: 'not_found', status: 404, retryLater: false, evidence: 'own' },
  cost: 'billed',
} as const;
const UNAVAILABLE = {
  meaning: { type: 'unavailable', reason: '503', retryAfterMs: null },
  cost: 'free',
} as const;
const DAMAGED = { meaning: { type: 'unusable', reason: 'no JSON' }, cost: 'maybe_billed' } as const;

const OPTIONS = { allowNsfw: 'unset', freeStatuses: [] } as const;
const ACME = { kind: 'domain', value: 'acme.com' } as const;

describe('lookups', () => {
  it('are counted by outcome, billed and timed, and the answer is passed on', async () => {
    const metrics = createMetrics();
    const url = `${await served(metrics)}/metrics`;
    const client = metrics.watchClient(answering(MATCHED, MATCHED, MISSING, UNAVAILABLE, DAMAGED));
    for (let at = 0; at < 5; at += 1) await client.lookup(ACME, OPTIONS);
    expect(await client.lookup(ACME, OPTIONS)).toMatchObject(MATCHED);
    const { value } = await scrape(url);
    const lookups = (outcome: string) => value('brand_enrich_lookups_total', { outcome });
    expect(['matched', 'not_found', 'unavailable', 'unusable', 'refused'].map(lookups)).toEqual([
      3, 1, 1, 1, 0,
    ]);
    expect(value('brand_enrich_billed_total')).toBe(5);
    expect(value('brand_enrich_lookup_duration_seconds_count')).toBe(6);
    expect(value('brand_enrich_lookup_duration_seconds_bucket', { le: '+Inf' })).toBe(6);
  });

  it('are reported as 0 before the first', async () => {
    const { value, type } = await scrape(`${await served(createMetrics())}/metrics`);
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(value('brand_enrich_lookups_total', { outcome: 'credentials' })).toBe(0);
    expect(value('brand_enrich_limit_left', { account: 'team' })).toBeUndefined();
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  it('of two processes are kept apart', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    await one.watchClient(answering(MATCHED)).lookup(ACME, OPTIONS);
    expect((await scrape(`${await served(two)}/metrics`)).value('brand_enrich_billed_total')).toBe(0);
  });
});

describe('gauges', () => {
  it('are evaluated when they are scraped', async () => {
    const metrics = createMetrics();
    const url = `${await served(metrics)}/metrics`;
    const pace = { ...ledgerState().pace, rate: 90 };
    let state = ledgerState({ quota: 100, overage: 10, sent: 20, held: 5, others: 7, pace });
    const worker = { inFlight: 3, outage: null as string | null, ledgerState: () => state };
    metrics.watchWorker(worker, 'team');
    const look = async () => {
      const { value } = await scrape(url);
      const ofAccount = ['limit', 'limit_left', 'pace_per_second'].map((name) =>
        value(`brand_enrich_${name}`, { account: 'team' }),
      );
      return [value('brand_enrich_in_flight'), value('brand_enrich_service_offline'), ...ofAccount];
    };
    expect(await look()).toEqual([3, 0, 110, 78, 90]);
    worker.inFlight = 0;
    worker.outage = 'status 503';
    state = ledgerState();
    // No quota is known, and no pace is set.
    expect(await look()).toEqual([0, 1, undefined, undefined, Number.POSITIVE_INFINITY]);
  });

  it('report the depth of the queue, and omit it while it is unknown', async () => {
    const metrics = createMetrics();
    const url = `${await served(metrics)}/metrics`;
    const depth = { waiting: 4, active: 2, delayed: 1 };
    metrics.watchQueue(async () => depth);
    const known = await scrape(url);
    expect(
      ['waiting', 'active', 'delayed'].map((state) => known.value('brand_enrich_queue_chunks', { state })),
    ).toEqual([4, 2, 1]);
    metrics.watchQueue(async () => Promise.reject(new Error('the engine is away')));
    const unknown = await scrape(url);
    expect(unknown.status).toBe(200);
    expect(unknown.value('brand_enrich_queue_chunks', { state: 'waiting' })).toBeUndefined();
  });
});

describe('health', () => {
  it('has its own paths', async () => {
    const url = await served(createMetrics());
    expect(await scrape(`${url}/healthz?probe=1`)).toMatchObject({ status: 200, text: 'alive\n' });
    expect(await scrape(`${url}/readyz`)).toMatchObject({ status: 200, text: 'ready\n' });
    expect((await scrape(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    const head = await fetch(`${url}/readyz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('is not ready while the engine refuses or hangs, but alive', async () => {
    let ask: () => Promise<unknown> = async () => Promise.reject(new Error('refused'));
    const url = await served(createMetrics(), { askEngine: () => ask() });
    expect(await scrape(`${url}/readyz`)).toMatchObject({
      status: 503,
      text: 'the engine does not answer\n',
    });
    const answer = deferred();
    let asked = 0;
    ask = () => {
      asked += 1;
      return answer.promise;
    };
    const silent = await Promise.all([1, 2, 3].map(() => scrape(`${url}/readyz`)));
    expect(silent.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(asked).toBe(1);
    expect((await scrape(`${url}/healthz`)).status).toBe(200);
    answer.resolve();
    ask = async () => undefined;
    await expect.poll(async () => (await scrape(`${url}/readyz`)).status).toBe(200);
  });

  it('is not ready after a request to stop', async () => {
    const url = await served(createMetrics(), { stop: AbortSignal.abort() });
    expect(await scrape(`${url}/readyz`)).toMatchObject({ status: 503, text: 'stopping\n' });
  });
});

/** `fetch` always sends the right one. */
const statusFor = (url: string, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    get(`${url}/metrics`, { headers: { host }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });

it.each([
  ['127.0.0.1', 'localhost:9464', 200],
  ['127.0.0.1', '10.0.0.7', 421],
  ['0.0.0.0', 'up.team.svc.cluster.local:9464', 200],
  ['0.0.0.0', 'evil.example', 421],
])('a server on %s answers the Host header %s with %i', async (host, named, status) => {
  const url = (await served(createMetrics(), { host })).replace('0.0.0.0', '127.0.0.1');
  expect(await statusFor(url, named)).toBe(status);
});

/** A setting for real chunks: an engine on Redis, the local service, runs and workers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Client, createClient } from '../../src/brand-api/client.js';
import type { Answer } from '../../src/brand-api/read-answer.js';
import { type Clock, systemClock } from '../../src/core/clock.js';
import { createReleasers } from '../../src/core/lifecycle.js';
import { silentLog } from '../../src/core/log.js';
import type { ChunkData } from '../../src/engine/engine.js';
import { openRedisEngine } from '../../src/engine/redis/open-redis-engine.js';
import { outcomeKeys } from '../../src/engine/stores/outcome-key.js';
import type { RunHalt } from '../../src/engine/stores/run-reasons.js';
import { freshnessOf, type RunRecord, type RunSettings } from '../../src/engine/stores/run-store.js';
import { SharedGovernor } from '../../src/ledger/governor.js';
import { parseAccounts } from '../../src/local-service/accounts.js';
import { Catalogue } from '../../src/local-service/catalogue.js';
import { LocalService } from '../../src/local-service/local-service.js';
import { sendTo } from '../../src/local-service/service-request.js';
import { createAddressTrust } from '../../src/worker/address-trust.js';
import { Breaker } from '../../src/worker/breaker.js';
import {
  createLookupWorker,
  type LookupWorker,
  type LookupWorkerOptions,
} from '../../src/worker/lookup-worker.js';
import { createRecorder } from '../../src/worker/recorder.js';
import { RefusalSeries } from '../../src/worker/refusal-series.js';
import type { ChunkContext } from '../../src/worker/resolve-chunk.js';
import { createRunTallies } from '../../src/worker/run-tallies.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { temporaryFolder, temporaryPlace } from '../support/temporary-folder.js';

export const SERVICE = 'http://service.example';
export const keyOf = outcomeKeys(SERVICE, 'unset');
const QUEUE = 'lookups-test';
const OWN_DOMAIN = 'own.example';

export type Workplace = Awaited<ReturnType<typeof openWorkplace>>;

/** `domain:b<from>.com` and on: the catalogue has them up to 999. */
export function brands(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, at) => `domain:b${from + at}.com`);
}

export function chunkOf(run: RunRecord, identifiers: readonly string[], some: Partial<ChunkData> = {}) {
  return { run: run.id, chunk: 0, identifiers, attempts: {}, ...some };
}

/** A clock whose waits take no time: quick retries belong to the policy, not to these tests. */
const hastyClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  sleep: async (_ms, signal) => signal?.throwIfAborted(),
};

/** A client that answers by the identifier's value and counts requests. */
export function scriptedClient(
  answer: (value: string, count: number) => Answer | Promise<Answer>,
): Client & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    async lookup({ value }) {
      asked.push(value);
      return answer(value, asked.filter((each) => each === value).length);
    },
  };
}

/** `service` and `account`: default, those of its runs. */
type WorkerOptions = Pick<LookupWorkerOptions, 'client' | 'spoolFolder'> & Partial<LookupWorkerOptions>;

/** Each has the server to itself, under a namespace of its own. */
async function openWorkplace(redisUrl: string, namespace: string) {
  const releasers = createReleasers();
  const log = silentLog();
  const engine = await openRedisEngine({ url: redisUrl, namespace, log });
  releasers.push(() => engine.close());
  const { path, remove } = await temporaryPlace();
  releasers.push(remove);
  const journalFile = join(path, 'billed.jsonl');
  const service = new LocalService({
    catalogue: tinyCatalogue(),
    accounts: parseAccounts(
      JSON.stringify({ accounts: [{ name: 'test', token: 'token', plan: 'free', quota: 100_000 }] }),
      'test',
    ),
    ownDomain: OWN_DOMAIN,
    clock: systemClock,
    log,
    journalFile,
  });
  releasers.push(() => service.close());
  const inProcess = createClient(sendTo(service), 'token');
  const queue = engine.openQueue(QUEUE);
  releasers.push(() => queue.close());

  return {
    engine,
    queue,
    releasers,
    /** How often the service billed each identifier (`kind:value`). */
    get billed(): ReadonlyMap<string, number> {
      const counts = new Map<string, number>();
      for (const line of readFileSync(journalFile, 'utf8').split('\n').slice(0, -1)) {
        const { kind, identifier } = JSON.parse(line);
        counts.set(`${kind}:${identifier}`, (counts.get(`${kind}:${identifier}`) ?? 0) + 1);
      }
      return counts;
    },
    /** The local service; calls `before` each time. */
    client: (before?: (value: string) => Promise<void> | void): Client => ({
      async lookup(identifier, options) {
        await before?.(identifier.value);
        return inProcess.lookup(identifier, options);
      },
    }),
    startRun: (id: string, settings: Partial<RunSettings> = {}) =>
      engine.runs.start({
        id,
        key: `key of ${id}`,
        label: { host: 'etl-1', name: 'test' },
        settings: runSettings({ service: SERVICE, ...settings }),
      }),
    /** What `resolveChunk` needs, as a worker of this name. */
    async context(worker: string, client: Client, some: Partial<ChunkContext> = {}): Promise<ChunkContext> {
      await engine.outcomes.heartbeat(worker);
      const shared = { worker, clock: hastyClock, log };
      const halts = new Map<string, RunHalt>();
      const governor = new SharedGovernor({
        ...shared,
        clock: systemClock,
        ledger: engine.ledger,
        spool: createRecorder({
          ...shared,
          store: engine.outcomes,
          spoolFolder: await temporaryFolder(),
          stop: new AbortController().signal,
        }),
        account: 'account',
        timeoutMs: 40_000,
        usageLagMs: 60_000,
      });
      releasers.push(() => governor.close(1_000));
      return {
        engine,
        client,
        governor,
        breaker: new Breaker(),
        addressTrust: createAddressTrust(SERVICE, engine.runs),
        keepFailure: (run, failure) => engine.runs.fail(run, [failure]),
        refusals: new RefusalSeries(),
        gauge: { inFlight: 0, sent: 0, cutOff: 0, outage: null, retryAt: 0 },
        halts,
        async halt(run, halt) {
          halts.set(run, halt);
          await engine.runs.halt(run, halt);
        },
        underWay: new Set(),
        turns: { last: Promise.resolve() },
        tallies: createRunTallies(engine.runs, systemClock),
        limit: pLimit(64),
        ...shared,
        ...some,
      };
    },
    /** A worker that takes chunks from the queue; not started. */
    openWorker({ concurrency = 8, ...some }: WorkerOptions): LookupWorker {
      const worker = createLookupWorker({
        engine,
        queueName: QUEUE,
        service: SERVICE,
        account: 'account',
        concurrency,
        timeoutMs: 40_000,
        usageLagMs: 60_000,
        clock: systemClock,
        log,
        ...some,
      });
      releasers.push(() => worker.stop(2_000));
      return worker;
    },
    async addChunk(run: string, chunk: number, identifiers: readonly string[]): Promise<void> {
      await queue.add('chunk', { run, chunk, identifiers, attempts: {} }, { jobId: `${run}-${chunk}` });
    },
    /** Whether each identifier has a stored answer that is fresh for the run. */
    async statuses(run: RunRecord, identifiers: readonly string[]) {
      const keys = identifiers.map(keyOf);
      const found = await engine.outcomes.read(keys, freshnessOf(run));
      return found.map((outcome) => outcome?.status ?? null);
    },
  };
}

function tinyCatalogue() {
  const index = new Catalogue();
  const none = { domain: [], ticker: [], isin: [], crypto: [], id: [] };
  for (let line = 1; line <= 1_000; line += 1) {
    const domain = line === 1_000 ? OWN_DOMAIN : `b${line - 1}.com`;
    const body = Buffer.from(
      JSON.stringify({ id: `id_${line}`, name: `Brand of ${domain}`, qualityScore: 0.5 }),
    );
    index.add({ body, adult: 'none', line, keys: { ...none, domain: [domain] } });
  }
  return index;
}

/** Registers the hooks of a suite on one Redis server. Places end with the test that opens them. */
export function usePlaces(name: string): () => Promise<Workplace> {
  let redis: RedisServer | null = null;
  const places: Workplace[] = [];
  let opened = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  afterEach(async () => {
    for (const place of places.splice(0).reverse()) await place.releasers.releaseAll();
  });
  return async () => {
    opened += 1;
    const place = await openWorkplace(redis?.url ?? '', `${name}-${opened}`);
    places.push(place);
    return place;
  };
}

/** Servers, engines and a run with claims, for tests of Redis alone. */
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import type { Engine } from '../../../src/engine/engine.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { freshnessOf } from '../../../src/engine/stores/run-store.js';
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { exchangeRequest, runSettings } from '../contract/run-settings.js';

export async function beginRun(engine: Engine, keys: number) {
  const run = await engine.runs.start({
    id: 'run',
    key: 'key',
    label: { host: 'etl-1', name: 'test' },
    settings: runSettings(),
  });
  const names = Array.from({ length: keys }, (_, index) => `k:u:domain:${index}.example`);
  await engine.outcomes.claim('worker', names, freshnessOf(run));
  return {
    keys: names,
    request: (some: Partial<ExchangeRequest> = {}) =>
      exchangeRequest({ account: 'account', worker: 'worker', run: 'run', ...some }),
  };
}

/** Retries until it succeeds, like a caller does while the engine is unreachable. */
export async function untilAnswered<T>(action: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (tries > 2_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** A server of the running test. */
export async function startServer(...args: readonly string[]): Promise<RedisServer> {
  const redis = await startRedis({ args });
  onTestFinished(() => redis.stop());
  return redis;
}

/** An engine of the running test, and a client beside it. */
export async function openAt(url: string): Promise<Engine> {
  const engine = await openRedisEngine({ url, log: silentLog() });
  onTestFinished(() => engine.close());
  return engine;
}

export function clientAt(url: string): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}

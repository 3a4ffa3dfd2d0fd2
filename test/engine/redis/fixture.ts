/** A run with claims on a Redis engine, for tests of Redis alone. */
import type { Engine } from '../../../src/engine/engine.js';
import { freshnessOf } from '../../../src/engine/stores/run-store.js';
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';
import { exchangeRequest, runSettings } from '../contract/run-settings.js';

export interface RunFixture {
  readonly keys: readonly string[];
  request(some?: Partial<ExchangeRequest>): ExchangeRequest;
}

export async function beginRun(engine: Engine, keys: number): Promise<RunFixture> {
  const run = await engine.runs.start({
    id: 'run',
    key: 'key',
    label: { host: 'etl-1', name: 'test' },
    settings: runSettings(),
  });
  const names = Array.from({ length: keys }, (_, index) => `k:u:domain:${index}.example`);
  await engine.outcomes.claim({ worker: 'worker', run: 'run', keys: names, freshness: freshnessOf(run) });
  return {
    keys: names,
    request: (some = {}) => exchangeRequest({ account: 'account', worker: 'worker', run: 'run', ...some }),
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

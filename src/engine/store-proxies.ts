/**
 * Stores, and the engine of a run, whose calls another process answers: the one that holds the embedded engine. What
 * can be called is `store-calls.ts`'s, how a message gets there is the caller's.
 */
import type { OutcomeKey, StoredOutcome } from '../outcomes/store.js';
import type { ChunkLine, Engine, RunEngine } from './engine.js';
import {
  CALLABLE,
  type CallableStore,
  LINE_METHODS,
  type StoreCall,
  type StoreReply,
} from './store-calls.js';
import type { EngineStores } from './stores.js';
import { packValue, unpackValue } from './wire-values.js';

/** Carries a call to the process that has the engine. Throws what the call throws there, and when nobody answers. */
export type AskStore = (call: StoreCall) => Promise<StoreReply>;

/** Keys of one call: its line stays short, and a run with many is not in the way of others for long. */
const READ_AT_ONCE = 500;

/** The stores that commands beside a run need. */
export function createStoreProxies(address: string, ask: AskStore): EngineStores {
  return {
    kind: 'embedded',
    address,
    ledger: proxyOf('ledger', ask),
    outcomes: outcomesOf(ask),
    runs: proxyOf('runs', ask),
    notes: proxyOf('notes', ask),
    ticks: proxyOf('ticks', ask),
    warnings: [],
    close: async () => undefined,
    queueCounts: (name) => lineOf(name, ask).counts(),
  };
}

/** The engine of a run whose lookups are done where the engine is open. */
export function createRunEngineProxy(address: string, ask: AskStore): RunEngine {
  return {
    kind: 'embedded',
    address,
    ledger: proxyOf('ledger', ask),
    outcomes: outcomesOf(ask),
    runs: proxyOf('runs', ask),
    openLine: (name) => lineOf(name, ask),
    freeMemory: async () => null,
  };
}

type Callable<S extends CallableStore> = Pick<
  NonNullable<Engine[S]>,
  MethodsOf<S> & keyof NonNullable<Engine[S]>
>;
type MethodsOf<S extends CallableStore> = (typeof CALLABLE)[S][number];

/** The methods of a store that can be called. */
export function proxyOf<S extends CallableStore>(store: S, ask: AskStore): Callable<S> {
  const methods: readonly string[] = CALLABLE[store];
  return methodsOf(methods, (method, args) => ask({ store, method, args })) as unknown as Callable<S>;
}

function lineOf(name: string, ask: AskStore): ChunkLine {
  const methods = methodsOf(LINE_METHODS, (method, args) =>
    ask({ store: 'line', method, args: [name, ...args] }),
  );
  return { ...(methods as unknown as Omit<ChunkLine, 'close'>), close: async () => undefined };
}

function methodsOf(
  names: readonly string[],
  call: (method: string, args: readonly unknown[]) => Promise<StoreReply>,
): Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (...args: readonly unknown[]) => unpackValue((await call(name, args.map(packValue))).value),
    ]),
  );
}

function outcomesOf(ask: AskStore): Callable<'outcomes'> {
  const proxy = proxyOf('outcomes', ask);
  return {
    ...proxy,
    async read(keys: readonly OutcomeKey[], freshness) {
      const found: (StoredOutcome | null)[] = [];
      let size = READ_AT_ONCE;
      while (found.length < keys.length) {
        const asked = keys.slice(found.length, found.length + size);
        const part = await proxy.read(asked, freshness);
        if (part.length === 0) throw new Error('the process that holds the state folder gave no answers');
        found.push(...part);
        // Where answers are long, what would be left out is not looked up for nothing.
        size = Math.min(READ_AT_ONCE, part.length * 2);
      }
      return found;
    },
  };
}

/**
 * Calls to an engine's stores as messages, so that a second process can use the stores of the one that holds the
 * embedded engine. Answers that hold bytes travel as base64. Only methods that are named here can be called.
 */
import type { Engine } from './engine.js';
import type { EngineStores } from './stores.js';

const CALLABLE = {
  ledger: ['show', 'observe', 'reset', 'setPaused'],
  outcomes: ['read', 'stats', 'forget', 'purge'],
  runs: ['get', 'list', 'cancel'],
  notes: ['put', 'list', 'remove', 'claim'],
  ticks: ['list', 'set', 'remove', 'addNow'],
} as const;

interface StoreCall {
  readonly store: keyof typeof CALLABLE;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Answers a message of {@link proxyStores}. Throws plain errors for anything else. */
export async function answerStoreCall(engine: Engine, message: unknown): Promise<unknown> {
  const { store, method, args } = message as StoreCall;
  if (!(CALLABLE[store] as readonly string[] | undefined)?.includes(method)) {
    throw new Error('the process that holds the state folder does not know this request');
  }
  const target = engine[store] as unknown as Record<
    string,
    (...args: readonly unknown[]) => Promise<unknown>
  >;
  return pack(await target[method]?.(...args));
}

/** Stores whose calls `ask` carries to the process that has the engine. */
export function proxyStores(address: string, ask: (message: unknown) => Promise<unknown>): EngineStores {
  const proxy = (store: keyof typeof CALLABLE) =>
    Object.fromEntries(
      CALLABLE[store].map((method) => [
        method,
        async (...args: readonly unknown[]) => unpack(await ask({ store, method, args } satisfies StoreCall)),
      ]),
    );
  return {
    kind: 'embedded',
    address,
    // The methods that are left out spend or record: a proxy is for looking and for orders.
    ledger: proxy('ledger') as unknown as EngineStores['ledger'],
    outcomes: proxy('outcomes') as unknown as EngineStores['outcomes'],
    runs: proxy('runs') as unknown as EngineStores['runs'],
    notes: proxy('notes') as unknown as EngineStores['notes'],
    ticks: proxy('ticks') as unknown as EngineStores['ticks'],
    warnings: [],
    close: async () => undefined,
    queueCounts: async () => null,
  };
}

interface PackedBytes {
  readonly bytes64: string;
}

function pack(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { bytes64: value.toString('base64') } satisfies PackedBytes;
  if (Array.isArray(value)) return value.map(pack);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, pack(each)]));
}

function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== 'object' || value === null) return value;
  const { bytes64 } = value as Partial<PackedBytes>;
  if (typeof bytes64 === 'string') return Buffer.from(bytes64, 'base64');
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpack(each)]));
}

/** The stores of an engine over its operations, the same on Redis and PostgreSQL, and its id. */
import { createHash, randomBytes } from 'node:crypto';
import { flag } from '../core/shapes.js';
import type { Engine } from './engine.js';
import { createLedger } from './ledger-calls.js';
import { createOutcomes } from './outcome-calls.js';
import { createRuns } from './run-calls.js';
import { nothing, type StoreCalls, some, storableText, unreadable } from './store-calls.js';
import { entryShape, type KeyValueStore } from './stores/key-value-store.js';

export function createStores(
  calls: StoreCalls,
): Pick<Engine, 'ledger' | 'outcomes' | 'runs' | 'keyValues' | 'roundTrips'> {
  return {
    ledger: createLedger(calls),
    outcomes: createOutcomes(calls),
    runs: createRuns(calls),
    keyValues: createKeyValues(calls),
    roundTrips: calls.roundTrips,
  };
}

function createKeyValues({ call }: StoreCalls): KeyValueStore {
  return {
    put: (scope, name, given) => call(nothing, 'put_value', scope, name, storableText(given)),
    async list(scope) {
      const entries = await call(some(entryShape), 'list_values', scope);
      return [...entries].sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    remove: (scope, name, given) =>
      call(flag, 'remove_value', scope, name, given === null ? null : storableText(given)),
    claim: (scope, name, given, deadAfterMs) =>
      call(flag, 'claim_value', scope, name, storableText(given), deadAfterMs),
  };
}

const ENGINE_ID = { scope: 'engine', name: 'id' } as const;

/**
 * Returns the engine's random id, so that files for one engine are not taken for another's. The
 * first caller gives the engine its id; with `isReadOnly`, returns an empty text instead.
 */
export async function engineId(keyValues: KeyValueStore, isReadOnly = false): Promise<string> {
  const known = await readEngineId(keyValues);
  if (known !== null || isReadOnly) return known ?? '';
  await keyValues.claim(ENGINE_ID.scope, ENGINE_ID.name, randomBytes(8).toString('hex'), null);
  const id = await readEngineId(keyValues);
  if (id !== null) return id;
  throw unreadable('its id');
}

/** The id; null before the first use of the engine. */
export async function readEngineId(keyValues: Pick<KeyValueStore, 'list'>): Promise<string | null> {
  const entry = (await keyValues.list(ENGINE_ID.scope)).find(({ name }) => name === ENGINE_ID.name);
  if (entry === undefined || /^[0-9a-f]{16}$/.test(entry.text)) return entry?.text ?? null;
  // Folders are named by it: another program that wrote one does not choose a path.
  return createHash('sha256').update(entry.text).digest('hex').slice(0, 16);
}

/** The stores of an engine over its operations, the same on Redis and PostgreSQL, and its id. */
import { createHash, randomBytes } from 'node:crypto';
import { createLedger } from './ledger-calls.js';
import { createRuns } from './run-calls.js';
import { createKeyValues, type KeyValueStore } from './stores/key-value-store.js';
import { createOutcomes } from './stores/outcome-store.js';
import { type StoreCalls, unreadable } from './stores/store-calls.js';

export function createStores(calls: StoreCalls) {
  return {
    ledger: createLedger(calls),
    outcomes: createOutcomes(calls),
    runs: createRuns(calls),
    keyValues: createKeyValues(calls),
    roundTrips: calls.roundTrips,
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

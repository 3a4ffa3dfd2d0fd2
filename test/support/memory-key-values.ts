/** A key-value store in memory, dated by the test's clock; every call completes at once. */
import type { KeyValueStore } from '../../src/engine/stores/key-value-store.js';

export function createMemoryKeyValues(now: () => number): KeyValueStore {
  const scopes = new Map<string, Map<string, { text: string; at: number }>>();
  const notesOf = (scope: string) => {
    const values = scopes.get(scope) ?? new Map();
    scopes.set(scope, values);
    return values as Map<string, { text: string; at: number }>;
  };
  return {
    async put(scope, name, text) {
      notesOf(scope).set(name, { text, at: now() });
    },
    async list(scope) {
      return [...notesOf(scope)]
        .map(([name, { text, at }]) => ({ name, text, ageMs: Math.max(0, now() - at) }))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async remove(scope, name, text) {
      const known = notesOf(scope).get(name);
      return known !== undefined && (text === null || known.text === text) && notesOf(scope).delete(name);
    },
    async claim(scope, name, text, deadAfterMs) {
      const known = notesOf(scope).get(name);
      const isFree =
        known === undefined ||
        known.text === text ||
        (deadAfterMs !== null && now() - known.at > deadAfterMs);
      if (isFree) notesOf(scope).set(name, { text, at: now() });
      return isFree;
    },
  };
}

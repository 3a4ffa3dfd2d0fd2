/** The `KeyValueStore`: short texts by scope and name, dated by the store's clock; atomic. */
import { flag, number, object, type Shaped, text } from '../../core/shapes.js';
import { nothing, type StoreCalls, some, storableText } from './store-calls.js';

const entryShape = object({
  name: text,
  text,
  /** How long ago it was written, by the store's clock. Milliseconds, never negative. */
  ageMs: number,
});
export type Entry = Shaped<typeof entryShape>;

export type KeyValueStore = ReturnType<typeof createKeyValues>;

export function createKeyValues({ call }: StoreCalls) {
  return {
    /** Writes an entry, in place of an earlier one. */
    put: (scope: string, name: string, given: string) =>
      call(nothing, 'put_value', scope, name, storableText(given)),
    async list(scope: string): Promise<Entry[]> {
      const entries = await call(some(entryShape), 'list_values', scope);
      return [...entries].sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    /** Removes an entry, only with this text unless null. False when there was none to remove. */
    remove: (scope: string, name: string, given: string | null) =>
      call(flag, 'remove_value', scope, name, given === null ? null : storableText(given)),
    /** Writes where none, the same, or one older than `deadAfterMs` (null: never); true: done. */
    claim: (scope: string, name: string, given: string, deadAfterMs: number | null) =>
      call(flag, 'claim_value', scope, name, storableText(given), deadAfterMs),
  };
}

/** The `KeyValueStore`: short texts by scope and name. Each call is atomic. */
import { flag, number, object, type Shaped, text } from '../../core/shapes.js';
import { nothing, type StoreCalls, some, storableText } from './store-calls.js';

const entryShape = object({
  name: text,
  text,
  /** Milliseconds since the entry was written, by the store's clock; never negative. */
  ageMs: number,
});
export type Entry = Shaped<typeof entryShape>;

export type KeyValueStore = ReturnType<typeof createKeyValues>;

export function createKeyValues({ call }: StoreCalls) {
  return {
    /** Writes or replaces an entry. */
    put: (scope: string, name: string, given: string) =>
      call(nothing, 'put_value', scope, name, storableText(given)),
    async list(scope: string): Promise<Entry[]> {
      const entries = await call(some(entryShape), 'list_values', scope);
      return [...entries].sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    /** Removes an entry, if `given` is null or its text. Returns false if it removed nothing. */
    remove: (scope: string, name: string, given: string | null) =>
      call(flag, 'remove_value', scope, name, given === null ? null : storableText(given)),
    /**
     * Writes an entry unless another text holds the name, and returns true if it wrote. Another
     * text that is older than `deadAfterMs` is replaced; with null it never is.
     */
    claim: (scope: string, name: string, given: string, deadAfterMs: number | null) =>
      call(flag, 'claim_value', scope, name, storableText(given), deadAfterMs),
  };
}

/** The `KeyValueStore` seam: short texts by scope and name, dated by the store's clock; atomic. */
import { number, object, type Shaped, text } from '../../core/shapes.js';

export const entryShape = object({
  name: text,
  text,
  /** How long ago it was written, by the store's clock. Milliseconds, never negative. */
  ageMs: number,
});
export type Entry = Shaped<typeof entryShape>;

export interface KeyValueStore {
  /** Writes an entry, in place of an earlier one. */
  put(scope: string, name: string, text: string): Promise<void>;
  list(scope: string): Promise<Entry[]>;
  /** Removes an entry; with `text` only when it says that. False when there was none to remove. */
  remove(scope: string, name: string, text: string | null): Promise<boolean>;
  /** Writes where none, the same, or one older than `deadAfterMs` (null: never); true: done. */
  claim(scope: string, name: string, text: string, deadAfterMs: number | null): Promise<boolean>;
}

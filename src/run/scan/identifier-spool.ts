/**
 * The distinct identifiers of a file on disk, numbered as they first appear; about 25 bytes each in
 * memory. The first ones are recognised by their text, which is fast, the others by a 128-bit hash.
 */
import { hash } from 'node:crypto';
import { grown, type SpoolFile } from './spool-file.js';

/** How many identifiers are recognised by their text. */
const FIRST_TEXTS = 131_072;
const READ_BYTES = 65_536;

export class IdentifierSpool {
  count = 0;
  readonly #texts = new Map<string, number>();
  /** A hash table, open addressing: 0 for a free slot, else 1 + the index of a hash in `#words`. */
  #slots = new Uint32Array(0);
  #words = new Uint32Array(0);
  #starts = new Float64Array(1_024);

  constructor(private readonly file: SpoolFile) {}

  /** Returns the number of a text, from 0; a new text gets the next one. */
  add(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.count >= FIRST_TEXTS) return this.#addHashed(text);
    // Copies the text: a slice would keep the whole chunk of the file in memory.
    this.#texts.set(Buffer.from(text).toString(), this.count);
    return this.#write(text);
  }

  /** Returns the number of a text, or null if it was never added. */
  find(text: string): number | null {
    const known = this.#texts.get(text);
    if (known !== undefined || this.#slots.length === 0) return known ?? null;
    const entry = (this.#slots[this.#slotOf(wordsOf(text))] ?? 0) - 1;
    return entry < 0 ? null : entry + FIRST_TEXTS;
  }

  at(index: number): string {
    const from = this.#starts[index] ?? 0;
    return this.file.read(from, (this.#starts[index + 1] ?? 0) - from - 1).toString('utf8');
  }

  /** Yields all texts in order, in batches. `first`: the number of the first text of a batch. */
  *batches(): Generator<{ readonly first: number; readonly texts: readonly string[] }> {
    let position = 0;
    let first = 0;
    let size = READ_BYTES;
    while (position < this.file.length) {
      const chunk = this.file.read(position, Math.min(size, this.file.length - position));
      const end = chunk.lastIndexOf(0x0a) + 1;
      if (end === 0) {
        size *= 2;
        continue;
      }
      const texts = chunk.toString('utf8', 0, end - 1).split('\n');
      yield { first, texts };
      first += texts.length;
      position += end;
      size = READ_BYTES;
    }
  }

  #write(text: string): number {
    // Values never hold a line break: control characters make a cell invalid.
    const line = `${text}\n`;
    const { buffer, at } = this.file.room(line.length * 3);
    this.#starts = grown(this.#starts, this.count + 2);
    this.file.advance(buffer.write(line, at));
    this.count += 1;
    this.#starts[this.count] = this.file.length;
    return this.count - 1;
  }

  #addHashed(text: string): number {
    const entry = this.count - FIRST_TEXTS;
    if ((entry + 1) * 2 > this.#slots.length) this.#growSlots();
    const words = wordsOf(text);
    const slot = this.#slotOf(words);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1 + FIRST_TEXTS;
    this.#words.set(words, entry * 4);
    this.#slots[slot] = entry + 1;
    return this.#write(text);
  }

  /** Returns the slot of a hash, or the free slot for it. */
  #slotOf(words: readonly number[]): number {
    const mask = this.#slots.length - 1;
    let slot = (words[0] ?? 0) & mask;
    for (let known = this.#slots[slot]; known; known = this.#slots[slot]) {
      const at = (known - 1) * 4;
      if (words.every((each, nth) => this.#words[at + nth] === each)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #growSlots(): void {
    const length = Math.max(65_536, this.#slots.length * 2);
    this.#words = grown(this.#words, length * 2);
    this.#slots = new Uint32Array(length);
    for (let entry = 0; entry < this.count - FIRST_TEXTS; entry += 1) {
      let slot = (this.#words[entry * 4] ?? 0) & (length - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (length - 1);
      this.#slots[slot] = entry + 1;
    }
  }
}

/** Returns the first 128 bits of a text's hash. */
function wordsOf(text: string): number[] {
  const digest = hash('sha256', text, 'buffer');
  return [0, 4, 8, 12].map((at) => digest.readUInt32LE(at));
}

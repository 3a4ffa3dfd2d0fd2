/**
 * Numbers the distinct identifiers of a file, in the order in which they first appear, in about 25 bytes each.
 *
 * The first ones are kept as text, which is fast; the others as 128 bits of a cryptographic hash, so that two
 * million of them fit where their texts would not. A mix-up would need 2^64 identifiers.
 */

import { hash } from 'node:crypto';
import { grown } from '../../core/growable.js';

/** So many texts are kept as they are. */
const TEXTS = 131_072;

export interface KeyTable {
  /** How many distinct texts there are. */
  readonly size: number;
  /** The number of this text, from 0; `isNew` tells whether it had none before. */
  add(text: string): { readonly index: number; readonly isNew: boolean };
}

export function createKeyTable(): KeyTable {
  const texts = new Map<string, number>();
  let slots = new Uint32Array(0);
  let words = new Uint32Array(0);
  let size = 0;

  function addHashed(text: string): { index: number; isNew: boolean } {
    if ((size - TEXTS + 1) * 2 > slots.length) grow();
    const digest = hash('sha256', text, 'buffer');
    const w0 = digest.readUInt32LE(0);
    const w1 = digest.readUInt32LE(4);
    const w2 = digest.readUInt32LE(8);
    const w3 = digest.readUInt32LE(12);
    const mask = slots.length - 1;
    let slot = w0 & mask;
    for (;;) {
      const entry = slots[slot] ?? 0;
      if (entry === 0) break;
      const at = (entry - 1) * 4;
      if (words[at] === w0 && words[at + 1] === w1 && words[at + 2] === w2 && words[at + 3] === w3) {
        return { index: entry - 1 + TEXTS, isNew: false };
      }
      slot = (slot + 1) & mask;
    }
    const entry = size - TEXTS;
    words.set([w0, w1, w2, w3], entry * 4);
    slots[slot] = entry + 1;
    size += 1;
    return { index: size - 1, isNew: true };
  }

  function grow(): void {
    const length = Math.max(65_536, slots.length * 2);
    words = grown(words, length * 2);
    slots = new Uint32Array(length);
    for (let entry = 0; entry < size - TEXTS; entry += 1) {
      let slot = (words[entry * 4] ?? 0) & (length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (length - 1);
      slots[slot] = entry + 1;
    }
  }

  return {
    get size() {
      return size;
    },
    add(text) {
      const known = texts.get(text);
      if (known !== undefined) return { index: known, isNew: false };
      if (size >= TEXTS) return addHashed(text);
      // The copy lets go of the chunk of the file that the text may be a part of.
      texts.set(Buffer.from(text).toString(), size);
      size += 1;
      return { index: size - 1, isNew: true };
    },
  };
}

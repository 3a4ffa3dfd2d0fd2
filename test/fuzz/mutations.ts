/** Damage to real bytes: what stays of the fixture gets a case past the first check of a reader. */
import fc from 'fast-check';
import { share } from '../support/properties.js';

/** Places and lengths are parts of the whole, so that they fit bytes of any length. */
export type Mutation =
  | { readonly type: 'drop' | 'repeat'; readonly at: number; readonly length: number }
  | { readonly type: 'flip'; readonly at: number; readonly bit: number }
  | { readonly type: 'put'; readonly at: number; readonly text: string }
  | { readonly type: 'number'; readonly at: number; readonly value: number; readonly bytes: 1 | 2 | 4 }
  | { readonly type: 'cut'; readonly at: number };

const PARTS = 65_536;

/** Texts that mean something to nearly every reader. */
const SIGNS = [
  ...['"', '""', "'", ',', ';', '\t', '|', '\n', '\r', '\r\n', '\0', ' ', '\\', '/', '%', '%00', '..', ':'],
  ...['{', '}', '[', ']', '{}', '[]', 'null', '-1', '0', '1e999', '9'.repeat(20), '\ufeff', '\u2028', 'é'],
  ...['\ud800', '😀', '\u202e', 'ß', 'İ', '\x1b[2J', '<', '>', '&', '&#0;', '=1+1', '__proto__'],
];
const NUMBERS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

export const wordsOf = (text: string): string[] => text.split(' ');

/** `words`: texts that mean something to this reader. */
export function mutations(words: readonly string[] = [], most = 6): fc.Arbitrary<readonly Mutation[]> {
  const at = fc.nat({ max: PARTS - 1 });
  const length = fc.oneof(fc.nat({ max: 64 }), fc.nat({ max: PARTS }));
  const text = fc.oneof(fc.constantFrom(...SIGNS, ...words), fc.string({ maxLength: 8, unit: 'binary' }));
  const one: fc.Arbitrary<Mutation> = fc.oneof(
    share(4, fc.record({ type: fc.constant('put' as const), at, text })),
    share(2, fc.record({ type: fc.constantFrom('drop' as const, 'repeat'), at, length })),
    share(2, fc.record({ type: fc.constant('flip' as const), at, bit: fc.nat({ max: 7 }) })),
    share(
      2,
      fc.record({
        type: fc.constant('number' as const),
        at,
        value: fc.constantFrom(...NUMBERS),
        bytes: fc.constantFrom(1 as const, 2 as const, 4 as const),
      }),
    ),
    share(1, fc.record({ type: fc.constant('cut' as const), at })),
  );
  return fc.array(one, { maxLength: most });
}

/** A repeated piece is no longer than this, so that cases stay small. */
const LONGEST_REPEAT = 65_536;

export function mutate(bytes: Buffer, changes: readonly Mutation[]): Buffer {
  return changes.reduce((before, change) => mutateOnce(before, change), bytes);
}

function mutateOnce(bytes: Buffer, change: Mutation): Buffer {
  const at = Math.floor((change.at / PARTS) * (bytes.length + 1));
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (change.type) {
    case 'drop':
    case 'repeat': {
      const length = change.length <= 64 ? change.length : Math.floor((change.length / PARTS) * tail.length);
      if (change.type === 'drop') return Buffer.concat([head, tail.subarray(length)]);
      return Buffer.concat([head, tail.subarray(0, Math.min(length, LONGEST_REPEAT)), tail]);
    }
    case 'flip': {
      const copy = Buffer.from(bytes);
      const index = Math.min(at, bytes.length - 1);
      if (index >= 0) copy[index] = (copy[index] ?? 0) ^ (1 << change.bit);
      return copy;
    }
    case 'put':
      return Buffer.concat([head, Buffer.from(change.text), tail]);
    case 'number': {
      const copy = Buffer.from(bytes);
      const value = change.value & (change.bytes === 1 ? 0xff : change.bytes === 2 ? 0xffff : -1);
      if (at + change.bytes <= copy.length) copy.writeUIntLE(value >>> 0, at, change.bytes);
      return copy;
    }
    case 'cut':
      return head;
  }
}

/** The same for a text whose signs are bytes, as those of HTTP are. */
export function mutateText(text: string, changes: readonly Mutation[]): string {
  return mutate(Buffer.from(text), changes).toString('latin1');
}

/** Blocks of our own and of another implementation, in both directions, and damaged ones. */
import fc from 'fast-check';
import { compressSync, uncompressSync } from 'lz4-napi';
import { expect, it } from 'vitest';
import { makeDictionary } from '../../../src/engine/stores/dictionary.js';
import { Lz4Block } from '../../../src/engine/stores/lz4-block.js';

const dictionary = makeDictionary();
const codec = new Lz4Block(dictionary);
const WORDS = ['"name":"', '","domain":"', '.com"', ',"claimed":true', 'é💻', '}', 'a'.repeat(20), ' '];

/** Bytes that repeat themselves and parts of the dictionary, and some that do not. */
const piece = fc.oneof(
  fc.constantFrom(...WORDS).map((word) => Buffer.from(word)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.nat(dictionary.length), fc.nat(700))
    .map(([at, length]) => dictionary.subarray(at, at + length)),
  fc.tuple(fc.nat(255), fc.nat(600)).map(([byte, length]) => Buffer.alloc(length, byte)),
);
const input = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.concat(pieces));

/** The other implementation puts the length before its blocks. */
function theirs(block: Uint8Array, length: number, preset = dictionary): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  return uncompressSync(Buffer.concat([head, block]), preset);
}
const byThem = (bytes: Buffer) => compressSync(bytes, dictionary).subarray(4);

/** Repeatable bytes without repetition: linear congruences. */
function noise(length: number): Buffer {
  let state = 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

function expectBoth(bytes: Buffer): void {
  const block = codec.compress(bytes);
  expect(block.length).toBeLessThanOrEqual(bytes.length + Math.ceil(bytes.length / 255) + 16);
  expect(codec.decompress(block, bytes.length).equals(bytes)).toBe(true);
  expect(theirs(block, bytes.length).equals(bytes)).toBe(true);
  expect(codec.decompress(byThem(bytes), bytes.length).equals(bytes)).toBe(true);
}

it('both implementations read each other', () => fc.assert(fc.property(input, expectBoth)));

const repeating = (length: number) => Buffer.alloc(length, 'The brand of the brand of the company. ');
it.each([
  ['nothing', Buffer.alloc(0)],
  ['the dictionary twice', Buffer.concat([dictionary, dictionary])],
  ['its end, which goes on', Buffer.concat([dictionary.subarray(-100), dictionary.subarray(-100)])],
  ['1 MiB of one byte', Buffer.alloc(1_048_576, 7)],
  ['1 MiB without repetition', noise(1_048_576)],
  ['a length of 15 and 255, of literals', noise(270)],
  ['a length of 15 and 255, of a match', Buffer.alloc(280, 'x')],
  ['repetition beyond the reach of an offset', Buffer.concat([noise(70_000), noise(70_000), dictionary])],
  ...[11, 12, 13, 14, 18, 19, 270, 65_535, 65_536, 65_537].map((length): [string, Buffer] => [
    `${length} bytes`,
    repeating(length),
  ]),
])('each reads what the other wrote: %s', (_what, bytes) => expectBoth(bytes));

it('blocks end as the format asks: five literals, and no match in the last twelve bytes', () => {
  const block = codec.compress(Buffer.alloc(40, 'x'));
  // One literal, 34 more by a match of offset 1, five literals.
  expect([...block]).toEqual([0x1f, 0x78, 1, 0, 15, 0x50, ...Buffer.alloc(5, 'x')]);
  const short = Buffer.alloc(12, 'x');
  expect(codec.compress(short.subarray(1))).toEqual(Buffer.concat([Buffer.from([0xb0]), short.subarray(1)]));
});

it('works without a dictionary, and refuses one that offsets do not reach', () => {
  const bytes = repeating(500);
  const bare = new Lz4Block(Buffer.alloc(0));
  expect(theirs(bare.compress(bytes), 500, Buffer.alloc(0)).equals(bytes)).toBe(true);
  expect(() => new Lz4Block(Buffer.alloc(65_536))).toThrow(/too long/);
});

it('earlier blocks make no difference to a block', () => {
  const bytes = repeating(3_000);
  const first = new Lz4Block(dictionary).compress(bytes);
  const used = new Lz4Block(dictionary);
  for (const other of [noise(5_000), repeating(70_000), bytes]) used.compress(other);
  expect(used.compress(bytes)).toEqual(first);
  // Places are counted anew after 16 MiB.
  for (let mebibytes = 0; mebibytes < 17; mebibytes += 1) used.compress(Buffer.alloc(1_048_576, 'x'));
  expect(used.compress(bytes)).toEqual(first);
});

it("leaves room before the block for the caller's bytes", () => {
  const bytes = repeating(300);
  expect(codec.compress(bytes, 3).subarray(3)).toEqual(codec.compress(bytes));
});

it.each([
  ['no bytes', [], 0],
  ['literals beyond its end', [0x40, 1, 2], 4],
  ['a length that does not end', [0xf0, 255, 255], 600],
  ['no offset', [0x10, 1, 9], 5],
  ['an offset of 0', [0x10, 1, 0, 0, 0x00], 5],
  ['an offset before the dictionary', [0x10, 1, 255, 255, 0x00], 5],
  ['a match longer than the output', [0x11, 1, 1, 0, 0x00], 5],
  ['literals longer than the output', [0x20, 1, 2], 1],
  ['less than the output', [0x20, 1, 2], 3],
  ['a match as its end', [0x10, 1, 1, 0], 5],
])('a block with %s is refused', (_what, block, length) => {
  expect(() => codec.decompress(Buffer.from(block), length)).toThrow('the LZ4 block is damaged');
});

it('a damaged length takes no memory', () => {
  const before = process.memoryUsage().arrayBuffers;
  expect(() => codec.decompress(Buffer.from([0x10, 1]), 2 ** 31)).toThrow('damaged');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_048_576);
});

it('damaged blocks throw or give the requested length, and later blocks are unaffected', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(input, damage, fc.nat(), (bytes, changes, cut) => {
      const block = codec.compress(bytes);
      for (const [at, byte] of changes) block[at % block.length] = byte;
      const end = cut % 3 === 0 ? cut % block.length : block.length;
      let unpacked: Buffer | null = null;
      try {
        unpacked = codec.decompress(block.subarray(0, end), bytes.length);
      } catch (error) {
        expect(String(error)).toBe('Error: the LZ4 block is damaged');
      }
      if (unpacked !== null) expect(unpacked.length).toBe(bytes.length);
      expect(codec.decompress(codec.compress(bytes), bytes.length).equals(bytes)).toBe(true);
    }),
  );
});

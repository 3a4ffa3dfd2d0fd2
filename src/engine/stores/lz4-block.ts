/**
 * The LZ4 block format (lz4_Block_format.md) with a preset dictionary that is indexed once. Native
 * libraries index the dictionary for each block, which takes longer than to pack 2 kB.
 */

/** Set by the format: the shortest match, and the bytes between the last match and the end. */
const MIN_MATCH = 4;
const LAST_BEGINS = 12;
const LAST_ENDS = 5;
const FARTHEST = 65_535;
/** The format writes a length from 15 on with further bytes. */
const LONG = 15;

/** The size of the shared buffers. A longer input gets new ones. */
const USUAL_LENGTH = 65_536;
/** The dictionary's index: places by a hash of five bytes, of which the last `TRIES` are tried. */
const HASH_BITS = 15;
const TRIES = 8;
/** The input's own index: the last place by a hash of four bytes. */
const OWN_HASH_BITS = 12;
/** After each 32 misses in a row steps grow by one byte, to pass incompressible data quickly. */
const MISSES_BITS = 5;
/** The count of places starts again at this number. */
const LAST_PLACE = 2 ** 24;

const longestBlock = (length: number) => length + Math.ceil(length / 255) + 16;

export class Lz4Block {
  readonly #start: number;
  /** The dictionary, and from `#start` the input of `compress` or the output of `decompress`. */
  readonly #usual: Uint8Array;
  readonly #block = new Uint8Array(longestBlock(USUAL_LENGTH));
  /** By hash, the last place plus 1; by place plus 1, the place before plus 1. 0 ends a chain. */
  readonly #last = new Uint16Array(2 ** HASH_BITS);
  readonly #before: Uint16Array;
  /** Each input continues the count of places, so places of earlier inputs are below `#from`. */
  readonly #own = new Int32Array(2 ** OWN_HASH_BITS);
  #from = 1;

  /** Throws `RangeError` if the dictionary is longer than an offset reaches, 65,535 bytes. */
  constructor(dictionary: Uint8Array) {
    this.#start = dictionary.length;
    if (this.#start > FARTHEST) throw new RangeError(`a dictionary of ${this.#start} bytes is too long`);
    this.#usual = new Uint8Array(this.#start + USUAL_LENGTH);
    this.#usual.set(dictionary);
    this.#before = new Uint16Array(this.#start + 1);
    const view = new DataView(this.#usual.buffer);
    for (let at = 0; at + MIN_MATCH < this.#start; at += 1) {
      const hash = longHash(view, at, hashOf(view, at));
      this.#before[at + 1] = this.#last[hash] ?? 0;
      this.#last[hash] = at + 1;
    }
  }

  /** Packs `input` behind `head` bytes that the caller fills. */
  compress(input: Uint8Array, head = 0): Buffer {
    const start = this.#start;
    const end = start + input.length;
    const isUsual = input.length <= USUAL_LENGTH;
    const work = this.#workFor(input.length);
    work.set(input, start);
    const view = new DataView(work.buffer);
    const block = isUsual ? this.#block : new Uint8Array(longestBlock(input.length));
    const [last, before, own] = [this.#last, this.#before, this.#own];
    const shift = start - this.#placesFor(input.length);

    let size = 0;
    let literals = start;
    // A match is written once the next one is found, which may reach back and shorten it.
    let match = start;
    let source = 0;
    let matchEnd = start;
    let misses = 0;
    for (let at = start; at <= end - LAST_BEGINS; ) {
      const bytes = view.getInt32(at, true);
      const hash = hashOf(view, at);
      const ownHash = hash >>> (32 - OWN_HASH_BITS);
      let length = MIN_MATCH - 1;
      let from = (own[ownHash] ?? 0) + shift;
      own[ownHash] = at - shift;
      if (from >= start && at - from <= FARTHEST && view.getInt32(from, true) === bytes)
        length = matchLength(view, from, at, end - LAST_ENDS);
      let next = at <= FARTHEST ? (last[longHash(view, at, hash)] ?? 0) : 0;
      for (let tries = TRIES; next !== 0 && tries > 0; tries -= 1) {
        const place = next - 1;
        next = before[next] ?? 0;
        // Most candidates are no longer than the best match so far: this byte shows it quickly.
        if (view.getUint8(place + length) !== view.getUint8(at + length)) continue;
        if (view.getInt32(place, true) !== bytes) continue;
        const reached = matchLength(view, place, at, end - LAST_ENDS);
        if (reached <= length) continue;
        length = reached;
        from = place;
      }
      if (length < MIN_MATCH) {
        at += 1 + (misses >>> MISSES_BITS);
        misses += 1;
        continue;
      }
      misses = 0;
      const nextAt = at + length;
      while (at > matchEnd && from > 0 && view.getUint8(at - 1) === view.getUint8(from - 1)) {
        at -= 1;
        from -= 1;
      }
      if (at === matchEnd) {
        let back = 0;
        const most = Math.min(at - match, from);
        while (back < most && view.getUint8(at - back - 1) === view.getUint8(from - back - 1)) back += 1;
        // The rest of the earlier match is too short to be one: write it as literals.
        if (at - back - match < MIN_MATCH) {
          at -= back;
          from -= back;
          matchEnd = match;
        }
      }
      if (matchEnd > match) {
        size = putSequence(block, size, work, literals, match, source, matchEnd);
        literals = matchEnd;
      }
      match = at;
      source = from;
      matchEnd = nextAt;
      at = nextAt;
      own[hashOf(view, at - 2) >>> (32 - OWN_HASH_BITS)] = at - 2 - shift;
    }
    if (matchEnd > match) {
      size = putSequence(block, size, work, literals, match, source, matchEnd);
      literals = matchEnd;
    }
    size = putLiterals(block, size, 0, work, literals, end);
    const packed = Buffer.allocUnsafe(head + size);
    packed.set(block.subarray(0, size), head);
    return packed;
  }

  /** Unpacks a block to exactly `length` bytes. Throws for a block of any other length. */
  decompress(block: Uint8Array, length: number): Buffer {
    const start = this.#start;
    const end = start + length;
    // A byte of a block gives at most 255 bytes; checked before a damaged length takes memory.
    if (length > block.length * 255) throw damaged();
    const work = this.#workFor(length);
    let read = 0;
    let to = start;

    while (read < block.length) {
      const token = byteAt(block, read);
      read += 1;
      let literals = token >>> 4;
      if (literals === LONG)
        for (let more = 255; more === 255; literals += more) {
          more = byteAt(block, read);
          read += 1;
        }
      if (literals > end - to) throw damaged();
      for (let n = 0; n < literals; n += 1) work[to + n] = byteAt(block, read + n);
      read += literals;
      to += literals;
      if (read === block.length && to === end) return copyOf(work, start, end);
      const offset = byteAt(block, read) | (byteAt(block, read + 1) << 8);
      read += 2;
      let matched = MIN_MATCH + (token & LONG);
      if (matched === MIN_MATCH + LONG)
        for (let more = 255; more === 255; matched += more) {
          more = byteAt(block, read);
          read += 1;
        }
      if (offset === 0 || matched > end - to) throw damaged();
      // Byte by byte: a match may overlap what it writes.
      for (const matchEnd = to + matched; to < matchEnd; to += 1) work[to] = byteAt(work, to - offset);
    }
    throw damaged();
  }

  #workFor(length: number): Uint8Array {
    if (length <= USUAL_LENGTH) return this.#usual;
    const work = new Uint8Array(this.#start + length);
    work.set(this.#usual.subarray(0, this.#start));
    return work;
  }

  /** Returns the first of `length` places that no earlier input used. */
  #placesFor(length: number): number {
    if (this.#from + length > LAST_PLACE) {
      this.#own.fill(0);
      this.#from = 1;
    }
    const from = this.#from;
    this.#from += length;
    return from;
  }
}

const damaged = () => new Error('the LZ4 block is damaged');

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw damaged();
  return byte;
}

function copyOf(bytes: Uint8Array, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

function hashOf(view: DataView, at: number): number {
  return Math.imul(view.getInt32(at, true), 0x9e3779b1);
}

function longHash(view: DataView, at: number, hash: number): number {
  return Math.imul(hash ^ view.getUint8(at + MIN_MATCH), 0x85ebca6b) >>> (32 - HASH_BITS);
}

/** Counts the bytes from `a` that equal those from `b`, up to `end`. */
function matchLength(view: DataView, a: number, b: number, end: number): number {
  let length = 0;
  for (; b + length + 4 <= end; length += 4) {
    const difference = view.getInt32(a + length, true) ^ view.getInt32(b + length, true);
    if (difference !== 0) return length + ((31 - Math.clz32(difference & -difference)) >>> 3);
  }
  while (b + length < end && view.getUint8(a + length) === view.getUint8(b + length)) length += 1;
  return length;
}

function putLength(block: Uint8Array, size: number, length: number): number {
  let [at, rest] = [size, length - LONG];
  for (; rest >= 255; rest -= 255, at += 1) block[at] = 255;
  block[at] = rest;
  return at + 1;
}

/** Writes a token and its literals. `short`: the token's half for the match. */
function putLiterals(
  block: Uint8Array,
  size: number,
  short: number,
  work: Uint8Array,
  from: number,
  to: number,
): number {
  const length = to - from;
  block[size] = (Math.min(length, LONG) << 4) | short;
  let at = size + 1;
  if (length >= LONG) at = putLength(block, at, length);
  for (let n = from; n < to; n += 1, at += 1) block[at] = work[n] ?? 0;
  return at;
}

/** Writes the literals up to `match`, and the match as a reference to `source`. */
function putSequence(
  block: Uint8Array,
  size: number,
  work: Uint8Array,
  literals: number,
  match: number,
  source: number,
  matchEnd: number,
): number {
  const length = matchEnd - match - MIN_MATCH;
  let at = putLiterals(block, size, Math.min(length, LONG), work, literals, match);
  block[at] = match - source;
  block[at + 1] = (match - source) >>> 8;
  at += 2;
  return length >= LONG ? putLength(block, at, length) : at;
}

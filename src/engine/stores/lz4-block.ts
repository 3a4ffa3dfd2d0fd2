/**
 * The LZ4 block format (lz4_Block_format.md) with a preset dictionary that is indexed once: native
 * libraries index it anew for each block, which takes longer than to pack 2 kB.
 */

/** By the format: the shortest match, and how far from the end the last one may begin and end. */
const MIN_MATCH = 4;
const LAST_BEGINS = 12;
const LAST_ENDS = 5;
const FARTHEST = 65_535;
/** A length from here on has further bytes. */
const LONG = 15;

/** Longer input gets buffers of its own. */
const USUAL_LENGTH = 65_536;
/** The dictionary's index: places by a hash of five bytes, of which the last so many are tried. */
const HASH_BITS = 15;
const TRIES = 8;
/** The input's own index: the last place by a hash of four bytes. */
const OWN_HASH_BITS = 12;
/** After 32 misses in a row steps grow by one: what does not repeat is passed quickly. */
const MISSES_BITS = 5;
/** From here on places are counted anew. */
const LAST_PLACE = 2 ** 24;

const longestBlock = (length: number) => length + Math.ceil(length / 255) + 16;

export class Lz4Block {
  readonly #start: number;
  /** The dictionary, and from `#start` the input of `compress` or the output of `decompress`. */
  readonly #usual: Uint8Array;
  readonly #block = new Uint8Array(longestBlock(USUAL_LENGTH));
  /** One more than the last place of a hash, and than the one before a place; 0: none. */
  readonly #last = new Uint16Array(2 ** HASH_BITS);
  readonly #before: Uint16Array;
  /** Places go on counting from input to input, so that those of earlier ones lie below `#from`. */
  readonly #own = new Int32Array(2 ** OWN_HASH_BITS);
  #from = 1;

  /** Throws `RangeError` when the dictionary is longer than an offset reaches, 65,535 bytes. */
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

  /** `head`: so many bytes are left free before the block, for the caller to write. */
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
    // A match waits for the next one, which may reach back over it.
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
        // No longer than what was found, most of the time.
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
        // What is left of the match is cheaper as literals.
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

  /** `length`: of the output. Throws when the block does not give exactly so much. */
  decompress(block: Uint8Array, length: number): Buffer {
    const start = this.#start;
    const end = start + length;
    // A byte of a block gives at most 255: a damaged length takes no memory.
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

  /** The first of so many places that no input had. */
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

/** `short`: the token's half for the match. */
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

/** The literals up to `match`, and the match, which is copied from `source`. */
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

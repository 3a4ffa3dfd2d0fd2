/** Values out of the bytes of a page (Encodings.md). Each throws Error for damaged bytes. */
import type { SchemaElement } from 'hyparquet';

/** Bytes, and how many of them were used. */
export interface Bytes {
  readonly view: DataView;
  at: number;
}

export const TOO_SHORT = 'one of its pages ends too soon';
const WRONG_WIDTH = 'one of its pages has a wrong bit width';

export function bytesFrom({ buffer, byteOffset, byteLength }: Uint8Array): Bytes {
  return { view: new DataView(buffer, byteOffset, byteLength), at: 0 };
}

/** The next `length` bytes. */
export function take(bytes: Bytes, length: number): Uint8Array {
  const { view, at } = bytes;
  if (!(length >= 0) || at + length > view.byteLength) throw new Error(TOO_SHORT);
  bytes.at = at + length;
  return new Uint8Array(view.buffer, view.byteOffset + at, length);
}

/** ULEB128, up to 64 bits: exact up to 2^53. */
function varint(bytes: Bytes): number {
  let value = 0;
  for (let factor = 1; factor < 2 ** 64; factor *= 128) {
    const byte = bytes.view.getUint8(bytes.at++);
    value += (byte & 127) * factor;
    if (byte < 128) return value;
  }
  throw new Error('one of its pages has a damaged number');
}

function zigzag(bytes: Bytes): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = bytes.view.getUint8(bytes.at++);
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return (value >> 1n) ^ -(value & 1n);
  }
  throw new Error('one of its pages has a damaged number');
}

/** Numbers of up to 32 bits, the lowest bit first. */
function packedBits({ view, at: start }: Bytes): (width: number) => number {
  let at = start;
  let held = 0;
  let bits = 0;
  return (width) => {
    while (bits < width) {
      held += view.getUint8(at++) * 2 ** bits;
      bits += 8;
    }
    const size = 2 ** width;
    const value = held % size;
    held = (held - value) / size;
    bits -= width;
    return value;
  };
}

/** Runs of one number and of packed numbers, up to the end of `bytes`; none may exceed `most`. */
export function hybrid(bytes: Bytes, width: number, most: number): () => number {
  if (width > 32) throw new Error(WRONG_WIDTH);
  if (width === 0) return () => 0;
  let left = 0;
  let value = 0;
  let next: ((width: number) => number) | null = null;
  return () => {
    while (left === 0) {
      const header = varint(bytes);
      const count = Math.floor(header / 2);
      next = null;
      left = count;
      if (header % 2 === 1) {
        left = count * 8;
        next = packedBits(bytes);
        bytes.at += count * width;
      } else {
        value = 0;
        for (let shift = 0; shift < width; shift += 8) value += bytes.view.getUint8(bytes.at++) * 2 ** shift;
      }
    }
    left -= 1;
    const number = next === null ? value : next(width);
    if (number > most) throw new Error('one of its pages has a number out of range');
    return number;
  };
}

/** The deprecated encoding of levels: the highest bit first. */
export function bitPackedLevels(bytes: Bytes, width: number, count: number, most: number): () => number {
  const packed = bytesFrom(take(bytes, Math.ceil((count * width) / 8)));
  let bit = 0;
  return () => {
    let value = 0;
    for (let each = 0; each < width; each += 1, bit += 1)
      value = value * 2 + ((packed.view.getUint8(bit >> 3) >> (7 - (bit & 7))) & 1);
    if (value > most) throw new Error('one of its pages has a number out of range');
    return value;
  };
}

export const bitWidth = (most: number): number => 32 - Math.clz32(most);

/** The bytes of a value whose size its type tells. */
function sizeOfType({ type, type_length = 0 }: SchemaElement): number | null {
  if (type === 'INT32' || type === 'FLOAT') return 4;
  if (type === 'INT64' || type === 'DOUBLE') return 8;
  if (type === 'INT96') return 12;
  return type === 'FIXED_LEN_BYTE_ARRAY' ? type_length : null;
}

const DAY_NANOS = 86_400_000_000_000n;
/** Of 1970-01-01. */
const JULIAN_DAY = 2_440_588n;

/** One value; INT96 as nanoseconds since 1970. */
export function plain(bytes: Bytes, element: SchemaElement): unknown {
  const { view, at } = bytes;
  const size = sizeOfType(element);
  if (size === null) {
    bytes.at += 4;
    return take(bytes, view.getUint32(at, true));
  }
  if (element.type === 'FIXED_LEN_BYTE_ARRAY') return take(bytes, size);
  bytes.at += size;
  switch (element.type) {
    case 'INT32':
      return view.getInt32(at, true);
    case 'INT64':
      return view.getBigInt64(at, true);
    case 'FLOAT':
      return view.getFloat32(at, true);
    case 'DOUBLE':
      return view.getFloat64(at, true);
    default:
      return (BigInt(view.getInt32(at + 8, true)) - JULIAN_DAY) * DAY_NANOS + view.getBigInt64(at, true);
  }
}

/** The values of a page that are not null; `end` throws if there are more than were taken. */
export interface Values {
  next(): unknown;
  end?(): void;
}

export function valuesOf(
  encoding: string,
  bytes: Bytes,
  element: SchemaElement,
  dictionary: readonly unknown[] | null,
  /** The page has at most so many. */
  most: number,
): Values {
  const { type } = element;
  if (encoding === 'PLAIN' && type === 'BOOLEAN') {
    const next = packedBits(bytes);
    return { next: () => next(1) === 1 };
  }
  if (encoding === 'PLAIN') return { next: () => plain(bytes, element) };
  if (encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY') return indexed(bytes, dictionary);
  if (encoding === 'RLE' && type === 'BOOLEAN') {
    const length = bytes.view.getUint32(bytes.at, true);
    bytes.at += 4;
    const next = hybrid(bytesFrom(take(bytes, length)), 1, 1);
    return { next: () => next() === 1 };
  }
  if (encoding === 'BYTE_STREAM_SPLIT') return split(bytes, element);
  if (encoding === 'DELTA_BINARY_PACKED' && (type === 'INT32' || type === 'INT64'))
    return type === 'INT32' ? listed(deltas32(bytes, most)) : listed(deltas64(bytes, most));
  if (encoding === 'DELTA_LENGTH_BYTE_ARRAY' && type === 'BYTE_ARRAY') {
    const lengths = listed(deltas32(bytes, most));
    return { ...lengths, next: () => take(bytes, lengths.next()) };
  }
  const isBytes = type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY';
  if (encoding === 'DELTA_BYTE_ARRAY' && isBytes) return prefixed(bytes, sizeOfType(element), most);
  throw new Error(`it has values of type ${type} in the encoding ${encoding}`);
}

function indexed(bytes: Bytes, dictionary: readonly unknown[] | null): Values {
  if (dictionary === null) throw new Error('one of its pages lacks a dictionary');
  let next: (() => number) | null = null;
  return {
    next() {
      // A page of nulls may end before the width.
      next ??= hybrid(bytes, bytes.view.getUint8(bytes.at++), dictionary.length - 1);
      const index = next();
      if (index >= dictionary.length) throw new Error('one of its pages has a number out of range');
      return dictionary[index];
    },
  };
}

const WRONG_COUNT = 'one of its pages has another number of values than it states';

function listed<T>({ length, ...values }: ArrayLike<T>): { next(): T; end(): void } {
  let at = 0;
  return {
    next() {
      if (at === length) throw new Error(WRONG_COUNT);
      return values[at++] as T;
    },
    end() {
      if (at !== length) throw new Error(WRONG_COUNT);
    },
  };
}

/** The first bytes of all values, then the second ones and so on. */
function split(bytes: Bytes, element: SchemaElement): Values {
  const { view, at: start } = bytes;
  const size = sizeOfType(element);
  const count = (view.byteLength - start) / (size ?? 0);
  if (size === null || !Number.isInteger(count)) throw new Error(WRONG_COUNT);
  let at = 0;
  return {
    next() {
      if (at === count) throw new Error(WRONG_COUNT);
      const value = new Uint8Array(size);
      for (let byte = 0; byte < size; byte += 1) value[byte] = view.getUint8(start + byte * count + at);
      at += 1;
      return plain(bytesFrom(value), element);
    },
    end() {
      if (at !== count) throw new Error(WRONG_COUNT);
    },
  };
}

/** Each value begins like the one before. */
function prefixed(bytes: Bytes, size: number | null, most: number): Values {
  const prefixes = listed(deltas32(bytes, most));
  const suffixes = listed(deltas32(bytes, most));
  let last: Uint8Array = new Uint8Array();
  return {
    next() {
      const length = prefixes.next();
      if (length < 0 || length > last.length) throw new Error(TOO_SHORT);
      last = Buffer.concat([last.subarray(0, length), take(bytes, suffixes.next())]);
      if (size !== null && last.length !== size) throw new Error('it has a value of the wrong length');
      return last;
    },
    end: prefixes.end,
  };
}

/** Begins with the size of a block, of its parts, the number of values and the first of them. */
function deltaHeader(bytes: Bytes, most: number) {
  const block = varint(bytes);
  const parts = varint(bytes);
  const count = varint(bytes);
  const perPart = block / parts;
  // The specification says a multiple of 128, and of 32.
  const isFitting = block > 0 && block <= 2 ** 20 && perPart % 8 === 0;
  if (!isFitting) throw new Error('one of its pages has blocks of a wrong size');
  if (count > most) throw new Error(WRONG_COUNT);
  return { parts, perPart, count, first: zigzag(bytes) };
}

/** Calls `add` for each difference from `least`: DuckDB takes up to 34 bits for 32-bit numbers. */
function eachDelta(
  bytes: Bytes,
  { parts, perPart, count }: Pick<ReturnType<typeof deltaHeader>, 'parts' | 'perPart' | 'count'>,
  add: (least: bigint, low: number, high: number) => void,
): void {
  let left = count - 1;
  while (left > 0) {
    const least = zigzag(bytes);
    const widths = take(bytes, parts);
    for (const width of widths) {
      if (left <= 0) break;
      if (width > 64) throw new Error(WRONG_WIDTH);
      const next = packedBits(bytes);
      for (let each = 0; each < perPart && left > 0; each += 1, left -= 1)
        add(least, next(Math.min(width, 32)), width > 32 ? next(width - 32) : 0);
      bytes.at += (perPart * width) / 8;
    }
  }
}

function deltas32(bytes: Bytes, most: number): Int32Array {
  const header = deltaHeader(bytes, most);
  const values = new Int32Array(header.count);
  let value = Number(BigInt.asIntN(32, header.first));
  let at = 0;
  if (header.count > 0) values[at++] = value;
  eachDelta(bytes, header, (least, low) => {
    value = (value + Number(BigInt.asIntN(32, least)) + low) | 0;
    values[at++] = value;
  });
  return values;
}

function deltas64(bytes: Bytes, most: number): BigInt64Array {
  const header = deltaHeader(bytes, most);
  const values = new BigInt64Array(header.count);
  let value = header.first;
  let at = 0;
  if (header.count > 0) values[at++] = value;
  eachDelta(bytes, header, (least, low, high) => {
    value = BigInt.asIntN(64, value + least + (BigInt(high) << 32n) + BigInt(low));
    values[at++] = value;
  });
  return values;
}

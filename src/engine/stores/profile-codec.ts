/**
 * The format of stored brands: the dictionary's id (one byte), the length of the service's JSON
 * (three bytes, the lowest first), then the JSON as an LZ4 block.
 */
import type { Brand } from '../../brand-api/brand.js';
import { attempt } from '../../core/lifecycle.js';
import { makeDictionary } from './dictionary.js';
import { Lz4Block } from './lz4-block.js';
import type { FailureReason } from './run-reasons.js';

/** Most bytes of an unpacked answer; the service sends at most 1 MiB. */
export const LONGEST_PROFILE = 4 * 1_048_576;

const LENGTH_BYTES = 3;
const HEAD_BYTES = 1 + LENGTH_BYTES;

/** The id of the dictionary for packing. An improved one gets the next id; this one stays. */
const DICTIONARY = 1;

let codec: Lz4Block | null = null;
/** Returns the codec, which takes some milliseconds to make at the first call. */
function codecOf(dictionary: number | undefined): Lz4Block {
  if (dictionary !== DICTIONARY) throw new Error(`a stored answer has the unknown dictionary ${dictionary}`);
  codec ??= new Lz4Block(makeDictionary());
  return codec;
}

/** Packs the service's JSON, or any other bytes. Throws `RangeError` above `LONGEST_PROFILE`. */
export function packProfile(json: Buffer): Buffer {
  if (json.length > LONGEST_PROFILE) throw new RangeError(`an answer of ${json.length} bytes is too long`);
  const packed = codecOf(DICTIONARY).compress(json, HEAD_BYTES);
  packed[0] = DICTIONARY;
  packed.writeUIntLE(json.length, 1, LENGTH_BYTES);
  return packed;
}

/** Returns the JSON as the service sent it. Throws if the bytes are damaged. */
export function unpackProfile(packed: Buffer): Buffer {
  const codec = codecOf(packed[0]);
  const length = packed.readUIntLE(1, LENGTH_BYTES);
  if (length > LONGEST_PROFILE) throw new RangeError(`a stored answer cannot be ${length} bytes long`);
  return codec.decompress(packed.subarray(HEAD_BYTES), length);
}

/** Returns a stored brand as text and object; null if it cannot be read (`whyUnreadable`). */
export function readProfile(packed: Buffer): { readonly text: string; readonly brand: Brand } | null {
  const text = attempt(() => unpackProfile(packed).toString('utf8'), null);
  const brand: unknown = text === null ? null : attempt(() => JSON.parse(text), null);
  const isObject = typeof brand === 'object' && brand !== null && !Array.isArray(brand);
  return text !== null && isObject ? { text, brand: brand as Brand } : null;
}

/** Returns why a stored brand cannot be read. It still counts as stored: it is not bought again. */
export function whyUnreadable(packed: Buffer): FailureReason {
  const [dictionary = DICTIONARY] = packed;
  return dictionary === DICTIONARY ? { code: 'damaged' } : { code: 'unknown_dictionary', dictionary };
}

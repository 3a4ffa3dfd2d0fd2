/**
 * How a brand is stored: the dictionary's id (one byte), the length of the service's JSON (three
 * bytes, the lowest first), and that as an LZ4 block.
 */
import type { Brand } from '../../brand-api/brand.js';
import { attempt } from '../../core/lifecycle.js';
import { makeDictionary } from './dictionary.js';
import { Lz4Block } from './lz4-block.js';
import type { FailureReason } from './run-reasons.js';

/** Answers of the service are at most 1 MiB long. What unpacks to more is not one of them. */
export const LONGEST_PROFILE = 4 * 1_048_576;

const LENGTH_BYTES = 3;
const HEAD_BYTES = 1 + LENGTH_BYTES;

/** The dictionary that packs. A better one gets the next id, and this one stays for reading. */
const DICTIONARY = 1;

let codec: Lz4Block | null = null;
/** Made when it is first needed: it takes some milliseconds. */
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

/** Returns the JSON as the service sent it. Throws for other bytes. */
export function unpackProfile(packed: Buffer): Buffer {
  const codec = codecOf(packed[0]);
  const length = packed.readUIntLE(1, LENGTH_BYTES);
  if (length > LONGEST_PROFILE) throw new RangeError(`a stored answer cannot be ${length} bytes long`);
  return codec.decompress(packed.subarray(HEAD_BYTES), length);
}

/** A stored profile as text and object; null when it cannot be read, see `whyUnreadable`. */
export function readProfile(packed: Buffer): { readonly text: string; readonly brand: Brand } | null {
  const text = attempt(() => unpackProfile(packed).toString('utf8'), null);
  const brand: unknown = text === null ? null : attempt(() => JSON.parse(text), null);
  const isObject = typeof brand === 'object' && brand !== null && !Array.isArray(brand);
  return text !== null && isObject ? { text, brand: brand as Brand } : null;
}

/** Why a stored profile cannot be read. It counts as stored, so it is not bought again. */
export function whyUnreadable(packed: Buffer): FailureReason {
  const [dictionary = DICTIONARY] = packed;
  return dictionary === DICTIONARY ? { code: 'damaged' } : { code: 'unknown_dictionary', dictionary };
}

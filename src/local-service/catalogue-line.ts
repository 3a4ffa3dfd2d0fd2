/**
 * One line of a catalogue file, from bytes to keys and the exact bytes of its brand. Pure; says in words what is
 * wrong with a line. The shape itself is `catalogue-brand.ts`'s, reading files `load-catalogue.ts`'s.
 */
import { isUtf8 } from 'node:buffer';
import { catalogueRecord } from './catalogue-brand.js';
import type { IndexedBrand } from './catalogue-index.js';

export type CatalogueLine =
  | { readonly type: 'brand'; readonly brand: Omit<IndexedBrand, 'line'> }
  /** `problem` names the field, then what is wrong with it. */
  | { readonly type: 'bad'; readonly problem: string };

/** Reads one line (without its line end). `body` is a view of `bytes`, not a copy. */
export function readCatalogueLine(bytes: Buffer): CatalogueLine {
  if (!isUtf8(bytes)) return { type: 'bad', problem: 'is not UTF-8' };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return {
      type: 'bad',
      problem: `is not JSON (${error instanceof Error ? error.message : String(error)})`,
    };
  }
  const read = catalogueRecord.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { type: 'bad', problem: `${pathText(issue?.path ?? [])}: ${issue?.message ?? 'is wrong'}` };
  }
  const { keys, adult } = read.data;
  return {
    type: 'brand',
    brand: {
      body: memberBytes(bytes, 'brand'),
      adult,
      keys: {
        domain: keys.domains,
        ticker: keys.tickers,
        isin: keys.isins,
        crypto: keys.crypto,
        id: [keys.id],
      },
    },
  };
}

/** `['brand', 'logos', 0, 'type']` as `brand.logos[0].type`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : `${text ? '.' : ''}${String(part)}`;
  return text || 'line';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);

/**
 * The bytes of the value of one member of the outermost object, the last one if the name is repeated (as
 * `JSON.parse` reads it). `bytes` must be valid JSON: nothing is checked again.
 */
export function memberBytes(bytes: Buffer, name: string): Buffer {
  let depth = 0;
  let start = 0;
  let found = bytes.subarray(0, 0);
  let isWanted = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) i = stringEnd(bytes, i);
    else if (OPENING.has(byte)) {
      depth += 1;
      if (depth === 1) start = i + 1;
    } else if (depth === 1 && byte === COLON) {
      isWanted = JSON.parse(bytes.toString('utf8', start, i)) === name;
      start = i + 1;
    } else if (depth === 1 && (byte === COMMA || CLOSING.has(byte))) {
      if (isWanted) found = trimmed(bytes, start, i);
      isWanted = false;
      start = i + 1;
      if (byte !== COMMA) depth = 0;
    } else if (CLOSING.has(byte)) depth -= 1;
  }
  return found;
}

/** The closing quote of the string that opens at `at`: the first one behind an even number of backslashes. */
function stringEnd(bytes: Buffer, at: number): number {
  let end = bytes.indexOf(QUOTE, at + 1);
  while (end > 0) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return bytes.length;
}

function trimmed(bytes: Buffer, start: number, end: number): Buffer {
  let from = start;
  let to = end;
  while (from < to && (bytes[from] ?? 0) <= 0x20) from += 1;
  while (to > from && (bytes[to - 1] ?? 0) <= 0x20) to -= 1;
  return bytes.subarray(from, to);
}

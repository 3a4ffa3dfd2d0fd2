/** Texts in XML that are the same in JSON, but for a few escapes: copied byte by byte. */
import { MOST_CELL_CHARS } from './xml-feed.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const AMPERSAND = 0x26;
const LESS = 0x3c;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const X = 0x78;
const DELETE = 0x7f;
/** Characters that XML does not allow begin so in UTF-8. */
const NEARLY_LAST = 0xef;

/**
 * Where the text ends that begins at `from`, at a tag. -1: it does not end before `end`, is long
 * or has references, line ends, escapes or perhaps forbidden characters.
 */
export function endOfPlainText(xml: Uint8Array, from: number, end: number): number {
  const last = Math.min(end, from + MOST_CELL_CHARS);
  for (let at = from; at < last; at += 1) {
    const byte = xml[at] as number;
    if (byte === LESS) return at;
    if (byte < SPACE || byte === AMPERSAND || byte === NEARLY_LAST) return -1;
    if (byte === UNDERSCORE && xml[at + 1] === X) return -1;
  }
  return -1;
}

/** Copies it as the content of a JSON text; returns where that ends. */
export function copyEscaped(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  at: number,
): number {
  let position = at;
  for (let index = start; index < end; index += 1) {
    const byte = from[index] as number;
    if (byte === QUOTE || byte === BACKSLASH) to[position++] = BACKSLASH;
    to[position++] = byte;
  }
  return position;
}

/** Whether a JSON text shows something, by its first byte: false says nothing. */
export function beginsWithInk(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] as number;
  return byte > SPACE && byte < DELETE && byte !== BACKSLASH && byte !== QUOTE;
}

/** Whether these bytes stand at `at`. */
export function hasBytes(xml: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (xml[at + index] !== bytes[index]) return false;
  return true;
}

/**
 * Texts in the XML of a workbook: their encoding, references and escapes, and those that are the
 * same in JSON but for a few escapes, which are copied byte by byte.
 */
import { TextDecoder } from 'node:util';

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

/** In a cell (Excel specifications and limits). */
export const MOST_CELL_CHARS = 32_767;
/** Each of them may be an escape of 7. */
const MOST_ESCAPED = MOST_CELL_CHARS * 7;

/** A text of several runs, no longer than is needed to see that it is too long for a cell. Pure. */
export function addText(text: string, more: string): string {
  if (text === '' && more.length <= MOST_ESCAPED) return more;
  return text.length > MOST_ESCAPED ? text : text + more.slice(0, MOST_ESCAPED + 1 - text.length);
}

/** XML 1.0, 2.2. */
const FORBIDDEN = /(?![\t\n\r\x7f-\x9f])\p{Cc}|[\ufffe\uffff]/u;
export function assertAllowed(text: string): string {
  if (FORBIDDEN.test(text)) throw new Error('its XML has a character that XML does not allow');
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** References and line ends (XML 1.0, 2.11, 3.3.3, 4.1). */
export function unescapeXml(text: string, isAttribute: boolean): string {
  if (!/[&\r\n\t]/.test(text)) return text;
  const lines = isAttribute ? text.replace(/\r\n|[\r\n\t]/g, ' ') : text.replace(/\r\n?/g, '\n');
  return lines.replace(/&([^;&]{0,10};?)/g, (_whole, reference: string) => {
    const [, hex, decimal] = /^#(?:x([0-9a-fA-F]+)|(\d+));$/.exec(reference) ?? [];
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10_ffff && (code & ~0x7ff) !== 0xd800;
    const found = isCharacter ? String.fromCodePoint(code) : ENTITIES[reference.slice(0, -1)];
    if (!reference.endsWith(';') || found === undefined || FORBIDDEN.test(found))
      throw new Error(`its XML has a reference that is not known: &${reference}`);
    return found;
  });
}

/** Parts are in UTF-8 or UTF-16 (ECMA-376, part 2). */
export function createDecoder() {
  let start: Buffer | null = EMPTY;
  let utf16: TextDecoder | null = null;
  /** Takes the next bytes, or null at the end; returns them in UTF-8. */
  return (bytes: Buffer | null): Buffer => {
    let whole = bytes ?? EMPTY;
    if (start !== null) {
      whole = Buffer.concat([start, whole]);
      start = whole;
      if (whole.length <= 3 && bytes !== null) return EMPTY;
      start = null;
      const label = UTF16[whole.toString('hex', 0, 2)];
      if (label !== undefined) utf16 = new TextDecoder(label, { fatal: true });
      else if (whole.toString('hex', 0, 3) === 'efbbbf') return whole.subarray(3);
    }
    return utf16 === null ? whole : Buffer.from(utf16.decode(whole, { stream: bytes !== null }));
  };
}

export const EMPTY: Buffer = Buffer.alloc(0);
/** By the first two bytes: a mark, or a `<`. */
const UTF16: Readonly<Record<string, string>> = {
  fffe: 'utf-16le',
  '3c00': 'utf-16le',
  feff: 'utf-16be',
  '003c': 'utf-16be',
};

/**
 * `_x000D_` is a carriage return: the escape for characters that XML does not allow (ECMA-376,
 * 22.9.2).
 */
export function unescapeXstring(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

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

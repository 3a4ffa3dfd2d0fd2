/** Decodes bytes; a byte outside the encoding is an error, never U+FFFD. */
import { isAscii, isUtf8 } from 'node:buffer';
import { load } from '../../core/load.js';

/** Loads the tables of code pages, which UTF-8 and UTF-16 do not need. */
export const iconv = () => load('iconv-lite') as typeof import('iconv-lite');

export interface StrictDecoder {
  /** Decodes bytes; keeps an unfinished character for later. Throws {@link EncodingFault}. */
  write(bytes: Buffer, isLast: boolean): string;
}

export class EncodingFault extends Error {
  constructor(
    /** The text of the same bytes before the fault. */
    readonly textBefore: string,
    /** The first wrong byte, in hex, and its offset after the mark; null for a code page. */
    readonly byte: { readonly offset: number; readonly seen: string } | null,
  ) {
    super('the bytes are not valid in this encoding');
  }
}

/** @param encoding `utf-8`, `utf-16le`, `utf-16be` or a name that iconv-lite knows */
export function createStrictDecoder(encoding: string): StrictDecoder {
  const isBig = encoding === 'utf-16be';
  const isUtf16 = isBig || encoding === 'utf-16le';
  if (isUtf16) return createPiecewise(wholeUtf16(isBig), (bytes) => decodeUtf16(bytes, isBig));
  return encoding === 'utf-8' ? createPiecewise(wholeUtf8, decodeUtf8) : createTableDecoder(encoding);
}

interface Decoded {
  readonly text: string;
  /** Offset of the first fault; absent without one. */
  readonly faultAt?: number;
}

/** `wholeLength` returns the number of bytes without an unfinished last character. */
function createPiecewise(
  wholeLength: (bytes: Buffer) => number,
  decode: (bytes: Buffer) => Decoded,
): StrictDecoder {
  let rest = Buffer.alloc(0);
  let offset = 0;
  return {
    write(bytes, isLast) {
      const piece = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const length = isLast ? piece.length : wholeLength(piece);
      const { text, faultAt } = decode(piece.subarray(0, length));
      if (faultAt !== undefined) {
        const seen = piece.toString('hex', faultAt, faultAt + 1);
        throw new EncodingFault(text, { offset: offset + faultAt, seen });
      }
      offset += length;
      rest = Buffer.from(piece.subarray(length));
      return text;
    },
  };
}

function decodeUtf8(bytes: Buffer): Decoded {
  if (isAscii(bytes)) return { text: bytes.toString('latin1') };
  if (isUtf8(bytes)) return { text: bytes.toString('utf8') };
  let at = 0;
  for (let lineEnd = bytes.indexOf(10); lineEnd >= 0; lineEnd = bytes.indexOf(10, at)) {
    if (!isUtf8(bytes.subarray(at, lineEnd))) break;
    at = lineEnd + 1;
  }
  for (let length = 0; isUtf8(bytes.subarray(at, at + length)); length = utf8Length(bytes[at])) at += length;
  return { text: bytes.toString('utf8', 0, at), faultAt: at };
}

/** Returns the number of bytes of the character that begins with this one. */
export function utf8Length(lead = 0): number {
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Returns the number of bytes without an unfinished last character. */
export function wholeUtf8(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return utf8Length(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function wholeUtf16(isBigEndian: boolean): (bytes: Buffer) => number {
  return (bytes) => {
    const even = bytes.length - (bytes.length % 2);
    const high = bytes[isBigEndian ? even - 2 : even - 1] ?? 0;
    return (high & 0xfc) === 0xd8 ? even - 2 : even;
  };
}

function decodeUtf16(bytes: Buffer, isBigEndian: boolean): Decoded {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const text = (isBigEndian ? Buffer.from(even).swap16() : even).toString('utf16le');
  const lone = /\p{Surrogate}/u.exec(text);
  if (lone !== null) return { text: text.slice(0, lone.index), faultAt: lone.index * 2 };
  return even.length === bytes.length ? { text } : { text, faultAt: even.length };
}

/** Decodes a code page. iconv-lite writes U+FFFD, which no page has, for an undefined byte. */
function createTableDecoder(encoding: string): StrictDecoder {
  const decoder = iconv().getDecoder(encoding, { stripBOM: false });
  const isAsciiBased = encoding === 'windows-1252' || encoding === 'iso-8859-1';
  return {
    write(bytes, isLast) {
      if (isAsciiBased && isAscii(bytes)) return bytes.toString('latin1');
      const text = decoder.write(bytes) + (isLast ? (decoder.end() ?? '') : '');
      const faultAt = text.indexOf('\ufffd');
      if (faultAt >= 0) throw new EncodingFault(text.slice(0, faultAt), null);
      return text;
    },
  };
}

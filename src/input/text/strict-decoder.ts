/** Bytes to text: bytes outside the encoding stop the reading there, and are never U+FFFD. */
import { isAscii, isUtf8 } from 'node:buffer';
import { load } from '../../core/load.js';

/** Tables of code pages, which UTF-8 and UTF-16 do without. */
export const iconv = () => load('iconv-lite') as typeof import('iconv-lite');

export interface StrictDecoder {
  /** The text of these bytes; an unfinished character waits. Throws {@link EncodingFault}. */
  write(bytes: Buffer, isLast: boolean): string;
}

export class EncodingFault extends Error {
  constructor(
    /** Position in the decoded input, from 0, the byte order mark not counted. */
    readonly offset: number,
    /** The first offending byte, in hex. */
    readonly seen: string,
    /** What was read of the same bytes before the fault. */
    readonly textBefore: string,
  ) {
    super(`byte ${offset} is not valid in this encoding`);
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
  /** Offset of the first fault; absent when there is none. */
  readonly faultAt?: number;
}

/** `wholeLength`: bytes that are left when an unfinished character at the end is held back. */
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
        throw new EncodingFault(offset + faultAt, piece.toString('hex', faultAt, faultAt + 1), text);
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

/** Bytes of the character that begins with this one. */
export function utf8Length(lead = 0): number {
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** How many bytes are left when an unfinished character at the end is held back. */
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

/** A file without any blank or line end is not a table: of such a text the end is enough. */
const LONGEST_TAIL = 64 * 1024;

/** Code pages by iconv-lite, which writes U+FFFD, that none of them has, for what means nothing. */
function createTableDecoder(encoding: string): StrictDecoder {
  const startDecoder = () => iconv().getDecoder(encoding, { stripBOM: false });
  const decoder = startDecoder();
  const isAsciiBased = encoding === 'windows-1252' || encoding === 'iso-8859-1';
  const unitBytes = encoding.startsWith('utf-32') ? 4 : 1;
  let offset = 0;
  /** The last bytes of earlier writes, from a place on where no character is unfinished. */
  let tail: Buffer = Buffer.alloc(0);

  /** The decoder does not say where it is, so the bytes around the fault are decoded once more. */
  function faultIn(bytes: Buffer, isLast: boolean, textBefore: string): EncodingFault {
    const piece = Buffer.concat([tail, bytes]);
    const again = startDecoder();
    const text = again.write(piece) + (isLast ? (again.end() ?? '') : '');
    const at = iconv().encode(text.slice(0, Math.max(0, text.indexOf('\ufffd'))), encoding).length;
    return new EncodingFault(offset - tail.length + at, piece.toString('hex', at, at + 1), textBefore);
  }

  return {
    write(bytes, isLast) {
      const isPlain = isAsciiBased && isAscii(bytes);
      const text = isPlain
        ? bytes.toString('latin1')
        : decoder.write(bytes) + (isLast ? (decoder.end() ?? '') : '');
      const faultAt = isPlain ? -1 : text.indexOf('\ufffd');
      if (faultAt >= 0) throw faultIn(bytes, isLast, text.slice(0, faultAt));
      offset += bytes.length;
      if (!isAsciiBased) tail = tailOf(tail, bytes, unitBytes === 1 ? null : offset % unitBytes);
      return text;
    },
  };
}

/** `unfinished`: so many bytes; null: those after the last blank or line end. */
function tailOf(before: Buffer, bytes: Buffer, unfinished: number | null): Buffer {
  // No character of several bytes has one of these (0x00 to 0x20) in any code page.
  let start = bytes.length;
  while (start > 0 && (bytes[start - 1] ?? 0) > 0x20) start -= 1;
  const isWhole = unfinished !== null || start === 0;
  const tail = isWhole ? Buffer.concat([before, bytes]) : Buffer.from(bytes.subarray(start));
  return tail.subarray(Math.max(0, tail.length - (unfinished ?? LONGEST_TAIL)));
}

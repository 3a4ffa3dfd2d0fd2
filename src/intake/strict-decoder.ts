/**
 * Bytes to text without ever putting U+FFFD where the input had something else: what does not
 * belong to the encoding stops the reading and says where. Which encoding it is was decided before
 * (`sniff-encoding.ts`).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

export interface StrictDecoder {
  /**
   * The text of these bytes; an unfinished character waits for the next ones. Throws {@link
   * EncodingFault}.
   */
  write(bytes: Buffer, isLast: boolean): string;
}

/** Bytes that are not in the encoding. */
export class EncodingFault extends Error {
  constructor(
    /** Position in the decoded input, from 0, the byte order mark not counted. */
    readonly offset: number,
    /** The first offending byte or unit, in hex. */
    readonly seen: string,
    /** What was read of the same bytes before the fault. */
    readonly textBefore: string,
  ) {
    super(`byte ${offset} does not belong to the encoding`);
  }
}

/** @param encoding `utf-8`, `utf-16le`, `utf-16be` or a name that iconv-lite knows */
export function createStrictDecoder(encoding: string): StrictDecoder {
  if (encoding === 'utf-8') return createPiecewise(wholeUtf8, decodeUtf8);
  if (encoding === 'utf-16le') return createPiecewise(wholeUtf16(false), (bytes) => decodeUtf16(bytes));
  if (encoding === 'utf-16be') {
    return createPiecewise(wholeUtf16(true), (bytes) => decodeUtf16(swapped(bytes)));
  }
  return createTableDecoder(encoding);
}

/** Where and what the first fault of a piece is. */
interface Decoded {
  readonly text: string;
  /** Offset of the fault in the piece; null when all of it was read. */
  readonly faultAt: number | null;
}

/** Holds back an unfinished character at the end of each piece. */
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
      if (faultAt !== null) {
        throw new EncodingFault(offset + faultAt, piece.subarray(faultAt, faultAt + 1).toString('hex'), text);
      }
      offset += length;
      rest = Buffer.from(piece.subarray(length));
      return text;
    },
  };
}

function decodeUtf8(bytes: Buffer): Decoded {
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), faultAt: null };
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), faultAt: null };
  let at = 0;
  for (let lineEnd = bytes.indexOf(10); lineEnd >= 0; lineEnd = bytes.indexOf(10, at)) {
    if (!isUtf8(bytes.subarray(at, lineEnd))) break;
    at = lineEnd + 1;
  }
  let length = utf8Length(bytes[at]);
  while (isUtf8(bytes.subarray(at, at + length))) {
    at += length;
    length = utf8Length(bytes[at]);
  }
  return { text: bytes.subarray(0, at).toString('utf8'), faultAt: at };
}

/** Bytes of the character that begins with this one. */
function utf8Length(lead = 0): number {
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
    const high = even < 2 ? 0 : (bytes[isBigEndian ? even - 2 : even - 1] ?? 0);
    return (high & 0xfc) === 0xd8 ? even - 2 : even;
  };
}

function decodeUtf16(bytes: Buffer): Decoded {
  const text = bytes.toString('utf16le');
  const lone = /\p{Surrogate}/u.exec(text);
  if (lone !== null) return { text: text.slice(0, lone.index), faultAt: lone.index * 2 };
  return { text, faultAt: bytes.length % 2 === 0 ? null : bytes.length - 1 };
}

function swapped(bytes: Buffer): Buffer {
  const isOdd = bytes.length % 2 === 1;
  const copy = Buffer.from(isOdd ? bytes.subarray(0, -1) : bytes).swap16();
  return isOdd ? Buffer.concat([copy, bytes.subarray(-1)]) : copy;
}

/**
 * Code pages by iconv-lite, which writes U+FFFD where a byte means nothing: none of these encodings
 * has it.
 */
function createTableDecoder(encoding: string): StrictDecoder {
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  const isAsciiBased = encoding === 'windows-1252' || encoding === 'iso-8859-1';
  let offset = 0;
  return {
    write(bytes, isLast) {
      if (isAsciiBased && isAscii(bytes)) {
        offset += bytes.length;
        return bytes.toString('latin1');
      }
      const text = decoder.write(bytes) + (isLast ? (decoder.end() ?? '') : '');
      const faultAt = text.indexOf('\ufffd');
      if (faultAt >= 0) {
        const textBefore = text.slice(0, faultAt);
        const at = iconv.encode(textBefore, encoding).length;
        throw new EncodingFault(offset + at, bytes.subarray(at, at + 1).toString('hex'), textBefore);
      }
      offset += bytes.length;
      return text;
    },
  };
}

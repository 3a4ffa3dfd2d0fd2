/**
 * Which encoding the bytes are in, judged from the head of the input and a stretch with letters
 * beyond ASCII. In this order: byte order mark; UTF-16 by its zeros; binary; valid UTF-8;
 * Windows-1252 when no other code page that reads the text otherwise is likelier. Other code pages
 * are never guessed, only named. Pure.
 */
import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';
import { wholeUtf8 } from './strict-decoder.js';

export type EncodingVerdict =
  | { readonly type: 'encoding'; readonly encoding: string; readonly bomBytes: number }
  | { readonly type: 'binary'; readonly seen: string }
  /**
   * Text, but which code page is not certain; `likely` are names that `--encoding` takes, likeliest
   * first.
   */
  | { readonly type: 'doubtful'; readonly seen: string; readonly likely: readonly string[] };

const BOMS: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0x00, 0x00], 'utf-32le'],
  [[0x00, 0x00, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/** The byte order mark at the start, if there is one. */
export function findBom(head: Buffer): { encoding: string; bomBytes: number } | null {
  const found = BOMS.find(([bytes]) => bytes.every((byte, i) => head[i] === byte));
  return found === undefined ? null : { encoding: found[1], bomBytes: found[0].length };
}

/**
 * @param head the input's first bytes
 * @param stretch bytes around the first one beyond ASCII, wherever it stands; empty when there is
 * none
 */
export function sniffEncoding(head: Buffer, stretch: Buffer): EncodingVerdict {
  const bom = findBom(head);
  if (bom !== null) return { type: 'encoding', ...bom };
  const wide = sniffUtf16(head);
  if (wide !== null) return { type: 'encoding', encoding: wide, bomBytes: 0 };
  const controls = countControls(head);
  // A few stray ones are damaged records; a share like this is no text at all.
  if (controls >= 16 && controls > head.length / 50) {
    return { type: 'binary', seen: `${controls} control characters in the first ${head.length} bytes` };
  }
  if (stretch.length === 0) return { type: 'encoding', encoding: 'utf-8', bomBytes: 0 };
  return sniffCodePage(stretch);
}

function sniffCodePage(stretch: Buffer): EncodingVerdict {
  const whole = stretch.subarray(0, wholeUtf8(stretch));
  if (isUtf8(whole)) return { type: 'encoding', encoding: 'utf-8', bomBytes: 0 };
  const { valid, broken } = countUtf8(whole);
  // UTF-8 with damage: read strictly, so that the place is named.
  if (valid >= broken) return { type: 'encoding', encoding: 'utf-8', bomBytes: 0 };

  const western = iconv.decode(stretch, 'windows-1252');
  const matches = analyse(stretch).filter(
    ({ name }) => !/^(ASCII|UTF-.*)$/.test(name) && iconv.encodingExists(name),
  );
  const westernShare = Math.max(
    0,
    ...matches.filter(({ name }) => /^(ISO-8859-1|windows-1252)$/.test(name)).map((it) => it.confidence),
  );
  const rivals = matches.filter(
    ({ name, confidence }) => confidence > westernShare && iconv.decode(stretch, name) !== western,
  );
  // Many whole UTF-8 characters among the rest: two encodings in one file, or an Asian one.
  const isMixed = valid * 10 >= broken;
  if (rivals.length === 0 && !isMixed && !western.includes('\ufffd')) {
    return { type: 'encoding', encoding: 'windows-1252', bomBytes: 0 };
  }
  return {
    type: 'doubtful',
    seen: 'text that is neither UTF-8 nor certainly Windows-1252',
    likely: rivals.slice(0, 3).map(({ name }) => name.toLowerCase()),
  };
}

/**
 * UTF-16 without a mark: zeros on one side of the byte pairs only, and sensible text when read so.
 */
export function sniffUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  const pairs = Math.floor(head.length / 2);
  if (pairs === 0) return null;
  const zeros = [0, 0];
  for (let i = 0; i < pairs * 2; i += 1) if (head[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) < pairs / 20 || Math.min(even, odd) > Math.max(even, odd) / 20) return null;
  // Plain text with a stray NUL in a short file: in UTF-16 every plain character brings a zero.
  if (even + odd < pairs / 4 && countPlain(head) > (head.length - even - odd) * 0.9) return null;
  const encoding = odd > even ? 'utf-16le' : 'utf-16be';
  const text = iconv.decode(head.subarray(0, pairs * 2), encoding, { stripBOM: false });
  const isSensible = !/[^\P{Cc}\t\r\n]/u.test(text) && !/\p{Surrogate}/u.test(text.slice(0, -1));
  return isSensible && (pairs < 200 || /[\r\n]/.test(text)) ? encoding : null;
}

/** Characters of plain English text. */
function countPlain(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if ((byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13)) count += 1;
  return count;
}

function countControls(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) count += 1;
  return count;
}

/** Characters of several bytes that are whole, and bytes beyond ASCII that belong to none. */
export function countUtf8(bytes: Buffer): { valid: number; broken: number } {
  let valid = 0;
  let broken = 0;
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const isWhole = lead < 0x80 || isUtf8(bytes.subarray(at, at + length));
    if (lead >= 0x80) {
      if (isWhole) valid += 1;
      else broken += 1;
    }
    at += isWhole ? length : 1;
  }
  return { valid, broken };
}

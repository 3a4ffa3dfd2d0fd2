/** Chooses the encoding of an input: as requested, by its byte order mark, or by its bytes. */
import { isAscii, isUtf8 } from 'node:buffer';
import { RunError } from '../../core/errors.js';
import { load } from '../../core/load.js';
import { phrase } from '../../core/phrase.js';
import { iconv, utf8Length, wholeUtf8 } from './strict-decoder.js';

export interface ChosenEncoding {
  readonly encoding: string;
  /** Length of the byte order marks; 0 without one. */
  readonly bomBytes: number;
}

type LookAhead = Awaited<ReturnType<typeof lookAhead>>;

const HEAD_BYTES = 1024 * 1024;
const STRETCH_BYTES = 64 * 1024;
/** Bytes before the stretch: whole words help to recognise a code page. */
const CONTEXT_BYTES = 4 * 1024;

/** Reads the head of a file, and its stretch: the text around the first byte that is not ASCII. */
export async function lookAhead(
  chunks: AsyncIterable<Buffer>,
  isStretchWanted: boolean,
  headBytes = HEAD_BYTES,
) {
  const heads: Buffer[] = [];
  let stretch: Buffer = Buffer.alloc(0);
  let total = 0;
  for await (const chunk of chunks) {
    // The source reuses its memory.
    if (total < headBytes) heads.push(Buffer.from(chunk));
    total += chunk.length;
    if (isStretchWanted && stretch.length > 0) {
      stretch = append(stretch, chunk, STRETCH_BYTES);
    } else if (isStretchWanted && !isAscii(chunk)) {
      const begin = chunk.findIndex((byte) => byte > 127) - CONTEXT_BYTES;
      stretch = append(stretch, chunk.subarray(Math.max(0, begin)), STRETCH_BYTES);
    }
    if (total > headBytes && (!isStretchWanted || stretch.length === STRETCH_BYTES)) break;
  }
  const head: Buffer = Buffer.concat(heads, Math.min(total, headBytes));
  return { head, isWhole: total === head.length, stretch };
}

function append(bytes: Buffer, more: Buffer, most: number): Buffer {
  if (bytes.length === most) return bytes;
  return Buffer.concat([bytes, more], Math.min(most, bytes.length + more.length));
}

/** `asked`: the requested encoding, null to detect it. Throws `input-encoding`, `input-binary`. */
export function chooseEncoding(name: string, asked: string | null, seen: LookAhead): ChosenEncoding {
  const { head, stretch } = seen;
  if (asked !== null) return confirmAsked(name, asked, seen);
  const bom = findBom(head);
  if (bom !== null) return bom;
  const wide = sniffUtf16(head);
  if (wide !== null) return { encoding: wide, bomBytes: 0 };
  const controls = countBytes(head, (byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27));
  // A few control characters mean damaged records, this many a binary file.
  if (controls >= 16 && controls > head.length / 50) {
    const subject = `${name} (${controls} control characters in the first ${head.length} bytes)`;
    const todo = phrase`give a CSV or JSONL file, or set ${{ setting: 'encoding' }} if it is text`;
    throw new RunError({ code: 'input-binary', subject, todo });
  }
  return { encoding: sniffCodePage(name, stretch), bomBytes: 0 };
}

function confirmAsked(name: string, asked: string, { head, stretch }: LookAhead): ChosenEncoding {
  const bom = findBom(head);
  const isSame = bom?.encoding === asked || (asked === 'utf-16' && bom?.encoding.startsWith('utf-16'));
  if (bom !== null && isSame) return bom;
  const { valid, broken } = countUtf8(stretch);
  // Under another encoding real UTF-8 would come back with every accent spoiled.
  const isSpoiled = !asked.startsWith('utf') && valid >= 3 && broken <= 1;
  if (bom !== null || isSpoiled) {
    const fact = bom === null ? 'its text is utf-8' : `it begins with the byte order mark of ${bom.encoding}`;
    const subject = `${name} (asked for ${asked}, but ${fact})`;
    const todo = phrase`${{ unset: 'encoding' }}, or correct it`;
    throw new RunError({ code: 'input-encoding', subject, todo });
  }
  return { encoding: asked === 'utf-16' ? (sniffUtf16(head) ?? 'utf-16le') : asked, bomBytes: 0 };
}

/** In hex; a mark that begins with another one stands before it. */
const BOMS = [
  ['efbbbf', 'utf-8'],
  ['fffe0000', 'utf-32le'],
  ['0000feff', 'utf-32be'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
] as const;

/** Finds a mark, and counts it as often as programs have added it. */
function findBom(head: Buffer): ChosenEncoding | null {
  const start = head.toString('hex', 0, 64);
  const [mark = '', encoding] = BOMS.find(([each]) => start.startsWith(each)) ?? [];
  if (encoding === undefined) return null;
  let end = mark.length;
  while (start.startsWith(mark, end)) end += mark.length;
  return { encoding, bomBytes: end / 2 };
}

/**
 * A code page is taken from this confidence in percent, and this many times that of the next one.
 * A script without ASCII letters needs less, because it cannot be a Western one.
 */
const FAR = { latin: { least: 40, times: 2.5 }, otherScript: { least: 20, times: 2 } } as const;
const LEAST_BYTES = 40;

function sniffCodePage(name: string, stretch: Buffer): string {
  const { valid, broken } = countUtf8(stretch.subarray(0, wholeUtf8(stretch)));
  // The decoder then names the place of the damage.
  if (valid >= broken) return 'utf-8';

  const { analyse } = load('chardet') as typeof import('chardet');
  const western = iconv().decode(stretch, 'windows-1252');
  const matches = analyse(stretch)
    .filter((it) => !/^(ASCII|UTF-.*)$/.test(it.name) && iconv().encodingExists(it.name))
    .map((it) => ({ ...it, isWestern: /^(ISO-8859-1|windows-1252)$/.test(it.name) }));
  const share = Math.max(0, ...matches.filter((it) => it.isWestern).map((it) => it.confidence));
  const rivals = matches.filter(
    (it) => it.confidence > share && iconv().decode(stretch, it.name) !== western,
  );
  // Many whole UTF-8 characters mean two encodings, or an Asian one; `ß“` looks like one.
  const quoted = western.match(/[Æ-ß][’“”»…–—]/g)?.length ?? 0;
  const isMixed = (valid - quoted) * 10 >= broken;
  if (rivals.length === 0 && !isMixed && !western.includes('\ufffd')) return 'windows-1252';
  const [likeliest, next] = matches;
  const isOther = isOtherScript(stretch);
  const { least, times } = isOther ? FAR.otherScript : FAR.latin;
  // ISO pages differ from those of Windows in too few letters.
  const isFar =
    broken >= LEAST_BYTES &&
    likeliest &&
    !likeliest.name.startsWith('ISO-8859') &&
    likeliest.confidence >= Math.max(least, times * (next?.confidence ?? 0));
  // The stretch may end within a character.
  const isReadable = isFar && !iconv().decode(stretch, likeliest.name).slice(0, -1).includes('\ufffd');
  // Some bytes of an Asian page are UTF-8 by chance.
  if (isReadable && (isOther || !isMixed) && likeliest === rivals[0]) return likeliest.name.toLowerCase();
  const likely = rivals.slice(0, 3).map((match) => match.name.toLowerCase());
  const hint = likely.length === 0 ? '' : `, likely ${likely.join(' or ')}`;
  const subject = `${name} (neither UTF-8 nor clearly Windows-1252${hint})`;
  const todo = phrase`set it, for example ${{ set: { encoding: likely[0] ?? 'windows-1252' } }}`;
  throw new RunError({ code: 'input-encoding', what: 'the encoding of the input is unclear', subject, todo });
}

/** True if most bytes beyond ASCII stand in runs of three or more, unlike accents. */
function isOtherScript(bytes: Buffer): boolean {
  let inRuns = 0;
  let run = 0;
  for (const byte of bytes) {
    run = byte > 127 ? run + 1 : 0;
    if (run >= 3) inRuns += run === 3 ? 3 : 1;
  }
  return inRuns > countBytes(bytes, (byte) => byte > 127) * 0.8;
}

/** Detects UTF-16 without a mark: zeros on one side of the byte pairs only, and sensible text. */
function sniffUtf16(head: Buffer): string | null {
  const pairs = Math.floor(head.length / 2);
  let even = 0;
  let odd = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    if (head[at] === 0) even += 1;
    if (head[at + 1] === 0) odd += 1;
  }
  if (pairs === 0 || Math.max(even, odd) < pairs / 20) return null;
  if (Math.min(even, odd) > Math.max(even, odd) / 20) return null;
  // A stray NUL in a short plain text is not UTF-16, where every plain character has a zero.
  const plain = countBytes(head, (byte) => (byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13));
  if (even + odd < pairs / 4 && plain > (head.length - even - odd) * 0.9) return null;
  const encoding = odd > even ? 'utf-16le' : 'utf-16be';
  const text = iconv().decode(head.subarray(0, pairs * 2), encoding, { stripBOM: false });
  const isSensible = !/[^\P{Cc}\t\r\n]/u.test(text) && !/\p{Surrogate}/u.test(text.slice(0, -1));
  return isSensible && (pairs < 200 || /[\r\n]/.test(text)) ? encoding : null;
}

function countBytes(bytes: Buffer, isCounted: (byte: number) => boolean): number {
  let count = 0;
  // An iterator takes four times as long until it is compiled.
  for (let at = 0; at < bytes.length; at += 1) if (isCounted(bytes[at] ?? 0)) count += 1;
  return count;
}

/** Counts whole characters of several bytes, and bytes beyond ASCII outside of them. */
function countUtf8(bytes: Buffer): { valid: number; broken: number } {
  let valid = 0;
  let broken = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = utf8Length(bytes[at]);
    const isWhole = isUtf8(bytes.subarray(at, at + length));
    if (!isWhole) broken += 1;
    else if (length > 1) valid += 1;
    at += isWhole ? length : 1;
  }
  return { valid, broken };
}

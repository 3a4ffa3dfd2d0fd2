/**
 * The encoding that an input is read with: the one asked for, unless the bytes contradict it, or
 * else the one they are found to be in. Judged by `sniff-encoding.ts`; here are the refusals and
 * their words. Pure.
 */

import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { FailFileError, NeverStartError } from '../core/errors.js';
import { detectLineMode, LineFinder } from './line-finder.js';
import { countUtf8, findBom, sniffEncoding, sniffUtf16 } from './sniff-encoding.js';
import type { EncodingFault } from './strict-decoder.js';

const ALIASES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8bom: 'utf-8',
  utf8sig: 'utf-8',
  ascii: 'utf-8',
  usascii: 'utf-8',
  utf16: 'utf-16',
  utf16le: 'utf-16le',
  ucs2: 'utf-16le',
  utf16be: 'utf-16be',
  cp1252: 'windows-1252',
  windows1252: 'windows-1252',
  win1252: 'windows-1252',
  ansi: 'windows-1252',
  latin1: 'iso-8859-1',
  iso88591: 'iso-8859-1',
};

/** iconv-lite's codecs that are no encodings of text. */
const NO_TEXT = new Set(['base64', 'hex', 'binary', 'utf7', 'utf7imap']);

/** The name in its usual form; `utf-16` leaves the byte order open. null: no such encoding. */
function encodingName(name: string): string | null {
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  const alias = ALIASES[key];
  if (alias !== undefined) return alias;
  return key !== '' && !NO_TEXT.has(key) && iconv.encodingExists(key) ? name.toLowerCase() : null;
}

interface LookAhead {
  readonly head: Buffer;
  /** Whether the head is the whole input. */
  readonly isWhole: boolean;
  /** With some ASCII before the first byte beyond it; empty when all is ASCII. */
  readonly stretch: Buffer;
}

const HEAD_BYTES = 1024 * 1024;
const STRETCH_BYTES = 64 * 1024;
/** A code page is better recognised with the words around its letters. */
const CONTEXT_BYTES = 4 * 1024;

/** @param isStretchWanted false: the encoding is known, and reading stops with the head */
export async function lookAhead(chunks: AsyncIterable<Buffer>, isStretchWanted: boolean): Promise<LookAhead> {
  const head: Buffer[] = [];
  const stretch: Buffer[] = [];
  let headBytes = 0;
  let stretchBytes = 0;
  let isWhole = true;
  for await (const chunk of chunks) {
    if (headBytes < HEAD_BYTES) {
      const part = Buffer.from(chunk.subarray(0, HEAD_BYTES - headBytes));
      head.push(part);
      headBytes += part.length;
      if (part.length < chunk.length) isWhole = false;
    } else {
      isWhole = false;
    }
    if (isStretchWanted && stretchBytes < STRETCH_BYTES && (stretchBytes > 0 || !isAscii(chunk))) {
      const firstAt = stretchBytes > 0 ? 0 : chunk.findIndex((byte) => byte > 127);
      const begin = Math.max(0, firstAt - CONTEXT_BYTES);
      const part = Buffer.from(chunk.subarray(begin, begin + STRETCH_BYTES - stretchBytes));
      stretch.push(part);
      stretchBytes += part.length;
    }
    const hasStretch = !isStretchWanted || stretchBytes >= STRETCH_BYTES;
    if (hasStretch && headBytes >= HEAD_BYTES && !isWhole) break;
  }
  return { head: Buffer.concat(head), isWhole, stretch: Buffer.concat(stretch) };
}

export interface ChosenEncoding {
  readonly encoding: string;
  /** Length of the byte order mark; 0 without one. */
  readonly bomBytes: number;
}

/**
 * The usual name of what `--encoding` says. Throws `usage-invalid` for a name that nobody knows.
 */
export function checkEncodingName(name: string): string {
  const known = encodingName(name);
  if (known !== null) return known;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'this encoding is not known',
    subject: `--encoding ${name}`,
    todo: 'use utf-8, utf-16le, utf-16be, windows-1252, latin1 or another name that iconv-lite knows',
  });
}

/**
 * @param asked as {@link checkEncodingName} returned it; undefined: detect
 * Throws `input-encoding` and `input-binary`.
 */
export function chooseEncoding(name: string, asked: string | undefined, seen: LookAhead): ChosenEncoding {
  if (asked !== undefined) return confirmAsked(name, asked, seen);
  const verdict = sniffEncoding(seen.head, seen.stretch);
  switch (verdict.type) {
    case 'encoding':
      return verdict;
    case 'binary':
      throw new FailFileError({
        code: 'input-binary',
        subject: `${name} (${verdict.seen})`,
        todo: 'name a CSV or JSONL file, or say --encoding if it is text',
      });
    case 'doubtful': {
      const guess = verdict.likely[0];
      const hint = guess === undefined ? '' : `, likely ${verdict.likely.join(' or ')}`;
      throw new FailFileError({
        code: 'input-encoding',
        what: 'the encoding of the input is in doubt',
        subject: `${name} (${verdict.seen}${hint})`,
        todo: `name it, for example --encoding ${guess ?? 'windows-1252'}`,
      });
    }
  }
}

function confirmAsked(name: string, asked: string, seen: LookAhead): ChosenEncoding {
  const bom = findBom(seen.head);
  const isSame = bom?.encoding === asked || (asked === 'utf-16' && bom?.encoding.startsWith('utf-16'));
  if (bom !== null && isSame) return bom;
  const { valid, broken } = countUtf8(seen.stretch);
  // Read as anything else, real UTF-8 would come back with every accent spoiled.
  const isUtf8 = !asked.startsWith('utf') && valid >= 3 && broken <= 1;
  if (bom !== null || isUtf8) {
    throw new FailFileError({
      code: 'input-encoding',
      subject: `${name} (asked for ${asked}, but ${bom === null ? 'its text is utf-8' : `it begins with the byte order mark of ${bom.encoding}`})`,
      todo: 'leave --encoding out, or correct it',
    });
  }
  return { encoding: asked === 'utf-16' ? (sniffUtf16(seen.head) ?? 'utf-16le') : asked, bomBytes: 0 };
}

/**
 * @param position where the reader stands: the line of the text that it still holds, and that text
 */
export function encodingFault(
  name: string,
  chosen: ChosenEncoding,
  fault: EncodingFault,
  position: { readonly line: number; readonly rest: string },
): FailFileError {
  const before = position.rest + fault.textBefore;
  const finder = new LineFinder(before, detectLineMode(before, false), true);
  const line = position.line + finder.count(0, before.length);
  const byte = chosen.bomBytes + fault.offset;
  const todo =
    chosen.encoding === 'utf-8'
      ? 'name the encoding, for example --encoding windows-1252, or repair that line'
      : 'name another --encoding, or repair that line';
  return new FailFileError({
    code: 'input-encoding',
    subject: `${name}, line ${line}, byte ${byte} (0x${fault.seen} is not ${chosen.encoding})`,
    todo,
    cause: fault,
  });
}

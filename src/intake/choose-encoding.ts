/**
 * The encoding that an input is read with: the one asked for, unless the bytes contradict it, or else the one
 * they are found to be in. Judged by `sniff-encoding.ts`; here are the refusals and their words. Pure.
 */
import { FailFileError, NeverStartError } from '../core/errors.js';
import { encodingName } from './encoding-name.js';
import type { LookAhead } from './look-ahead.js';
import { countUtf8, findBom, sniffEncoding, sniffUtf16 } from './sniff-encoding.js';

export interface ChosenEncoding {
  readonly encoding: string;
  /** Length of the byte order mark; 0 without one. */
  readonly bomBytes: number;
}

/** The usual name of what `--encoding` says. Throws `usage-invalid` for a name that nobody knows. */
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

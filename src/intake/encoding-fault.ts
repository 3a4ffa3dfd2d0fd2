/**
 * The words for bytes that are not in the encoding: what was seen, where, and which flag helps.
 */
import { FailFileError } from '../core/errors.js';
import type { ChosenEncoding } from './choose-encoding.js';
import { detectLineMode, LineFinder } from './line-finder.js';
import type { EncodingFault } from './strict-decoder.js';

/** @param position where the reader stands: the line of the text that it still holds, and that text */
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

/**
 * The door of the intake: a path or standard input becomes an `Input`.
 */
import { FailFileError } from '../errors.js';
import type { Input, IntakeOptions } from './input.js';

export type { Input, IntakeOptions } from './input.js';

/**
 * Opens an input and finds out its shape. `-` is standard input.
 *
 * Throws `FailFileError` for what is wrong with the file, `NeverStartError` for what is wrong with the options.
 */
export async function openInput(
  path: string,
  _stdin: NodeJS.ReadableStream | null,
  _options: IntakeOptions,
): Promise<Input> {
  throw new FailFileError({ code: 'input-missing', subject: path, todo: 'reading is not built yet' });
}

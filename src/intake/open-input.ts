/** A path or standard input becomes an `Input`. */
import { NeverStartError } from '../core/errors.js';
import { type OpeningOptions, openByteSource } from './byte-source.js';
import { checkEncodingName } from './choose-encoding.js';
import { Input } from './input.js';
import type { TableOptions } from './sniff-table.js';
import { openTextTable } from './text-table.js';

export interface IntakeOptions extends OpeningOptions, TableOptions {
  /** A name that iconv-lite knows; detected when absent. */
  readonly encoding?: string;
  /** The most records to read; null: all. */
  readonly limit: number | null;
}

/**
 * `-` is standard input. Throws `FailFileError` for what is wrong with the file (`input-missing`,
 * `input-empty`, `input-binary`, `input-encoding`, `input-preamble`, `disk-low`), `NeverStartError`
 * for options that cannot be meant (`usage-invalid`) and for a first line that is data
 * (`column-doubtful`), `InterruptedError` when it is stopped.
 */
export async function openInput(
  path: string,
  stdin: NodeJS.ReadableStream | null,
  options: IntakeOptions,
): Promise<Input> {
  const asked = options.encoding === undefined ? undefined : checkEncodingName(options.encoding);
  const delimiter = options.delimiter === undefined ? undefined : checkDelimiter(options.delimiter);
  const source = await openByteSource(path, stdin, options);
  try {
    const { limit, stop } = options;
    return await Input.of(
      await openTextTable(source, { ...options, delimiter, encoding: asked, limit, stop }),
    );
  } catch (error) {
    await source.close();
    throw error;
  }
}

function checkDelimiter(text: string): string {
  const delimiter = /^(tab|\\t)$/i.test(text) ? '\t' : text;
  if (delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'the delimiter must be one character',
    subject: `--delimiter '${text}'`,
    todo: "use ',', ';', '|', 'tab' or another single character",
  });
}

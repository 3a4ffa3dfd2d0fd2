/** A path or standard input becomes an `Input`, in stages: bytes, encoding, layout, sample. */
import { NeverStartError } from '../core/errors.js';
import { assertNotBinary } from './binary-signature.js';
import { type ByteSource, type OpeningOptions, openByteSource, readingStopped } from './byte-source.js';
import { checkEncodingName, chooseEncoding, lookAhead } from './choose-encoding.js';
import { decode, Input } from './input.js';
import { sniffTable, type TableOptions } from './sniff-table.js';
import { createStrictDecoder } from './strict-decoder.js';

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
    const { name } = source;
    const chunks = readUntilStopped(source, options.stop);
    const seen = await lookAhead(chunks, asked === undefined || !asked.startsWith('utf'));
    assertNotBinary(name, seen.head);
    const chosen = chooseEncoding(name, asked, seen);
    const bytes = seen.head.subarray(chosen.bomBytes);
    const start = { name, chosen, line: 1, rest: '' };
    const text = decode(createStrictDecoder(chosen.encoding), bytes, seen.isWhole, start);
    const layout = sniffTable({ name, text, isWhole: seen.isWhole }, { ...options, delimiter });
    return await Input.of({ source, chosen, layout, limit: options.limit });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** A file of ASCII alone is looked through to its end, which takes long where it is large. */
async function* readUntilStopped(source: ByteSource, stop: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of source.read()) {
    if (stop?.aborted) throw readingStopped(source.name);
    yield chunk;
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

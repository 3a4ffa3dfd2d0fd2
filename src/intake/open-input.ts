/**
 * A path or standard input becomes an `Input`, in stages: bytes, encoding, layout of the table,
 * sample, rows.
 */
import { FailFileError, NeverStartError } from '../core/errors.js';
import { recogniseBinary } from './binary-signature.js';
import { type ByteSource, openByteSource, readingStopped } from './byte-source.js';
import {
  type ChosenEncoding,
  checkEncodingName,
  chooseEncoding,
  encodingFault,
  lookAhead,
} from './choose-encoding.js';
import { type Input, type IntakeOptions, MAX_SAMPLE_ROWS } from './input.js';
import { createPasses, type Passes } from './row-passes.js';
import { showDelimiter, sniffTable, type TableLayout } from './sniff-table.js';
import { createStrictDecoder, EncodingFault } from './strict-decoder.js';

export type { Input, IntakeOptions } from './input.js';

/**
 * Opens an input and finds out its shape. `-` is standard input, which is kept in a temporary file.
 *
 * Throws `FailFileError` for what is wrong with the file (`input-missing`, `input-empty`,
 * `input-binary`, `input-encoding`, `input-preamble`, `disk-low`), `NeverStartError` for options
 * that cannot be meant (`usage-invalid`) and for a first line that is data (`column-doubtful`),
 * `InterruptedError` when it is stopped.
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
    const seen = await lookAhead(
      readUntilStopped(source, options.stop),
      asked === undefined || !asked.startsWith('utf'),
    );
    refuseBinary(source, seen.head);
    const chosen = chooseEncoding(source.name, asked, seen);
    const text = decodeHead(source.name, chosen, seen.head, seen.isWhole);
    const layout = sniffTable(
      { name: source.name, text, isWhole: seen.isWhole },
      { ...options, ...(delimiter === undefined ? {} : { delimiter }) },
    );
    const passes = createPasses({ source, chosen, layout, limit: options.limit });
    const sample = await readSampleCells(source.name, layout, passes);
    return assembleInput(source, chosen, layout, passes, sample);
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

function refuseBinary(source: ByteSource, head: Buffer): void {
  const kind = recogniseBinary(head);
  if (kind === null) return;
  throw new FailFileError({
    code: 'input-binary',
    subject: `${source.name} is ${kind.name}`,
    todo: kind.todo,
  });
}

function decodeHead(name: string, chosen: ChosenEncoding, head: Buffer, isWhole: boolean): string {
  try {
    return createStrictDecoder(chosen.encoding).write(head.subarray(chosen.bomBytes), isWhole);
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    throw encodingFault(name, chosen, error, { line: 1, rest: '' });
  }
}

interface Sample {
  readonly cells: readonly (readonly string[])[];
  readonly columns: readonly string[];
  readonly rowCount: number;
}

async function readSampleCells(name: string, layout: TableLayout, passes: Passes): Promise<Sample> {
  const cells: (readonly string[])[] = [];
  let rowCount = 0;
  const pass = passes.peek();
  for await (const rows of pass.batches) {
    for (const row of rows) {
      rowCount += 1;
      if (row.problem === null && cells.length < MAX_SAMPLE_ROWS) cells.push(row.cells);
    }
    // A file of nothing but bad records is not searched to its end.
    if (cells.length >= MAX_SAMPLE_ROWS || rowCount >= MAX_SAMPLE_ROWS * 20) break;
  }
  if (layout.format === 'jsonl' && cells.length === 0) {
    throw new FailFileError({
      code: 'input-empty',
      what: 'no line of the input is a JSON object',
      subject: name,
      todo: 'write one object per line, or say --format csv if it is a table',
    });
  }
  return { cells, rowCount, columns: pass.columns() };
}

function assembleInput(
  source: ByteSource,
  chosen: ChosenEncoding,
  layout: TableLayout,
  passes: Passes,
  sample: Sample,
): Input {
  const how = layout.format === 'jsonl' ? 'JSONL' : `CSV, delimiter ${showDelimiter(layout.delimiter)}`;
  const parts = [how, chosen.encoding, ...(source.isGzip ? ['gzip'] : [])];
  passes.warnings.push(`detected: ${parts.join(', ')}`, ...layout.warnings);
  if (sample.rowCount === 0) passes.warnings.push('the table has a header and no rows');
  const { format, delimiter, lineEnd, rawHeader } = layout;
  return {
    name: source.name,
    shape: {
      format,
      delimiter,
      lineEnd,
      rawHeader,
      hasBom: chosen.bomBytes > 0,
      isGzip: source.isGzip,
      encoding: chosen.encoding,
      columns: sample.columns,
    },
    warnings: passes.warnings,
    sample: sample.cells,
    rows: passes.rows,
    contentHash: passes.contentHash,
    columns: passes.columns,
    assertUnchanged: source.assertUnchanged,
    close: source.close,
  };
}

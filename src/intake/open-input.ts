/** A path or standard input becomes an `Input`. */
import { NeverStartError } from '../core/errors.js';
import { tableInside } from './binary-signature.js';
import { type ByteSource, keepBytes, type OpeningOptions, openByteSource } from './byte-source.js';
import { checkEncodingName } from './choose-encoding.js';
import { Input, type InputParts } from './input.js';
import type { TableOptions } from './sniff-table.js';
import { openTextTable, type TextOptions } from './text-table.js';
import type { SheetOptions } from './xlsx-table.js';
import type { ZipArchive } from './zip-archive.js';

export interface IntakeOptions extends OpeningOptions, TableOptions {
  /** A name that iconv-lite knows; detected when absent. */
  readonly encoding?: string;
  /** Sheet of a workbook, by name or position from 1; absent: the first that is not hidden. */
  readonly sheet?: string;
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
  let source = await openByteSource(path, stdin, options);
  try {
    const { sheet, limit, stop } = options;
    source = await unpacked(source, options.spoolFolder);
    const parts = await openTable(source, { ...options, delimiter, encoding: asked, sheet, limit, stop });
    return await Input.of({ ...parts, warnings: [...parts.warnings, ...unusedOptions(parts, options)] });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Readers of binary formats are loaded when they are needed: most inputs are text. */
async function openTable(source: ByteSource, options: TextOptions & SheetOptions): Promise<InputParts> {
  const start = (await source.readAt(0, 4)).toString('latin1');
  if (start === 'PAR1') return (await import('./parquet-table.js')).openParquetTable(source, options);
  const archive = await openArchive(source);
  if (archive === null) return openTextTable(source, options);
  return (await import('./xlsx-table.js')).openXlsxTable(source, archive, options);
}

/** A copy of the table in an archive; the source itself if it is not an archive. */
async function unpacked(source: ByteSource, spoolFolder: string): Promise<ByteSource> {
  const archive = await openArchive(source);
  const table = archive && tableInside(archive);
  if (archive === null || table === null) return source;
  const copy = await keepBytes(archive.read(table), `${source.name}/${table}`, spoolFolder);
  await source.close();
  return copy;
}

/** null: not a ZIP file. */
async function openArchive(source: ByteSource): Promise<ZipArchive | null> {
  const head = await source.readAt(0, 4);
  // `PK`, the second of an empty one (APPNOTE, 4.3.7 and 4.3.16).
  if (!['504b0304', '504b0506'].includes(head.toString('hex'))) return null;
  return (await import('./zip-archive.js')).ZipArchive.of(source.name, source.descriptor);
}

/** Sentences about flags that do not apply to this format. */
function unusedOptions({ shape: { format } }: InputParts, options: IntakeOptions): string[] {
  const text = ['--delimiter', '--encoding'];
  const ignored =
    format === 'parquet'
      ? ['--sheet', ...text, '--no-header', '--skip-lines']
      : format === 'xlsx'
        ? text
        : ['--sheet'];
  const given: Readonly<Record<string, boolean>> = {
    '--sheet': options.sheet !== undefined,
    '--delimiter': options.delimiter !== undefined,
    '--encoding': options.encoding !== undefined,
    '--no-header': !options.hasHeader,
    '--skip-lines': options.skipLines > 0,
  };
  return ignored
    .filter((flag) => given[flag])
    .map((flag) => `${flag} does not apply to this format: ignored`);
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

/** Names of a workbook's visible sheets; empty for other files, and for one that is damaged. */
export async function sheetNames(path: string, options: OpeningOptions): Promise<string[]> {
  const source = await openByteSource(path, null, options);
  try {
    const archive = await openArchive(source);
    if (archive === null) return [];
    const { sheets } = await (await import('./xlsx/workbook.js')).readWorkbook(archive);
    return sheets.flatMap(({ name, isHidden }) => (isHidden ? [] : [name]));
  } catch {
    return [];
  } finally {
    await source.close();
  }
}

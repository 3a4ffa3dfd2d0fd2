/** A path or standard input becomes an `Input`. */
import { type Phrase, phrase } from '../core/phrase.js';
import { NAME_AT_MOST, shortName } from '../core/terminal-text.js';
import { archiveInside } from './binary-signature.js';
import {
  type ByteSource,
  keepBytes,
  type OpeningOptions,
  openByteSource,
  readingStopped,
} from './byte-source.js';
import { Input, type InputParts } from './input.js';
import { FileReader } from './reader/file-reader.js';
import type { TableOptions } from './text/sniff-table.js';
import { openTextTable, type TextOptions } from './text/text-table.js';

export interface IntakeOptions extends OpeningOptions, TableOptions {
  /** As `encodingValue` names it; detected when absent. */
  readonly encoding?: string;
  /** Sheet of a workbook, by name or position from 1; absent: the first that is not hidden. */
  readonly sheet?: string;
  /** The most records to read; null: all. */
  readonly limit: number | null;
}

/**
 * `-` is standard input. Throws `FailFileError` for what is wrong with the file (`input-missing`,
 * `input-empty`, `input-binary`, `input-encoding`, `input-preamble`, `disk-low`), `NeverStartError`
 * for a first line that is data (`column-doubtful`), `InterruptedError` when it is stopped.
 */
export async function openInput(
  path: string,
  stdin: NodeJS.ReadableStream | null,
  options: IntakeOptions,
): Promise<Input> {
  const source = await openByteSource(path, stdin, options);
  const { encoding, delimiter, sheet, limit, stop } = options;
  const parts = await openParts(source, { ...options, encoding, delimiter, sheet, limit, stop });
  try {
    return await Input.of({ ...parts, warnings: [...parts.warnings, ...unusedOptions(parts, options)] });
  } catch (error) {
    await parts.close();
    throw error;
  }
}

type PartsOptions = TextOptions &
  Pick<IntakeOptions, 'spoolFolder'> & {
    readonly sheet: string | undefined;
    /** Whether the source is a part of an archive. */
    readonly isInside?: true;
  };

/** Closes the source when it throws. */
async function openParts(source: ByteSource, options: PartsOptions): Promise<InputParts> {
  const isText = source.packing === null || source.isGzip;
  const reader = isText ? null : new FileReader(source, options.stop);
  try {
    if (reader === null) return await openTextTable(source, options);
    const { hasHeader, skipLines, sheet } = options;
    const found = await reader.open({ hasHeader, skipLines, sheet: sheet ?? null });
    if (found.type === 'table') return partsOf(source, reader, found, options);
    // An archive can be made to hold itself.
    if (options.isInside) throw archiveInside(source.name);
    const name = `${source.name}/${shortPart(found.part)}`;
    const copy = await keepBytes(reader.bytes(found.part), name, options.spoolFolder);
    reader.close();
    await source.close();
    return await openParts(copy, { ...options, isInside: true });
  } catch (error) {
    reader?.close();
    await source.close();
    throw options.stop?.aborted ? readingStopped(source.name) : error;
  }
}

/** The name of a part, cut when long; its ending tells the format. */
function shortPart(part: string): string {
  const [ending = ''] = /\.[^.]{1,10}(?:\.gz)?$/i.exec(part) ?? [];
  return part.length > NAME_AT_MOST ? shortName(part) + ending : part;
}

function partsOf(
  source: ByteSource,
  reader: FileReader,
  { shape, detected, warnings }: Pick<InputParts, 'shape' | 'detected' | 'warnings'>,
  { limit }: Pick<IntakeOptions, 'limit'>,
): InputParts {
  return {
    source,
    shape,
    detected,
    warnings,
    guess: null,
    limit,
    openPass(onBytes, wanted) {
      let width = shape.columns.length;
      let notes: readonly string[] = [];
      async function* read() {
        const rows = reader.rows(limit, wanted);
        // The process reads meanwhile.
        const first = rows.next();
        first.catch(() => undefined);
        if (onBytes !== null) for await (const chunk of source.read()) onBytes(chunk);
        for (let { value, done } = await first; !done; { value, done } = await rows.next()) {
          width = value.width;
          if ('rows' in value) yield value.rows;
          else notes = value.notes;
        }
      }
      return {
        batches: read(),
        columns: () => [...shape.columns, ...new Array<string>(width - shape.columns.length).fill('')],
        notes: () => [...notes],
      };
    },
    rest: () => reader.rest(),
    async close() {
      reader.close();
      await source.close();
    },
  };
}

/** About settings that do not apply to this format. */
function unusedOptions({ shape: { format } }: InputParts, options: IntakeOptions): Phrase[] {
  const { sheet, delimiter, encoding, hasHeader, skipLines } = options;
  const text = [
    delimiter !== undefined && { setting: 'delimiter' },
    encoding !== undefined && { setting: 'encoding' },
  ];
  const ignored = [
    format !== 'xlsx' && sheet !== undefined && { setting: 'sheet' },
    ...(format === 'xlsx' || format === 'parquet' ? text : []),
    format === 'parquet' && !hasHeader && { set: { header: false } },
    format === 'parquet' && skipLines > 0 && { setting: 'skipLines' },
  ];
  return ignored
    .filter((remedy) => remedy !== false)
    .map((remedy) => phrase`${remedy} does not apply to this format: ignored`);
}

/**
 * Names of a workbook's visible sheets; empty for other files, and for one that is damaged. Throws
 * what opening the file throws.
 */
export async function sheetNames(path: string, options: OpeningOptions): Promise<string[]> {
  const source = await openByteSource(path, null, options);
  const reader = new FileReader(source, options.stop);
  try {
    return source.packing === 'zip' ? await reader.sheets() : [];
  } catch {
    return [];
  } finally {
    reader.close();
    await source.close();
  }
}

/** Opens a path or standard input as an `Input`. */
import { readingStopped } from '../core/errors.js';
import { type Phrase, phrase } from '../core/phrase.js';
import { isTyped, padded } from '../core/table.js';
import { NAME_AT_MOST, shortName } from '../core/terminal-text.js';
import { archiveInside } from './binary-signature.js';
import { type ByteSource, keepBytes, type OpeningOptions, openByteSource } from './byte-source.js';
import { Input, type InputParts, type ReadingSettings } from './input.js';
import { FileReader } from './reader/file-reader.js';
import type { readInProcess } from './reader/reading-process.js';
import { openTextTable } from './text/text-table.js';

export interface InputOpening extends OpeningOptions {
  /** Reads binary files; absent for a process of its own. */
  readonly readBinary?: typeof readInProcess | undefined;
}

/**
 * Opens a file, or standard input for `-`. Throws `RunError` for a file that cannot be used,
 * `ConfigError` for closed standard input, `InterruptedError` when stopped.
 */
export async function openInput(
  path: string,
  settings: ReadingSettings,
  opening: InputOpening,
): Promise<Input> {
  const parts = await openParts(await openByteSource(path, opening), settings, opening);
  const warnings = [...parts.warnings, ...unusedSettings(parts, settings)];
  try {
    return await Input.of({ ...parts, warnings }, opening.stop);
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** Closes the source when it throws. `isInside`: true for a part of an archive. */
async function openParts(
  source: ByteSource,
  settings: ReadingSettings,
  { spoolFolder, stop, readBinary }: InputOpening,
  isInside = false,
): Promise<InputParts> {
  const isText = source.packing === null || source.isGzip;
  const reader = isText ? null : new FileReader(source, stop, readBinary);
  try {
    if (reader === null) return await openTextTable(source, settings, stop);
    const { header, skipLines, sheet, limit } = settings;
    const found = await reader.open({ header, skipLines, sheet });
    if (!('part' in found)) return partsOf(source, reader, found, limit);
    // An archive can be made to hold itself.
    if (isInside) throw archiveInside(source.name);
    const name = `${source.name}/${shortPart(found.part)}`;
    const copy = await keepBytes(reader.bytes(found.part), name, spoolFolder);
    reader.close();
    await source.close();
    return await openParts(copy, settings, { spoolFolder, stop, readBinary }, true);
  } catch (error) {
    reader?.close();
    await source.close();
    throw stop?.aborted ? readingStopped(source.name) : error;
  }
}

/** Shortens a long name, but keeps its ending, which tells the format. */
function shortPart(part: string): string {
  const [ending = ''] = /\.[^.]{1,10}(?:\.gz)?$/i.exec(part) ?? [];
  return part.length > NAME_AT_MOST ? shortName(part) + ending : part;
}

function partsOf(
  source: ByteSource,
  reader: FileReader,
  found: Pick<InputParts, 'shape' | 'detected' | 'warnings'>,
  limit: number | null,
): InputParts {
  const { shape } = found;
  return {
    ...found,
    source,
    guess: null,
    limit,
    openPass(onBytes, wanted) {
      let width = shape.columns.length;
      let notes: readonly string[] = [];
      async function* read() {
        const rows = reader.rows(limit, wanted);
        // Ask first: the process reads while these bytes are hashed.
        const first = rows.next();
        first.catch(() => undefined);
        try {
          if (onBytes !== null) for await (const chunk of source.read()) onBytes(chunk);
          for (let { value, done } = await first; !done; { value, done } = await rows.next()) {
            width = value.width;
            if ('rows' in value) yield value.rows;
            else notes = value.notes;
          }
        } finally {
          await rows.return(undefined);
        }
      }
      return { batches: read(), seen: () => ({ columns: padded(shape.columns, width), notes }) };
    },
    async close() {
      reader.close();
      await source.close();
    },
  };
}

function unusedSettings({ shape: { format } }: InputParts, settings: ReadingSettings): Phrase[] {
  const { sheet, delimiter, encoding, header, skipLines } = settings;
  const ignored = [
    format !== 'xlsx' && sheet !== null && { setting: 'sheet' },
    isTyped(format) && delimiter !== null && { setting: 'delimiter' },
    isTyped(format) && encoding !== null && { setting: 'encoding' },
    format === 'parquet' && !header && { set: { header: false } },
    format === 'parquet' && skipLines > 0 && { setting: 'skipLines' },
  ];
  return ignored
    .filter((remedy) => remedy !== false)
    .map((remedy) => phrase`${remedy} does not apply to this format: ignored`);
}

/** Returns the names of a workbook's visible sheets; an empty list for another or damaged file. */
export async function sheetNames(path: string, opening: InputOpening): Promise<string[]> {
  const source = await openByteSource(path, opening);
  const reader = new FileReader(source, opening.stop, opening.readBinary);
  try {
    return source.packing === 'zip' ? await reader.sheets() : [];
  } catch {
    return [];
  } finally {
    reader.close();
    await source.close();
  }
}

/** The table on a sheet of a workbook: its beginning, columns and rows. */
import { FailFileError } from '../core/errors.js';
import { BINARY_SHAPE, type Row } from '../core/table.js';
import { textOfCell } from '../core/typed-cell.js';
import { type ByteSource, readingStopped } from './byte-source.js';
import { checkHeader, findDataInHeader, headerWarnings, isBareList } from './header-check.js';
import type { InputParts, PassOptions } from './input.js';
import { isLongerThan, MAX_RECORD_BYTES, OVER_RECORD } from './record-splitter.js';
import type { TableOptions } from './sniff-table.js';
import { SharedStrings } from './xlsx/shared-strings.js';
import { readSheetRows, type SheetRow } from './xlsx/sheet-rows.js';
import { chooseSheet, listSheets, readWorkbook } from './xlsx/workbook.js';
import { damaged, type ZipArchive } from './zip-archive.js';

export interface SheetOptions extends Pick<TableOptions, 'hasHeader' | 'skipLines'> {
  /** `--sheet`: a name, or a position from 1; undefined: the first visible sheet. */
  readonly sheet: string | undefined;
  readonly limit: number | null;
  readonly stop: AbortSignal | undefined;
}

/** Filled rows that are used to find the table. */
const ROWS_LOOKED_AT = 500;

/** Throws `input-binary`, `input-empty`, `input-preamble`, `column-doubtful`. */
export async function openXlsxTable(
  source: ByteSource,
  archive: ZipArchive,
  options: SheetOptions,
): Promise<InputParts> {
  const { name } = source;
  const { hasHeader: mayHaveHeader, skipLines, limit, stop } = options;
  const { book, strings } = await openBook(name, archive, stop);
  const sheet = chooseSheet(name, book.sheets, options.sheet);
  const { formats } = book;
  const textsOf = ({ cells }: SheetRow) => cells.map((cell) => textOfCell(cell, formats));

  /** Filled rows below the skipped ones, in batches. */
  async function* readFilled(below: number): AsyncGenerator<readonly SheetRow[]> {
    try {
      for await (const rows of readSheetRows(archive.read(sheet.part), book, strings)) {
        yield rows.filter((row) => row.line > below && !isBlank(textsOf(row)));
      }
    } catch (error) {
      throw damaged(name, error);
    }
  }

  const head: SheetRow[] = [];
  for await (const rows of readFilled(skipLines)) {
    if (stop?.aborted) throw readingStopped(name);
    head.push(...rows.slice(0, ROWS_LOOKED_AT - head.length));
    if (head.length === ROWS_LOOKED_AT) break;
  }
  const shownSheet = `sheet '${sheet.name}'`;
  if (head.length === 0) {
    const after = skipLines > 0 ? ` after --skip-lines ${skipLines}` : '';
    throw new FailFileError({
      code: 'input-empty',
      subject: `${name}, ${shownSheet}${after}`,
      todo:
        book.sheets.length > 1
          ? `choose another with --sheet: ${listSheets(book.sheets)}`
          : 'check that this is the right file',
    });
  }
  const width = Math.max(...head.map(({ cells }) => cells.length));
  const texts = head.map((row) => padded(textsOf(row), width));
  const warnings: string[] = [];
  if (book.sheets.length > 1 && options.sheet === undefined) {
    warnings.push(`${shownSheet} is read, of ${listSheets(book.sheets)}: use --sheet to choose another`);
  }
  const unsolved = head.find(({ lacksResult }) => lacksResult);
  if (unsolved !== undefined) {
    const todo = 'to have the results, open the file in a spreadsheet program and save it';
    warnings.push(
      `formulas without a stored result are read as blank (first in row ${unsolved.line}): ${todo}`,
    );
  }
  const found = judgeTable(head, texts, mayHaveHeader, `${name}, ${shownSheet}`);
  const { first, columns, hasHeader } = found;
  warnings.push(...found.warnings);
  const typed = { ...formats, sheet: sheet.name };
  return {
    source,
    shape: {
      format: 'xlsx',
      ...BINARY_SHAPE,
      columns,
      rawHeader: hasHeader ? JSON.stringify(first.cells) : null,
      typed,
    },
    detected: `Excel, ${shownSheet}`,
    warnings,
    guess: null,
    limit,
    openPass(pass) {
      let widest = columns.length;
      let next = hasHeader ? first.line + 1 : first.line;
      let blank = 0;
      const from = next - 1;
      const rowOf = (row: SheetRow, number: number): Row => {
        widest = Math.max(widest, row.cells.length);
        blank += Math.max(0, row.line - next);
        next = row.line + 1;
        const raw = JSON.stringify(row.cells);
        const place = { number, line: row.line };
        if (isLongerThan(raw, MAX_RECORD_BYTES)) {
          return { ...place, raw: raw.slice(0, MAX_RECORD_BYTES / 4), cells: [], problem: OVER_RECORD };
        }
        return { ...place, raw, cells: padded(textsOf(row), widest), problem: null };
      };
      return {
        batches: numbered(source, readFilled(from), pass, rowOf),
        columns: () => [...columns, ...new Array<string>(widest - columns.length).fill('')],
        notes: () => (blank === 0 ? [] : [`blank rows ignored: ${blank}`]),
      };
    },
  };
}

async function openBook(name: string, archive: ZipArchive, stop: AbortSignal | undefined) {
  try {
    const book = await readWorkbook(archive);
    const part = book.sharedStrings;
    const strings =
      part === null ? null : await SharedStrings.read(untilStopped(archive.read(part), name, stop));
    return { book, strings };
  } catch (error) {
    throw damaged(name, error);
  }
}

/**
 * The beginning and the columns of the table on a sheet. `texts`: of the cells of `head`, all rows
 * equally wide. Throws `column-doubtful`.
 */
function judgeTable(
  head: readonly SheetRow[],
  texts: readonly (readonly string[])[],
  mayHaveHeader: boolean,
  name: string,
) {
  const warnings: string[] = [];
  const at = mayHaveHeader ? findSheetHeader(head, texts) : 0;
  const first = head[at] ?? { line: 1, cells: [] };
  const [header = [], ...others] = texts.slice(at);
  const isBare = isBareList([header, ...others]);
  const hasHeader = mayHaveHeader && !isBare;
  if (at > 0) warnings.push(`rows above the table ignored: it begins in row ${first.line}`);
  if (mayHaveHeader && isBare) {
    warnings.push('no header: the first row is data like the others; the column is named column_1');
  }
  if (!hasHeader) {
    return { first, hasHeader, warnings, columns: header.map((_cell, index) => `column_${index + 1}`) };
  }
  const recordOf = (cells: readonly string[], index: number) => {
    return { line: head[at + index]?.line ?? 1, raw: cells.join(' '), cells, problem: null };
  };
  const records = others.map((cells, index) => recordOf(cells, index + 1));
  const lineOf = ({ line }: { readonly line: number }) => line;
  const settled = { name, shown: 'column', lineOf, isWidthSettled: true };
  checkHeader({ ...settled, records: [recordOf(header, 0), ...records] });
  warnings.push(...headerWarnings(header));
  return { first, hasHeader, warnings, columns: header };
}

async function* untilStopped(chunks: AsyncIterable<Buffer>, name: string, stop: AbortSignal | undefined) {
  for await (const chunk of chunks) {
    if (stop?.aborted) throw readingStopped(name);
    yield chunk;
  }
}

async function* numbered(
  source: ByteSource,
  batches: AsyncIterable<readonly SheetRow[]>,
  { limit, onBytes }: PassOptions,
  rowOf: (row: SheetRow, number: number) => Row,
): AsyncGenerator<readonly Row[]> {
  if (onBytes !== null) for await (const chunk of source.read()) onBytes(chunk);
  let number = 0;
  for await (const batch of batches) {
    const rows = batch.slice(0, (limit ?? Number.POSITIVE_INFINITY) - number);
    yield rows.map((row) => {
      number += 1;
      return rowOf(row, number);
    });
    if (number === limit) return;
  }
}

function padded(cells: readonly string[], width: number): string[] {
  return [...cells, ...new Array<string>(Math.max(0, width - cells.length)).fill('')];
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** A title above a table has at most this many rows. */
const MOST_TITLE_ROWS = 30;

/**
 * Index of the header among filled rows: the first, unless that is a title: one filled cell, then
 * rows of at most two cells, then a row with a name for (nearly) every column that is used below.
 * With two columns only a blank row below it marks a title, because a header may name just one.
 * Pure.
 */
export function findSheetHeader(
  rows: readonly { readonly line: number }[],
  texts: readonly (readonly string[])[],
): number {
  const filled = texts.map((cells) => cells.filter((cell) => cell.trim() !== '').length);
  const used = new Set(
    texts.slice(1).flatMap((cells) => cells.flatMap((cell, at) => (cell.trim() ? [at] : []))),
  );
  const least = Math.max(2, Math.ceil(used.size * 0.8));
  const at = filled.findIndex((count) => count >= least);
  const isTitle = filled[0] === 1 && filled.slice(0, at).every((count) => count <= 2);
  if (at < 1 || at > MOST_TITLE_ROWS || !isTitle) return 0;
  const hasGap = (rows[at]?.line ?? 0) - (rows[0]?.line ?? 0) > at;
  if (used.size < 3 && !hasGap) return 0;
  return findDataInHeader(texts[at] ?? [], texts.slice(at + 1)) === null ? at : 0;
}

/** Finds the table on a sheet of a workbook, and reads its rows. */
import { RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { BINARY_SHAPE, padded, type Row } from '../../core/table.js';
import { shortName } from '../../core/terminal-text.js';
import { type BinaryTable, LONG_HEADER, rowsOf } from '../binary-table.js';
import { valueKind } from '../cell-kinds.js';
import type { TableOpening } from '../reader/replies.js';
import { correctHeader, headerWarnings, isBareList, isHeaderBelow } from '../text/header-check.js';
import { isLongerThan, MAX_RECORD_BYTES } from '../text/record-splitter.js';
import type { ZipArchive } from '../zip-archive.js';
import { SharedStrings } from './sheet-cells.js';
import { readSheetRows, type SheetRow } from './sheet-rows.js';
import { chooseSheet, listSheets, readWorkbook } from './workbook.js';

const ROWS_LOOKED_AT = 500;
const CHARS_LOOKED_AT = 16 * 1024 * 1024;
const SHEETS_NAMED = 100;

/** Opens a table. Throws `input-empty`, `input-preamble`, and Error for a damaged workbook. */
export async function openXlsxTable(archive: ZipArchive, opening: TableOpening): Promise<BinaryTable> {
  const { name } = archive;
  const { header: mayHaveHeader, skipLines } = opening;
  const book = await readWorkbook(archive);
  const part = book.sharedStrings;
  const strings = part === null ? null : await SharedStrings.read(archive.read(part));
  const sheet = chooseSheet(name, book.sheets, opening.sheet ?? undefined);

  async function* readFilled(below: number, wanted: readonly number[] | null) {
    for await (const rows of readSheetRows(archive.read(sheet.part), book, strings, wanted))
      yield rows.filter(({ line, problem, isBlank }) => line > below && (problem !== null || !isBlank));
  }

  const head: SheetRow[] = [];
  let chars = 0;
  looking: for await (const rows of readFilled(skipLines, null)) {
    for (const row of rows) {
      head.push(row);
      for (const text of row.texts) chars += text.length;
      if (head.length === ROWS_LOOKED_AT || chars > CHARS_LOOKED_AT) break looking;
    }
  }
  const shownSheet = `sheet '${shortName(sheet.name)}'`;
  const [top, ...rest] = head;
  if (top === undefined) {
    const after = skipLines > 0 ? phrase` after ${{ set: { skipLines } }}` : '';
    const another = phrase`choose another with ${{ setting: 'sheet' }}: ${listSheets(book.sheets)}`;
    const todo = book.sheets.length > 1 ? another : 'check that this is the right file';
    throw new RunError({ code: 'input-empty', subject: phrase`${name}, ${shownSheet}${after}`, todo });
  }
  const width = Math.max(...head.map(({ texts }) => texts.length));
  const texts = head.map((row) => padded(row.texts, width));
  const warnings: Phrase[] = [];
  if (book.sheets.length > 1 && opening.sheet === null) {
    const sheets = listSheets(book.sheets);
    warnings.push(phrase`reading ${shownSheet} of ${sheets}; choose another with ${{ setting: 'sheet' }}`);
  }
  const unsolved = head.find(({ lacksResult }) => lacksResult);
  if (unsolved !== undefined) {
    const todo = 'to get the results, open the file in a spreadsheet program and save it';
    warnings.push(
      `formulas without a stored result are read as blank (first in row ${unsolved.line}): ${todo}`,
    );
  }
  const table = judgeTable([top, ...rest], texts, mayHaveHeader, `${name}, ${shownSheet}`);
  const { first, columns, hasHeader } = table;
  warnings.push(...table.warnings);
  const rawHeader = hasHeader ? first.raw : null;
  if (rawHeader !== null && isLongerThan(rawHeader, MAX_RECORD_BYTES)) throw new Error(LONG_HEADER);
  const typed = { ...book.formats, sheet: sheet.name };
  const isBelow = first.line > top.line || skipLines > 0;
  const sheets = book.sheets.filter((each) => each !== sheet).map((each) => each.name);
  const leftOut = { linesAbove: isBelow ? first.line - 1 : 0, sheets: sheets.slice(0, SHEETS_NAMED) };
  return {
    shape: { format: 'xlsx', ...BINARY_SHAPE, columns, rawHeader, typed, leftOut },
    detected: `Excel, ${shownSheet}`,
    warnings,
    openRows(wanted) {
      let widest = columns.length;
      let next = hasHeader ? first.line + 1 : first.line;
      let blank = 0;
      let number = 0;
      const rowOf = (row: SheetRow): Row => {
        number += 1;
        widest = Math.max(widest, row.width);
        blank += Math.max(0, row.line - next);
        next = row.line + 1;
        const { line, raw, texts, problem } = row;
        return { number, line, raw, cells: problem === null ? texts : [], problem };
      };
      async function* batches() {
        for await (const rows of readFilled(next - 1, wanted)) yield rowsOf(rows, rowOf);
      }
      return {
        batches: batches(),
        width: () => widest,
        notes: () => (blank === 0 ? [] : [`blank rows ignored: ${blank}`]),
      };
    },
  };
}

/** Finds where the table begins, and its columns. `texts`: those of `head`, padded to one width. */
function judgeTable(
  head: readonly [SheetRow, ...SheetRow[]],
  texts: readonly (readonly string[])[],
  mayHaveHeader: boolean,
  name: string,
) {
  const warnings: Phrase[] = [];
  const headerAt = mayHaveHeader ? findSheetHeader(head, texts) : 0;
  // An unreadable row is not a header below a title.
  const at = head[headerAt]?.problem === null ? headerAt : 0;
  const first = head[at] ?? head[0];
  const [header = [], ...others] = texts.slice(at);
  const isBare = isBareList([header, ...others]);
  const hasHeader = mayHaveHeader && !isBare;
  if (at > 0) warnings.push(`the table begins in row ${first.line}: the rows above it are ignored`);
  if (mayHaveHeader && isBare) {
    warnings.push('no header: the first row is data like the others; the column is named column_1');
  }
  const withoutHeader = (...more: Phrase[]) => {
    const columns = header.map((_cell, index) => `column_${index + 1}`);
    return { first, hasHeader: false, warnings: [...warnings, ...more], columns };
  };
  if (!hasHeader) return withoutHeader();
  const recordOf = (cells: readonly string[], index: number) => {
    const { line = 1, problem = null } = head[at + index] ?? {};
    // Only the text of the header is checked.
    return { line, raw: index === 0 ? cells.join(' ') : '', cells, problem };
  };
  const records = others.map((cells, index) => recordOf(cells, index + 1));
  const lineOf = ({ line }: { readonly line: number }) => line;
  const settled = { name, shown: null, lineOf, isWidthSettled: true };
  const correction = correctHeader({ ...settled, records: [recordOf(header, 0), ...records] });
  if (correction !== null) return withoutHeader(correction.warning);
  warnings.push(...headerWarnings(header));
  return { first, hasHeader, warnings, columns: header };
}

const MOST_TITLE_ROWS = 30;

/**
 * Returns the index of the header: 0 unless the first row is a title with one filled cell (two
 * above six columns), and all rows before one that names nearly every column are short. In a table
 * of two columns a blank row must follow the title, because a header may name just one. Pure.
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
  // A title above a wide table may have two cells (`Ticker Symbol: | XLK`).
  const isNamed = (texts[at] ?? []).every((cell) => valueKind(cell) !== 'number');
  const isTitle =
    (filled[0] ?? 0) <= (used.size < 6 || !isNamed ? 1 : 2) &&
    filled.slice(0, at).every((count) => count <= Math.max(2, used.size / 4));
  if (at < 1 || at > MOST_TITLE_ROWS || !isTitle) return 0;
  const hasGap = (rows[at]?.line ?? 0) - (rows[0]?.line ?? 0) > at;
  if (used.size < 3 && !hasGap) return 0;
  return isHeaderBelow(texts, at) ? at : 0;
}

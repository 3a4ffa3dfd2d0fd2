/**
 * Formula defence: a cell that a spreadsheet would run gets a leading apostrophe. Which cells pass through here, and which of
 * them are exempt, is told by `FormulaEscaping`.
 */
import { cellText, splitRecord } from './csv-record.js';
import type { FormulaEscaping } from './output-plan.js';

/**
 * What starts a formula: OWASP "CSV Injection", and the full-width and small forms that East Asian spreadsheets read alike.
 * Blanks and characters without a glyph may stand before it: importers trim or drop them. A tab or line break in front
 * counts by itself, since some importers begin a new cell after it.
 */
const STARTS_FORMULA =
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Z}]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/u;
const IS_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Defuses the cells of a record as it stands; what is no formula keeps its bytes, and what is one its quotes. */
export function defuseRecord(raw: string, delimiter: string): string {
  return splitRecord(raw, delimiter)
    .map((cell) => {
      if (!STARTS_FORMULA.test(cellText(cell))) return cell;
      return cell.startsWith('"') ? `"'${cell.slice(1)}` : `'${cell}`;
    })
    .join(delimiter);
}

/** Defuses one of our cells. `repeatsUser`: the cell is the user's own text, carried in a column of ours. */
export function defuse(cell: string, escaping: FormulaEscaping, repeatsUser = false): string {
  if (escaping === 'none' || !STARTS_FORMULA.test(cell)) return cell;
  if (escaping === 'ours' && (repeatsUser || IS_NUMBER.test(cell))) return cell;
  return `'${cell}`;
}

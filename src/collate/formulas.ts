/**
 * Formula defence: a cell that a spreadsheet would run gets a leading apostrophe. Only cells that we add pass
 * through here; which of them are exempt is told by `FormulaEscaping`.
 */
import type { FormulaEscaping } from './output-plan.js';

/** What starts a formula: OWASP "CSV Injection", and the full-width forms that csv-stringify adds from tests with Apple Numbers. */
const STARTS_FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const IS_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Defuses one of our cells. `repeatsUser`: the cell is the user's own text, carried in a column of ours. */
export function defuse(cell: string, escaping: FormulaEscaping, repeatsUser = false): string {
  if (escaping === 'none' || !STARTS_FORMULA.test(cell)) return cell;
  if (escaping === 'ours' && (repeatsUser || IS_NUMBER.test(cell))) return cell;
  return `'${cell}`;
}

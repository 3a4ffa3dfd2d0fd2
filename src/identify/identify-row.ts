/**
 * One row: the cells of the chosen columns in order, each as its column's kind says. Which of the identifiers is
 * asked for, and when the next one, is the pipeline's.
 */

import type { Identified, Identifier } from '../core/identifier.js';
import { isBlank } from './clean-cell.js';
import type { ColumnChoice } from './column-choice.js';
import { identifyCell } from './identify-cell.js';

export interface IdentifiedRow {
  /** Every identifier of the row in column order, equal ones once. Without `--waterfall` the first counts alone. */
  readonly identifiers: readonly Identifier[];
  /** What the row comes to when there is no identifier: the first invalid cell, else the most telling skip. */
  readonly otherwise: Identified;
}

/** Cells beyond the end of a short row count as blank. */
export function identifyRow(cells: readonly string[], choices: readonly ColumnChoice[]): IdentifiedRow {
  const identifiers: Identifier[] = [];
  let otherwise: Identified | null = null;
  for (const { column, kind } of choices) {
    const identified = identifyCell(cells[column] ?? '', kind);
    if (identified.type === 'identifier') {
      const { identifier } = identified;
      if (!identifiers.some((known) => known.kind === identifier.kind && known.value === identifier.value)) {
        identifiers.push(identifier);
      }
    } else if (isMoreTelling(identified, otherwise)) {
      otherwise = identified;
    }
  }
  return { identifiers, otherwise: otherwise ?? identifyCell('', 'auto') };
}

/** An invalid cell over a skipped one, a skip with a cause over a blank; the first of equals stays. */
function isMoreTelling(found: Identified, known: Identified | null): boolean {
  if (known === null) return true;
  if (known.type === 'invalid') return false;
  return found.type === 'invalid' || (isBlank(known) && !isBlank(found));
}

/** `--where`: which rows are looked up. The others come back as skipped, with the condition. */
import type { RowReason } from '../../core/row-reason.js';
import { shortName } from '../../core/terminal-text.js';
import { comparable, type RowCondition } from '../../settings/row-condition.js';
import { findColumn } from './find-column.js';

type Judged = RowCondition & { readonly at: number; readonly key: string; readonly reason: RowReason };

export class RowFilter {
  readonly #conditions: readonly Judged[];

  /** Throws `NeverStartError` (column-unknown, column-doubtful): no such column, or several. */
  constructor(columns: readonly string[], conditions: readonly RowCondition[]) {
    this.#conditions = conditions.map((condition) => {
      const at = findColumn(columns, { name: condition.column, kind: null }, 'where').column;
      return { ...condition, at, key: comparable(condition.value), reason: reasonOf(condition) };
    });
  }

  /** The conditions as they are written; none: every row is looked up. */
  get texts(): readonly string[] {
    return this.#conditions.map(({ column, wants, value }) =>
      wants === 'value' ? `${column}=${value}` : `${column}:${wants}`,
    );
  }

  /** Why a row with these cells is not looked up: the first condition that it does not meet. */
  reasonAgainst(cells: readonly string[]): RowReason | null {
    for (const { at, wants, key, reason } of this.#conditions) {
      const text = cells[at] ?? '';
      const meets =
        wants === 'value' ? comparable(text) === key : (text.trim() === '') === (wants === 'blank');
      if (!meets) return reason;
    }
    return null;
  }

  /** Positions of the columns that it looks at. */
  get places(): readonly number[] {
    return this.#conditions.map(({ at }) => at);
  }
}

function reasonOf({ column, wants, value }: RowCondition): RowReason {
  const named = { column: shortName(column) };
  if (wants === 'value') return { code: 'not_selected', ...named, value: shortName(value) };
  return { code: wants === 'blank' ? 'not_selected_filled' : 'not_selected_blank', ...named };
}

/** `--where`: which rows are looked up. The others come back as skipped, with the condition. */
import type { RowCondition } from '../../config/column-value.js';
import type { Settings } from '../../config/settings.js';
import { NeverStartError } from '../../core/errors.js';
import { phrase } from '../../core/phrase.js';
import type { RowReason } from '../../core/row-reason.js';
import { shortName } from '../../core/terminal-text.js';
import { columnLabel, findColumn } from '../../identify/find-column.js';

type Judged = RowCondition & { readonly at: number; readonly key: string; readonly reason: RowReason };

export class RowFilter {
  readonly #conditions: readonly Judged[];

  /** Throws `NeverStartError` (column-unknown, column-doubtful): no such column, or several. */
  constructor(
    private readonly columns: readonly string[],
    conditions: readonly RowCondition[],
  ) {
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

  /**
   * Throws `NeverStartError` (column-ours) if a condition names a column of an earlier run: its
   * answers would be gone from the rows that are skipped.
   */
  assertNotAmong(ours: readonly number[]): void {
    const own = this.#conditions.find(({ at }) => ours.includes(at));
    if (own === undefined) return;
    throw new NeverStartError({
      code: 'column-ours',
      what: 'this column was added by an earlier run and will be replaced',
      subject: phrase`${columnLabel(this.columns, own.at)} in ${{ setting: 'where' }}`,
      todo: 'choose one of your own columns; to look up rows without an answer again, run the file as it is, or its errors file',
    });
  }
}

/**
 * The conditions in one order and spelling, for the key of a run: where they stand on the command
 * line does not matter.
 */
export function keyOfConditions(where: Settings['where']): string[] {
  const texts = where.map(({ column, wants, value }) => JSON.stringify([column, wants, comparable(value)]));
  return [...new Set(texts)].sort();
}

/** Outer blanks, case and compatibility forms do not count. */
function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

function reasonOf({ column, wants, value }: RowCondition): RowReason {
  const named = { column: shortName(column) };
  if (wants === 'value') return { code: 'not_selected', ...named, value: shortName(value) };
  return { code: wants === 'blank' ? 'not_selected_filled' : 'not_selected_blank', ...named };
}

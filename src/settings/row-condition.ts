/** A condition on rows, and its text: `COLUMN=VALUE`, `COLUMN:blank` or `COLUMN:filled`. */

/** What the cell of a column must be. `value`: empty for `blank` and `filled`. */
export interface RowCondition {
  readonly column: string;
  readonly wants: 'value' | 'blank' | 'filled';
  readonly value: string;
}

const STATES = ['blank', 'filled'] as const;

/** Reads a condition, or returns null. The first `=` ends the name. Pure. */
export function readCondition(text: string): RowCondition | null {
  const equals = text.indexOf('=');
  if (equals >= 0) return { column: text.slice(0, equals), wants: 'value', value: text.slice(equals + 1) };
  const state = STATES.find((each) => text.endsWith(`:${each}`));
  return state === undefined ? null : { column: text.slice(0, -state.length - 1), wants: state, value: '' };
}

/** Reverses {@link readCondition}. Pure. */
export function conditionText({ column, wants, value }: RowCondition): string {
  return wants === 'value' ? `${column}=${value}` : `${column}:${wants}`;
}

/** The part without which it says nothing; null: it is whole. Pure. */
export function missingIn({ column, wants, value }: RowCondition): 'column' | 'value' | null {
  if (column.trim() === '') return 'column';
  return wants === 'value' && value.trim() === '' ? 'value' : null;
}

/** The conditions for the key of a run, whatever their order on the command line. */
export function keyOfConditions(where: readonly RowCondition[]): string[] {
  const texts = where.map(({ column, wants, value }) => JSON.stringify([column, wants, comparable(value)]));
  return [...new Set(texts)].sort();
}

/** As cells are compared: outer blanks, case and compatibility forms do not count. */
export function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

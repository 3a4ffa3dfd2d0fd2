/**
 * The columns of a Parquet output: those of a Parquet input keep their types, those of other
 * formats get the narrowest type of all their cells.
 */
import { type ColumnType, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import type { ParquetPlan } from '../../formats/parquet/parquet-file.js';
import { kindOf, type RowSpool, rawOf } from '../scan/row-spool.js';
import { columnsFor } from './columns.js';
import type { OutputPlan } from './output-plan.js';
import { createTypedPartOf, formatsOf } from './render-typed.js';

/** `types`: of the user's columns, if the input is not Parquet. */
export function parquetPlan(plan: OutputPlan, types: readonly ColumnType[]): ParquetPlan {
  const schema = plan.input.parquet?.schema;
  const user = createTypedPartOf(plan).kept.map((same, at) =>
    schema === undefined ? { type: types[at] ?? 'text', isUtc: false } : { same },
  );
  const ours = columnsFor(plan.fields, plan.prefix).map(({ type }) => ({ type, isUtc: true }));
  const { hasUnreadable } = plan;
  return { formats: formatsOf(plan.input), schema, columns: [...user, ...ours], hasUnreadable };
}

/**
 * Types of the user's columns, from all rows; text for CSV, which has no types. None for Parquet,
 * whose columns keep theirs.
 */
export function typesOfRows(plan: OutputPlan, rows: Pick<RowSpool, 'records'>): ColumnType[] {
  if (plan.input.parquet !== undefined) return [];
  const part = createTypedPartOf(plan);
  const seen = Array.from({ length: part.width }, () => new Set<ColumnType>());
  if (plan.input.format === 'csv') return seen.map(() => 'text');
  for (const batch of rows.records()) {
    for (const record of batch) {
      if (kindOf(record) === 'unreadable') continue;
      for (const [at, cell] of part.read(rawOf(record)).cells.entries()) {
        const type = typeOf(cell, plan);
        if (type !== null) seen[at]?.add(type);
      }
    }
  }
  return seen.map(commonType);
}

function typeOf(cell: TypedCell, plan: OutputPlan): ColumnType | null {
  if (cell === null) return null;
  if (typeof cell === 'boolean') return 'boolean';
  if (typeof cell === 'number') return Number.isSafeInteger(cell) ? 'integer' : 'number';
  if (typeof cell === 'string') return 'text';
  if ('n' in cell || 't' in cell) {
    const text = textOfCell(cell, formatsOf(plan.input));
    if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) {
      return text.includes('T') ? 'moment' : 'day';
    }
    if ('n' in cell && typeof cell.n === 'number' && text === String(cell.n)) return typeOf(cell.n, plan);
  }
  return 'text';
}

function commonType(seen: ReadonlySet<ColumnType>): ColumnType {
  const [first, second, ...more] = [...seen].sort();
  if (first === undefined || more.length > 0) return 'text';
  if (second === undefined) return first;
  if (first === 'integer' && second === 'number') return 'number';
  return first === 'day' && second === 'moment' ? 'moment' : 'text';
}

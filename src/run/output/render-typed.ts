/** Renders records with types: a JSON array of `TypedCell` a row. The user's cells keep theirs. */
import type { TableShape } from '../../core/table.js';
import {
  type CellFormats,
  type ColumnType,
  NO_FORMATS,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import type { ParquetPlan } from '../../input/parquet/parquet-file.js';
import { kindOf, lineOf, type RowSpool, rawOf } from '../scan/row-spool.js';
import { columnsFor, RAW_COLUMN, rowColumnsIn } from './columns.js';
import { sanitizeCell } from './csv-record.js';
import { brandOf, inOnePiece, NOTHING_ASKED, type OutputPlan, type Renderer } from './output-plan.js';
import { userCellsOf } from './user-cells.js';

/** Returns the cell formats of a table, `NO_FORMATS` for text. */
export function formatsOf({ typed }: TableShape): CellFormats {
  return typed ?? NO_FORMATS;
}

export function createTypedRenderer(plan: OutputPlan): Renderer {
  const user = userCellsOf(plan);
  const columns = columnsFor(plan.fields, plan.prefix, plan.matchesNames);
  const ofRow = rowColumnsIn(columns);
  const ownOf = (duplicateOf: number | null, nameMatch: number | null) =>
    ofRow.valuesOf(duplicateOf, nameMatch).map(String).join();
  const hasRaw = plan.hasUnreadable || user.carriesRaw;

  const record = (cells: readonly TypedCell[], ours: string, carried: string) => {
    const own = JSON.stringify(cells).slice(1, -1);
    const raw = hasRaw ? JSON.stringify(carried || null) : '';
    return `[${[own, ours, raw].filter((part) => part !== '').join()}]\n`;
  };

  const renderer: Renderer = {
    header() {
      // The columns of a Parquet file always have names.
      if (!plan.outputHeader && plan.format !== 'parquet') return null;
      const names = columns.map((column) => plan.prefix + column.name);
      return record(user.header, JSON.stringify(names).slice(1, -1), plan.prefix + RAW_COLUMN);
    },
    answer(view) {
      const brand = brandOf(view);
      const cells = columns.map((column) => {
        const cell = column.typed(view, brand);
        return JSON.stringify(typeof cell === 'string' ? sanitizeCell(cell) || null : cell);
      });
      if (ofRow.count === 0) return { before: inOnePiece(cells.join(',')), after: '' };
      const before = cells.slice(0, ofRow.at).map((cell) => `${cell},`);
      const after = cells.slice(ofRow.at + ofRow.count).map((cell) => `,${cell}`);
      return { before: inOnePiece(before.join('')), after: inOnePiece(after.join('')) };
    },
    row(raw, { before, after }, duplicateOf, nameMatch = null) {
      const { cells, carried } = user.read(raw);
      return record(cells, before + ownOf(duplicateOf, nameMatch) + after, carried);
    },
    unreadable(raw, reason) {
      const { before, after } = renderer.answer({ ...NOTHING_ASKED, error: reason });
      const ours = before + ownOf(null, null) + after;
      return record(
        user.kept.map(() => null),
        ours,
        raw,
      );
    },
  };
  return renderer;
}

/** Plans the columns of a Parquet output. Those of a Parquet input stay, others get `types`. */
export function parquetPlan(plan: OutputPlan, types: readonly ColumnType[]): ParquetPlan {
  const schema = plan.input.parquet?.schema;
  const user = userCellsOf(plan).kept.map((same, at) =>
    schema?.[same] === undefined
      ? { type: types[at] ?? 'text', isUtc: false }
      : { same, int96: types[at] === 'moment' ? ('MICROS' as const) : ('NANOS' as const) },
  );
  const ours = columnsFor(plan.fields, plan.prefix, plan.matchesNames).map(({ type }) => ({
    type,
    isUtc: true,
  }));
  const { hasUnreadable } = plan;
  const geo = plan.input.parquet?.geo;
  return { formats: formatsOf(plan.input), schema, geo, columns: [...user, ...ours], hasUnreadable };
}

/**
 * Returns for each of the user's columns the narrowest type of all cells; text for CSV. A Parquet
 * input keeps its types and needs none, but `moment` for INT96 beyond 64 bits of nanoseconds.
 */
export function typesOfRows(plan: OutputPlan, rows: Pick<RowSpool, 'records'>): ColumnType[] {
  const schema = plan.input.parquet?.schema;
  if (schema?.every(({ type }) => type !== 'INT96')) return [];
  const user = userCellsOf(plan);
  if (plan.input.format === 'csv') return user.kept.map(() => 'text');
  const cellTypes = user.kept.map(() => new Set<ColumnType>());
  for (const batch of rows.records()) {
    for (const record of batch) {
      if (kindOf(record) === 'unreadable') continue;
      for (const [at, cell] of user.read(rawOf(record)).cells.entries()) {
        const type = typeOf(cell, plan);
        if (type !== null) cellTypes[at]?.add(type);
      }
    }
  }
  // Values of a brand may have another type.
  const isFilled = (at: number) => plan.fills.some(({ path }) => path[0] === plan.allColumns[at]);
  return user.kept.map((at, nth) => (isFilled(at) ? 'text' : commonType(cellTypes[nth] ?? new Set())));
}

/** Returns the user's first cell (also of the header) longer than `most` characters, or null. */
export function longCellIn(plan: OutputPlan, rows: Pick<RowSpool, 'records'>, most: number) {
  const user = userCellsOf(plan);
  const names = [...user.kept.map((at) => plan.allColumns[at] ?? ''), plan.prefix + RAW_COLUMN];
  const longIn = (line: number, cells: readonly TypedCell[], carried: string) => {
    const lengths = [...cells, carried].map((cell) => textOfCell(cell, formatsOf(plan.input)).length);
    const at = lengths.findIndex((length) => length > most);
    return at < 0 ? null : { line, column: names[at] ?? '', length: lengths[at] ?? 0 };
  };
  const inHeader = longIn((plan.input.leftOut?.linesAbove ?? 0) + 1, user.header, '');
  if (inHeader !== null) return inHeader;
  for (const batch of rows.records()) {
    for (const record of batch) {
      // A character has at least one byte.
      if (record.length <= most) continue;
      const raw = rawOf(record);
      const isUnreadable = kindOf(record) === 'unreadable';
      const { cells, carried } = isUnreadable
        ? { cells: user.header.map(() => null), carried: raw }
        : user.read(raw);
      const long = longIn(lineOf(record), cells, carried);
      if (long !== null) return long;
    }
  }
  return null;
}

function typeOf(cell: TypedCell, plan: OutputPlan): ColumnType | null {
  if (cell === null) return null;
  if (plan.input.parquet !== undefined)
    return typeof cell === 'object' && 'p' in cell && isBeyondNanos(cell.p) ? 'moment' : null;
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

/** True for a time beyond 64 bits of nanoseconds; no other integer is so large. */
function isBeyondNanos(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null || !('i' in stored)) return false;
  const value = BigInt(String(stored.i));
  return BigInt.asIntN(64, value) !== value;
}

function commonType(types: ReadonlySet<ColumnType>): ColumnType {
  const [first, second, ...more] = [...types].sort();
  if (first === undefined || more.length > 0) return 'text';
  if (second === undefined) return first;
  if (first === 'integer' && second === 'number') return 'number';
  return first === 'day' && second === 'moment' ? 'moment' : 'text';
}

/**
 * Output records with types: a JSON array of `TypedCell` for each row, for `xlsx-file.ts` and
 * `parquet-file.ts`. The user's cells keep value, type and position.
 */
import { cellOfJson } from '../../core/json-text.js';
import { isTyped, type TableShape } from '../../core/table.js';
import {
  type CellFormats,
  NO_FORMATS,
  readTyped,
  significantDigits,
  type TypedCell,
} from '../../core/typed-cell.js';
import type { Brand } from '../../lookup/brand.js';
import { isObject } from './brand-fields.js';
import { columnsFor, DUPLICATE_COLUMN, RAW_COLUMN, rawPositionIn } from './columns.js';
import { cellText, sanitizeCell, splitRecord } from './csv-record.js';
import { jsonKey, withoutOurs } from './earlier-key.js';
import { inOnePiece, NOTHING_ASKED, type OutputPlan, type Renderer } from './output-plan.js';

/** The user's part of each row. */
export interface TypedPart {
  readonly width: number;
  /** Positions of its columns in the input. */
  readonly kept: readonly number[];
  /** null when the input has no header. */
  readonly header: readonly TypedCell[] | null;
  /** Whether rows may have the text of an earlier unreadable row, or surplus cells. */
  readonly carriesRaw: boolean;
  /** As many cells as `width`; `carried`: that text, or empty. */
  read(raw: string): { readonly cells: readonly TypedCell[]; readonly carried: string };
}

/** The formats of a table; none for text. */
export function formatsOf({ typed }: TableShape): CellFormats {
  return typed ?? NO_FORMATS;
}

export function createTypedRenderer(plan: OutputPlan): Renderer {
  const user = createTypedPartOf(plan);
  const columns = columnsFor(plan.fields, plan.prefix);
  const duplicateAt = columns.findIndex((column) => column.name === DUPLICATE_COLUMN);
  const hasRaw = plan.hasUnreadable || user.carriesRaw;

  const record = (cells: readonly TypedCell[], ours: string, carried: string) => {
    const own = cells.length === 0 ? '' : `${JSON.stringify(cells).slice(1, -1)},`;
    return `[${own}${ours}${hasRaw ? `,${JSON.stringify(carried || null)}` : ''}]\n`;
  };

  const renderer: Renderer = {
    header() {
      // The columns of a Parquet file always have names.
      const named = plan.format === 'parquet' ? user.kept.map((at) => plan.allColumns[at] ?? null) : null;
      const header = user.header ?? named;
      if (header === null) return null;
      const names = columns.map((column) => plan.prefix + column.name);
      return record(header, JSON.stringify(names).slice(1, -1), plan.prefix + RAW_COLUMN);
    },
    answer(view) {
      const parsed: unknown = view.brand ?? JSON.parse(view.profile ?? 'null');
      const brand: Brand = isObject(parsed) ? parsed : {};
      const cells = columns.map((column) => {
        const cell = column.typed(view, brand);
        return JSON.stringify(typeof cell === 'string' ? sanitizeCell(cell) || null : cell);
      });
      if (duplicateAt < 0) return { before: inOnePiece(cells.join(',')), after: '' };
      const before = cells.slice(0, duplicateAt).map((cell) => `${cell},`);
      const after = cells.slice(duplicateAt + 1).map((cell) => `,${cell}`);
      return { before: inOnePiece(before.join('')), after: inOnePiece(after.join('')) };
    },
    row(raw, { before, after }, duplicateOf) {
      const { cells, carried } = user.read(raw);
      return record(cells, before + (duplicateAt < 0 ? '' : duplicateOf) + after, carried);
    },
    unreadable(raw, reason) {
      const { before, after } = renderer.answer({ ...NOTHING_ASKED, error: reason });
      const ours = before + (duplicateAt < 0 ? '' : null) + after;
      return record(new Array<null>(user.width).fill(null), ours, raw);
    },
  };
  return renderer;
}

/** The user's part of rows of any format. */
export function createTypedPartOf(plan: OutputPlan): TypedPart {
  if (isTyped(plan.input.format)) return createTypedPart(plan);
  return plan.input.format === 'csv' ? partOfCsv(plan) : partOfJson(plan);
}

/** For typed rows: their cells, in their columns. */
export function createTypedPart(plan: OutputPlan): TypedPart {
  const { input, allColumns } = plan;
  const kept = [...allColumns.keys()].filter((at) => !plan.replacedColumns.includes(at));
  const rawPosition = rawPositionIn(plan);
  const pick = (cells: readonly TypedCell[]) => kept.map((at) => cells[at] ?? null);
  return {
    width: kept.length,
    kept,
    header: input.rawHeader === null ? null : pick(readTyped(input.rawHeader)),
    carriesRaw: rawPosition >= 0,
    read(raw) {
      const cells = readTyped(raw);
      const carried = cells[rawPosition];
      return { cells: pick(cells), carried: typeof carried === 'string' ? carried : '' };
    },
  };
}

/** Every cell as text: the format has no types. */
function partOfCsv(plan: OutputPlan): TypedPart {
  const { columns, delimiter, rawHeader } = plan.input;
  const kept = [...columns.keys()].filter((at) => !plan.replacedColumns.includes(at));
  const rawPosition = rawPositionIn(plan);
  const textsOf = (raw: string) => splitRecord(raw, delimiter).map(cellText);
  return {
    width: kept.length,
    kept,
    header: rawHeader === null ? null : kept.map((at) => textsOf(rawHeader)[at] || null),
    carriesRaw: rawPosition >= 0 || plan.hasSurplus === true,
    read(raw) {
      const texts = textsOf(raw);
      const carried = texts.length > columns.length ? raw : (texts[rawPosition] ?? '');
      return { cells: kept.map((at) => texts[at] || null), carried };
    },
  };
}

/** Numbers and booleans keep their types; objects and arrays become their JSON text. */
function partOfJson({ allColumns, prefix }: OutputPlan): TypedPart {
  const ours = jsonKey(prefix);
  const kept = [...allColumns.keys()].filter((at) => allColumns[at] !== ours);
  const positions = new Map(kept.map((at, i) => [allColumns[at] ?? '', i]));
  return {
    width: kept.length,
    kept,
    header: [...positions.keys()],
    carriesRaw: kept.length < allColumns.length,
    read(raw) {
      const cells: TypedCell[] = kept.map(() => null);
      const { members, carried } = withoutOurs(raw, ours);
      for (const { key, valueStart, valueEnd } of members) {
        const at = positions.get(key);
        if (at !== undefined) cells[at] = cellOfValue(raw.slice(valueStart, valueEnd));
      }
      return { cells, carried: carried === null ? '' : cellOfJson(carried) };
    },
  };
}

function cellOfValue(json: string): TypedCell {
  if (json === 'true' || json === 'false') return json === 'true';
  if (!/^[-\d]/.test(json)) return cellOfJson(json) || null;
  const number = Number(json);
  // Digits beyond a double are an identifier, not an amount.
  const isExact = Number.isFinite(number) && significantDigits(json) <= 15;
  return isExact ? number : json;
}

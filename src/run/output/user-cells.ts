/** The user's part of a row as cells, for outputs of another format than the input. */
import { cellOfJson } from '../../core/json-text.js';
import { isTyped, jsonKey } from '../../core/table.js';
import { readTyped, significantDigits, type TypedCell } from '../../core/typed-cell.js';
import { RAW_COLUMN } from './columns.js';
import { cellText, splitRecord } from './csv-record.js';
import { withoutOurs } from './earlier-key.js';
import type { OutputPlan } from './output-plan.js';

export interface UserCells {
  readonly kept: readonly number[];
  /** The names of these columns: `column_1` and so on if the input has none. */
  readonly header: readonly TypedCell[];
  /** True if rows may carry text: of an earlier unreadable row, or their own with surplus cells. */
  readonly carriesRaw: boolean;
  /** Returns a cell for each column kept; `carried`: that text, or empty. */
  read(raw: string): { readonly cells: readonly TypedCell[]; readonly carried: string };
}

export function userCellsOf(plan: OutputPlan): UserCells {
  if (isTyped(plan.input.format)) return ofTyped(plan);
  return plan.input.format === 'csv' ? ofCsv(plan) : ofJson(plan);
}

/** Returns the column in which an earlier run kept the text of unreadable rows, or -1. */
export function rawPositionIn({ input, replacedColumns, prefix }: OutputPlan): number {
  return replacedColumns.find((at) => input.columns[at] === prefix + RAW_COLUMN) ?? -1;
}

function ofTyped(plan: OutputPlan): UserCells {
  const { input, allColumns } = plan;
  const kept = [...allColumns.keys()].filter((at) => !plan.replacedColumns.includes(at));
  const rawPosition = rawPositionIn(plan);
  const pick = (cells: readonly TypedCell[]) => kept.map((at) => cells[at] ?? null);
  return {
    kept,
    header: pick(input.rawHeader === null ? allColumns : readTyped(input.rawHeader)),
    carriesRaw: rawPosition >= 0,
    read(raw) {
      const cells = readTyped(raw);
      const carried = cells[rawPosition];
      return { cells: pick(cells), carried: typeof carried === 'string' ? carried : '' };
    },
  };
}

/** Keeps all cells as text, because only the user knows what they mean. */
function ofCsv(plan: OutputPlan): UserCells {
  const { columns, delimiter, rawHeader } = plan.input;
  const kept = [...columns.keys()].filter((at) => !plan.replacedColumns.includes(at));
  const rawPosition = rawPositionIn(plan);
  const blank = isTyped(plan.format) ? null : '';
  const textsOf = (raw: string) => splitRecord(raw, delimiter).map(cellText);
  const pick = (texts: readonly string[]) => kept.map((at) => texts[at] || blank);
  return {
    kept,
    header: pick(rawHeader === null ? columns : textsOf(rawHeader)),
    carriesRaw: rawPosition >= 0 || plan.hasSurplus,
    read(raw) {
      const texts = textsOf(raw);
      const carried = texts.length > columns.length ? raw : (texts[rawPosition] ?? '');
      return { cells: pick(texts), carried };
    },
  };
}

/** Keeps numbers and booleans in formats with types; objects and arrays become JSON text. */
function ofJson({ allColumns, prefix, format }: OutputPlan): UserCells {
  const ours = jsonKey(prefix);
  const kept = [...allColumns.keys()].filter((at) => allColumns[at] !== ours);
  const positions = new Map(kept.map((at, i) => [allColumns[at] ?? '', i]));
  const cellOf = isTyped(format) ? typedCellOf : cellOfJson;
  return {
    kept,
    header: [...positions.keys()],
    carriesRaw: kept.length < allColumns.length,
    read(raw) {
      const cells: TypedCell[] = kept.map(() => null);
      const { members, carried } = withoutOurs(raw, ours);
      for (const { key, valueStart, valueEnd } of members) {
        const at = positions.get(key);
        if (at !== undefined) cells[at] = cellOf(raw.slice(valueStart, valueEnd));
      }
      return { cells, carried: carried === null ? '' : cellOfJson(carried) };
    },
  };
}

function typedCellOf(json: string): TypedCell {
  if (json === 'true' || json === 'false') return json === 'true';
  if (!/^[-\d]/.test(json)) return cellOfJson(json) || null;
  const number = Number(json);
  // A number with more digits than a double is an identifier, not an amount.
  const isExact = Number.isFinite(number) && significantDigits(json) <= 15;
  return isExact ? number : json;
}

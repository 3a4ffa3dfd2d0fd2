/**
 * The user's part of a CSV record: the record as it stood, without the columns of an earlier run; or the cells that
 * a JSON line becomes. Our part is `render-csv.ts`'s.
 */
import { RAW_COLUMN } from './columns.js';
import { cellText, splitRecord, writeCells } from './csv-record.js';
import { jsonKey, withoutOurs } from './earlier-key.js';
import { defuseRecord } from './formulas.js';
import type { OutputPlan } from './output-plan.js';

export interface UserPart {
  /** How many columns it has. */
  readonly width: number;
  /** Names of its columns as a record; null when the input has no header. */
  readonly header: string | null;
  /** Whether rows may carry a text: that of an unreadable row of an earlier run, or their own with cells beyond the last column. */
  readonly carriesRaw: boolean;
  /** The record without line end. */
  record(raw: string): string;
  /** The cell for that text, quoting included. */
  carried(raw: string): string;
}

export function createUserPart(plan: OutputPlan, delimiter: string): UserPart {
  const part = plan.input.format === 'csv' ? fromCsv(plan, delimiter) : fromJsonLines(plan, delimiter);
  if (plan.escapeFormulas !== 'all') return part;
  return {
    ...part,
    header: part.header === null ? null : defuseRecord(part.header, delimiter),
    record: (raw) => defuseRecord(part.record(raw), delimiter),
    carried: (raw) => defuseRecord(part.carried(raw), delimiter),
  };
}

function fromCsv(plan: OutputPlan, delimiter: string): UserPart {
  const { columns, rawHeader } = plan.input;
  const cut = new Set(plan.replacedColumns);
  const rawPosition = plan.replacedColumns.find((at) => columns[at] === plan.prefix + RAW_COLUMN) ?? -1;
  const hasSurplus = plan.hasSurplus === true;
  const keep = (raw: string) =>
    splitRecord(raw, delimiter)
      .filter((_cell, at) => at < columns.length && !cut.has(at))
      .join(delimiter);
  const record = cut.size === 0 && !hasSurplus ? (raw: string) => raw : keep;
  return {
    width: columns.length - cut.size,
    header: rawHeader === null ? null : record(rawHeader),
    carriesRaw: rawPosition >= 0 || hasSurplus,
    record,
    carried(raw) {
      if (rawPosition < 0 && !hasSurplus) return '';
      const cells = splitRecord(raw, delimiter);
      return cells.length > columns.length ? writeCells([raw], delimiter) : (cells[rawPosition] ?? '');
    },
  };
}

function fromJsonLines(plan: OutputPlan, delimiter: string): UserPart {
  const ours = jsonKey(plan.prefix);
  const keys = plan.allColumns.filter((key) => key !== ours);
  const positions = new Map(keys.map((key, at) => [key, at]));
  return {
    width: keys.length,
    header: writeCells(keys, delimiter),
    carriesRaw: keys.length < plan.allColumns.length,
    record(raw) {
      const cells = keys.map(() => '');
      for (const member of withoutOurs(raw, ours).members) {
        const at = positions.get(member.key);
        if (at !== undefined) cells[at] = cellOfJson(raw.slice(member.valueStart, member.valueEnd));
      }
      return writeCells(cells, delimiter);
    },
    carried(raw) {
      const { carried } = withoutOurs(raw, ours);
      return carried === null ? '' : writeCells([cellOfJson(carried)], delimiter);
    },
  };
}

/** A string's text; nothing for null; numbers and everything else as they are written, so that no digit is lost. */
function cellOfJson(value: string): string {
  if (value.startsWith('"')) return JSON.parse(value) as string;
  return value === 'null' ? '' : value;
}

/**
 * Keys for those columns of a CSV at `positions` when it becomes JSON lines: a blank name becomes `column_3` (its
 * position from 1), a name that was taken gets a number.
 */
export function jsonKeysOf(columns: readonly string[], positions: readonly number[]): string[] {
  const names = new Set(positions.map((at) => columns[at] ?? ''));
  const used = new Set<string>();
  return positions.map((at) => {
    const column = columns[at] ?? '';
    const name = column === '' ? `column_${at + 1}` : column;
    let key = name;
    for (let n = 2; used.has(key) || (key !== column && names.has(key)); n++) key = `${name}_${n}`;
    used.add(key);
    return key;
  });
}

/** The texts of a CSV record's cells, by position. */
export function cellTexts(raw: string, delimiter: string): string[] {
  return splitRecord(raw, delimiter).map(cellText);
}

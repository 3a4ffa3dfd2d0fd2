/**
 * Lines of JSON as rows: one object per line, its top-level keys as columns in the order in which
 * they are first seen. Lines are cut by `record-splitter.ts`, values by `core/json-text.ts`.
 */
import { cellOfJson, membersOf } from '../core/json-text.js';
import type { Row } from '../core/table.js';
import {
  isLongerThan,
  MAX_FIELD_BYTES,
  MAX_JSON_COLUMNS,
  MAX_RECORD_BYTES,
  type RowReader,
} from './input.js';
import type { LineMode } from './line-finder.js';
import { createRecordSplitter, cutText } from './record-splitter.js';

interface JsonlLayout {
  readonly mode: LineMode;
  readonly passLines: number;
}

export function createJsonlReader(layout: JsonlLayout): RowReader {
  const splitter = createRecordSplitter({ ...layout, delimiter: null, columnCount: null });
  const positions = new Map<string, number>();
  let number = 0;
  let blankLines = 0;
  let isFull = false;

  function positionOf(key: string): number | undefined {
    const known = positions.get(key);
    if (known !== undefined) return known;
    if (positions.size >= MAX_JSON_COLUMNS) {
      isFull = true;
      return undefined;
    }
    positions.set(key, positions.size);
    return positions.size - 1;
  }

  function readCells(line: string): { cells: string[]; problem: string | null } {
    const problem = findProblem(line);
    if (problem !== null) return { cells: [], problem };
    const found = (membersOf(line) ?? []).map(
      ({ key, valueStart, valueEnd }) =>
        [positionOf(key), cellOfJson(line.slice(valueStart, valueEnd))] as const,
    );
    const cells = new Array<string>(positions.size).fill('');
    for (const [position, text] of found) {
      if (isLongerThan(text, MAX_FIELD_BYTES)) return { cells: [], problem: 'a value is larger than 64 KiB' };
      if (position !== undefined) cells[position] = text;
    }
    return { cells, problem: null };
  }

  function push(text: string, isLast: boolean): Row[] {
    const rows: Row[] = [];
    for (const { line, raw, problem } of splitter.push(text, isLast)) {
      if (raw.trim() === '') {
        blankLines += 1;
        continue;
      }
      number += 1;
      const read = problem === null ? readCells(raw) : { cells: [], problem };
      rows.push({ number, line, raw: isLongerThan(raw, MAX_RECORD_BYTES) ? cutText(raw) : raw, ...read });
    }
    return rows;
  }

  function notes(): string[] {
    const notes: string[] = [];
    if (blankLines > 0) notes.push(`blank lines: ${blankLines}, not records, left out`);
    if (isFull) notes.push(`more than ${MAX_JSON_COLUMNS} different keys: the later ones are no columns`);
    return notes;
  }

  return { push, notes, columns: () => [...positions.keys()], position: splitter.position };
}

/** Why a line is not a record; null when it is one JSON object. */
function findProblem(line: string): string | null {
  if (line.includes('\0')) return 'a NUL character';
  if (isLongerThan(line, MAX_RECORD_BYTES))
    return 'the record is larger than 1 MiB; only its beginning is kept';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'the line is not valid JSON';
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? null
    : 'the line is not a JSON object';
}

/**
 * Lines of JSON as rows: one object per line, its top-level keys as columns in the order in which
 * they are first seen. Lines are cut by `record-splitter.ts`, values by `json-members.ts`.
 */
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
    const members = memberTexts(line);
    const found = members.map(([key, text]) => [positionOf(key), text] as const);
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

const COMMA = 44;
const CLOSE = 125;

/**
 * Each top-level member in order: key, and the cell text of its value (empty for null, raw JSON for
 * nested values).
 */
export function memberTexts(json: string): [key: string, text: string][] {
  const members: [string, string][] = [];
  let at = skipSpace(json, json.indexOf('{') + 1);
  while (json[at] !== '}') {
    const keyEnd = endOfString(json, at);
    const key = unquote(json.slice(at, keyEnd));
    at = skipSpace(json, json.indexOf(':', keyEnd) + 1);
    const valueEnd = endOfValue(json, at);
    members.push([key, cellText(json.slice(at, valueEnd))]);
    at = skipSpace(json, valueEnd);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return members;
}

function cellText(value: string): string {
  if (value === 'null') return '';
  return value[0] === '"' ? unquote(value) : value;
}

function unquote(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && json.charCodeAt(at) <= 32) at += 1;
  return at;
}

/** Index after the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  let at = json.indexOf('"', from + 1);
  while (isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at + 1;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

function endOfValue(json: string, from: number): number {
  const first = json[from];
  if (first === '"') return endOfString(json, from);
  let at = from;
  if (first !== '{' && first !== '[') {
    for (let code = json.charCodeAt(at); code > 32 && code !== COMMA && code !== CLOSE; ) {
      at += 1;
      code = json.charCodeAt(at);
    }
    return at;
  }
  for (let depth = 0; ; at += 1) {
    const char = json[at];
    if (char === '"') at = endOfString(json, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
}

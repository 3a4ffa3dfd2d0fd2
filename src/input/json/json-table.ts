/** Finds the table in the beginning of a JSON text: an array, or an object of rows or columns. */
import { RunError } from '../../core/errors.js';
import { endOfString, isJsonText } from '../../core/json-text.js';
import { attempt } from '../../core/lifecycle.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { shortName } from '../../core/terminal-text.js';
import { IDENTIFYING, valueKind } from '../cell-kinds.js';
import { isHeaderLike } from '../identify/header-words.js';

/**
 * `arrays`: arrays with a text among them. `bare`: texts or numbers. `keyed`: an object of objects.
 * `map`: an object of texts or numbers, one for each company. `columns`: an object of columns.
 */
type JsonRows = 'objects' | 'arrays' | 'bare' | 'keyed' | 'map' | 'columns';

export interface JsonTable {
  /** Keys down to the rows, joined by dots; empty for rows at the top. */
  readonly path: string;
  /** The text before the rows, with which the output begins too. */
  readonly head: string;
  readonly depth: number;
  readonly rows: JsonRows;
  readonly others: readonly string[];
  /** True if most of the text is tables. */
  readonly isMost: boolean;
}

/** The beginning of an input, decoded, without a byte order mark. */
export interface TableText {
  readonly name: string;
  readonly text: string;
  /** False if the input continues after the text. */
  readonly isWhole: boolean;
}

interface Candidate extends Pick<JsonTable, 'path' | 'depth' | 'rows'> {
  readonly at: number;
  /** Length of its text; infinite if the text is cut. */
  readonly chars: number;
  /** True if it is a table only when the user says so, like an object with one member. */
  readonly isDoubtful?: boolean;
}

class Frame {
  key = '';
  readonly keys: string[] = [];
  /** Keys of the first members that are whole objects. */
  readonly inner: string[][] = [];
  isMixed = false;
  hasColumns = false;
  /** Number of elements of each member that is an array of texts or numbers. */
  readonly lengths: number[] = [];
  /** Members of the outermost object with an identifier as key or value. */
  identifiers = 0;

  constructor(readonly at: number) {}
}

interface OpenArray {
  readonly at: number;
  first: string | null;
  commas: number;
  hasText: boolean;
}

/** The beginning of a string, or another token. */
const TOKEN = /["{}[\],:]|[^\s"{}[\],:]+/g;
/** Objects that may be open around a table; no web service nests its rows deeper. */
const MOST_OBJECTS = 64;
const COMMENT = /^\/[/*]/;
const MOST_NAMED = 10;
const MEMBERS_COMPARED = 20;
/** An object with fewer members is a row. */
const LEAST_MEMBERS = 3;
/** Keys whose values describe the columns of a table. */
export const COLUMNS_KEY = /^(?:columns?|cols|fields?|schema|headers?|names|(?:column|field)_?names)$/i;

/**
 * Returns the table at the path `records`; without a path the longest one, or else a list, or null.
 * Throws `input-binary` for an unknown path and for JSON with comments.
 */
export function findJsonTable({ name, text, isWhole }: TableText, records: string | null): JsonTable | null {
  const tables = findTables(name, text);
  const byLength = tables
    .filter((each) => !each.isDoubtful)
    .sort((one, other) => rankOf(one) - rankOf(other) || other.chars - one.chars);
  const objects = byLength.filter(({ rows }) => rows !== 'bare');
  const bare = byLength.find(({ chars }) => isWhole || chars === Number.POSITIVE_INFINITY);
  const chosen = records === null ? (objects[0] ?? bare) : tables.find(({ path }) => path === records);
  if (chosen === undefined && records !== null) {
    throw isWhole ? unknownPath(name, records, byLength) : noTableYet(name, text.length, records);
  }
  if (chosen === undefined || !isBeginning(text.slice(0, chosen.at), chosen.depth)) return null;
  const { path, at, depth, rows } = chosen;
  const others = objects.filter((each) => each !== chosen && !isAboutColumns(each)).map((each) => each.path);
  const isMost = objects.reduce((sum, each) => sum + each.chars, 0) > text.length / 2;
  return { path, head: text.slice(0, at), depth, rows, others, isMost };
}

/**
 * True if the rows may begin after the end of a cut text. An unfinished inner object may precede
 * them, and an unfinished list may be one of their columns.
 */
export function isCutBeforeRows({ name, text }: Omit<TableText, 'isWhole'>, records: string | null): boolean {
  const isIt = ({ path, rows, chars, isDoubtful }: Candidate) =>
    chars === Number.POSITIVE_INFINITY &&
    rows !== 'columns' &&
    (rows !== 'bare' || records !== null) &&
    (records === null ? !isDoubtful && (rows !== 'keyed' || path === '') : path === records);
  return !findTables(name, text).some(isIt);
}

/** Ranks rows with keys first, and descriptions of columns last. */
function rankOf(table: Candidate): number {
  if (isAboutColumns(table)) return 2;
  return table.rows === 'objects' || table.rows === 'keyed' ? 0 : 1;
}

/** True for `fields` in `{"fields": [{"name": ...}], "data": [...]}`. */
function isAboutColumns({ path }: Candidate): boolean {
  return COLUMNS_KEY.test(path.slice(path.lastIndexOf('.') + 1));
}

/** Finds the tables that are not inside another one. */
function findTables(name: string, text: string): Candidate[] {
  const found: Candidate[] = [];
  const frames: Frame[] = [];
  let array: OpenArray | null = null;
  let depth = 0;
  let last = '';
  const pathOf = () => frames.map(({ key }) => key).join('.');
  const closeArray = (chars: number) => {
    const { at = 0, first = null, commas = 0, hasText = false } = array ?? {};
    const rows = first === '{' ? 'objects' : first === '[' ? 'arrays' : 'bare';
    if (first !== null && first !== ']' && (rows !== 'arrays' || hasText))
      found.push({ path: pathOf(), at, depth: frames.length, chars, rows });
    if (first !== null && rows === 'bare') frames.at(-1)?.lengths.push(first === ']' ? 0 : commas + 1);
    array = null;
  };
  const closeObject = (end: number | null) => {
    const frame = frames.pop();
    if (frame === undefined) return;
    const parent = frames.at(-1);
    if (end !== null && parent && parent.inner.length < MEMBERS_COMPARED) {
      parent.inner.push(frame.hasColumns ? frame.keys : []);
    }
    const { at, isMixed, inner, keys, lengths } = frame;
    const isByColumn =
      (lengths.length > 1 && lengths.length === keys.length && areAsLong(lengths, end === null)) ||
      (!isMixed && areRowNumbers(inner[0] ?? [], keys));
    const chars = end === null ? Number.POSITIVE_INFINITY : end - at;
    if (isMap(frame, end === null)) found.push({ path: '', at, depth: 0, chars, rows: 'map' });
    if (!isByColumn && (isMixed || inner.length === 0)) return;
    const inside = found.slice(found.findLastIndex((each) => each.at < at) + 1);
    const until = end ?? text.length;
    const lengthOf = (each: Candidate) =>
      each.rows === 'objects' ? Math.min(each.chars, until - each.at) : 0;
    const charsInside = inside.reduce((sum, each) => sum + lengthOf(each), 0);
    const isDoubtful = !isByColumn && (!areAlike(inner) || charsInside > (until - at) / 2);
    if (!isDoubtful) found.length -= inside.length;
    const rows = isByColumn ? 'columns' : 'keyed';
    found.push({ path: pathOf(), at, depth: frames.length, chars, rows, isDoubtful });
  };
  for (const [token, index] of tokensOf(text)) {
    if (COMMENT.test(token)) {
      const todo = 'remove the comments (// and /* */), or save the table as CSV';
      throw badJson('the input is JSON with comments', name, todo);
    }
    const frame = frames.at(-1);
    if (array !== null) {
      array.first ??= token;
      if (depth === 1 && token === ',') array.commas += 1;
      array.hasText ||= depth === 2 && token.startsWith('"');
      if (token === '{' || token === '[') depth += 1;
      else if (token === '}' || token === ']') depth -= 1;
      if (depth === 0) closeArray(index - array.at);
    } else if (token === '{') {
      if (frames.length === MOST_OBJECTS) {
        const what = `the objects of the input are nested more than ${MOST_OBJECTS} levels deep`;
        throw badJson(what, name, 'write its rows as lines, one object per line');
      }
      frames.push(new Frame(index));
      if (frame !== undefined) frame.hasColumns = true;
    } else if (token === '}') closeObject(index);
    else if (token === ':' && frame !== undefined) {
      frame.key = keyOf(last);
      frame.keys.push(frame.key);
    } else {
      if (frame !== undefined && last === ':') {
        frame.isMixed = true;
        frame.hasColumns ||= token !== '[';
        if (frames.length === 1 && token !== '[' && [keyOf(token), frame.key].some(isIdentifying))
          frame.identifiers += 1;
      }
      if (token === '[') {
        array = { at: index, first: null, commas: 0, hasText: false };
        depth = 1;
      }
    }
    last = token;
  }
  // The input may continue after this text, so close whatever is open.
  closeArray(Number.POSITIVE_INFINITY);
  while (frames.length > 0) closeObject(null);
  return found;
}

/** Yields tokens and their positions; reads each character once, even of a cut string. */
function* tokensOf(text: string): Generator<readonly [token: string, index: number]> {
  const pattern = new RegExp(TOKEN);
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    if (found[0] === '"') pattern.lastIndex = endOfString(text, found.index);
    yield [text.slice(found.index, pattern.lastIndex), found.index];
  }
}

/** True for columns of one length above 1; at the end of a cut text the last may be shorter. */
function areAsLong(lengths: readonly number[], isCut: boolean): boolean {
  const [first = 0, ...others] = lengths;
  const isLastCut = (length: number, at: number) => isCut && at === others.length - 1 && length < first;
  return first > 1 && others.every((length, at) => length === first || isLastCut(length, at));
}

/** True for numbers of rows, unlike years: they begin with 0 or 1, or are more than the columns. */
function areRowNumbers(numbers: readonly string[], columns: readonly string[]): boolean {
  const areNumbers = numbers.length > 1 && numbers.every((key) => /^\d+$/.test(key));
  const isRow = (column: string) => /^\d+$/.test(column) || isIdentifying(column);
  if (!areNumbers || columns.some(isRow)) return false;
  return /^[01]$/.test(numbers[0] ?? '') || numbers.length > columns.length;
}

/** True if each member is a row; false if most keys are names of columns. */
function isMap({ identifiers, keys }: Frame, isCut: boolean): boolean {
  if (identifiers < Math.max(LEAST_MEMBERS, keys.length - (isCut ? 1 : 0))) return false;
  return keys.filter((key) => isHeaderLike(key) && !isIdentifying(key)).length < keys.length / 2;
}

const isIdentifying = (text: string) => IDENTIFYING.has(valueKind(text));

function areAlike([first = [], ...others]: readonly string[][]): boolean {
  const ofFirst = new Set(first);
  const isLikeFirst = (keys: readonly string[]) =>
    keys.filter((key) => ofFirst.has(key)).length * 2 >= Math.max(1, keys.length, first.length);
  return others.length > 0 && others.every(isLikeFirst);
}

/** True if the text before a table is JSON with `depth` open objects; in JSONL it may not be. */
function isBeginning(head: string, depth: number): boolean {
  return isJsonText(`${head}[]${'}'.repeat(depth)}`);
}

function keyOf(token: string): string {
  return attempt(() => String(JSON.parse(token)), token);
}

/** Returns the command that writes the rows at a path as lines; null for an unknown path. */
export function jqFor(name: string, path: string | null): string {
  const keys = path === null ? ['PATH'] : path.split('.').filter((key) => key !== '');
  const steps = keys.map((key) => (/^[a-z_]\w*$/i.test(key) ? `.${key}` : `.[${JSON.stringify(key)}]`));
  return `jq -c '${steps.join('').replaceAll("'", "'\\''")}[]' ${shortName(name)} > rows.jsonl`;
}

export function badJson(what: string, subject: Phrase, todo: Phrase): RunError {
  return new RunError({ code: 'input-binary', what, subject, todo });
}

export const damagedJson = (part: string, subject: string) =>
  badJson(`the JSON ${part} is damaged`, subject, 'write it again, or write one object per line');

function unknownPath(name: string, records: string, tables: readonly Candidate[]): RunError {
  const paths = tables.slice(0, MOST_NAMED).map(({ path }) => shortName(path));
  const todo = paths.length === 0 ? 'give a file with an array of objects' : `use one of ${paths.join(', ')}`;
  return badJson('the input has no such array', phrase`${name}, ${{ set: { records } }}`, todo);
}

/** Returns the error for rows that do not begin in the first characters, `chars` of them. */
export function noTableYet(name: string, chars: number, records: string | null): RunError {
  const looked = `its first ${Math.floor(chars / 1024 / 1024)} MB`;
  const what = records === null ? 'no array of objects was found' : 'the array was not found';
  const subject = phrase`${name}, ${looked}${records === null ? '' : phrase`, ${{ set: { records } }}`}`;
  return badJson(what, subject, `write its rows as lines and read that file: ${jqFor(name, records)}`);
}

/** Returns the error for values by column in a text that is too long. */
export function tooLongByColumn(name: string): RunError {
  const what = 'the values are stored by column, and the file is too large to be turned into rows';
  const todo = "write it by row (in pandas: `to_json(orient='records', lines=True)`), or save it as CSV";
  return badJson(what, name, todo);
}

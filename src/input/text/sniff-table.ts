/** Detects format, delimiter and header; stops where a guess would lose or shift rows. */
import { RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isJson, KEY_COLUMN, padded, type TableFormat, type TableShape } from '../../core/table.js';
import { shortName } from '../../core/terminal-text.js';
import { assertNoDocument } from '../binary-signature.js';
import type { InputParts, ReadingSettings } from '../input.js';
import { ElementSplitter } from '../json/element-splitter.js';
import { ColumnsSplitter, nameArrays } from '../json/json-columns.js';
import {
  findJsonProblem,
  JsonReader,
  objectOfArray,
  objectOfMember,
  objectOfScalar,
} from '../json/json-readers.js';
import {
  findJsonTable,
  isCutBeforeRows,
  type JsonTable,
  noTableYet,
  type TableText,
  tooLongByColumn,
} from '../json/json-table.js';
import { detectLineMode, LineFinder, lineEndAt } from '../json/line-finder.js';
import { CsvReader, type RowReader } from '../row-readers.js';
import { correctHeader, type HeaderCorrection, headerWarnings, isBareList } from './header-check.js';
import { isReadable, MAX_RECORD_BYTES, RecordSplitter, type SplitRecord } from './record-splitter.js';
import { fitTable } from './row-fit.js';
import { findOddQuotes, readSample, SNIFF_CHARS, sniffDelimiter } from './sniff-delimiter.js';

type TableLayout = Pick<TableShape, 'format' | 'delimiter' | 'lineEnd' | 'columns' | 'rawHeader'> &
  Pick<InputParts, 'warnings' | 'guess'> & {
    /** The text before an array in an object; null without one. */
    readonly around: string | null;
    readonly linesAbove: number;
    createReader(): RowReader;
  };

/** Detects a layout. Throws `input-empty`, `input-binary`, `input-preamble`, `input-ragged`. */
export function sniffTable(input: TableText, settings: ReadingSettings): TableLayout {
  const { name } = input;
  const { skipLines } = settings;
  const body = withoutLines(input.text, skipLines);
  if (body.trim() === '') {
    const subject = skipLines > 0 ? phrase`${name} after ${{ set: { skipLines } }}` : name;
    throw new RunError({ code: 'input-empty', subject, todo: 'check that this is the right file' });
  }
  const { format, table } = sniffFormat({ ...input, text: body }, settings.records);
  const charsAbove = input.text.length - body.length;
  if (isJson(format)) return jsonLayout({ ...input, text: body }, format, settings, table, charsAbove);
  assertNoDocument(name, body);
  const layout = csvLayout({ ...input, text: body }, settings);
  if (!('options' in layout)) return layout;
  const corrected = sniffTable(input, { ...settings, ...layout.options });
  return { ...corrected, warnings: [layout.warning, ...corrected.warnings] };
}

function withoutLines(text: string, lines: number): string {
  const finder = new LineFinder(text, detectLineMode(text, false), true);
  let at = 0;
  for (let i = 0; i < lines; i += 1) at = finder.after(finder.next(at));
  return text.slice(at);
}

const TABLE_KEY = /(?:^|\.)(?:values|data|rows|items|results|records)$/i;
/** True if an object on one line is a table rather than a row with a list. */
function isRatherTable({ rows, path, isMost }: JsonTable): boolean {
  if (rows === 'arrays') return TABLE_KEY.test(path);
  return isMost && (rows !== 'columns' || path === '' || TABLE_KEY.test(path));
}

/** Lines that may show a text to be JSONL; the first one may be damaged. */
const LINES_TRIED = 5;
const PATHS_NAMED = 5;

/** A detected format. `table`: an array inside JSON; null if the text begins with it. */
const formatWith = (format: TableFormat, table: JsonTable | null = null) => ({ format, table });
const ARRAYS_START = /^\[\s*\[\s*(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|null)\s*(?:[,\]]|$)/;
/** An array of texts or numbers, which no line of CSV looks like. */
const LIST_START = /^\[\s*(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)\s*(?:[,\]]|$)/;
const OBJECT_START = /^\{\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:/s;
const LINES_NAME = /\.(jsonl|ndjson)(\.gz)?$/i;

/** True for the beginning of a JSON object whose rows may begin later. */
export function isTooShort(input: TableText, settings: ReadingSettings): boolean {
  const { name, isWhole } = input;
  if (isWhole || LINES_NAME.test(name)) return false;
  const text = withoutLines(input.text, settings.skipLines);
  if (!OBJECT_START.test(text.trimStart()) || areObjects(text).includes(true)) return false;
  return isCutBeforeRows({ name, text }, settings.records);
}

/** Says of each of the first lines with text whether it is an object. */
function areObjects(text: string): boolean[] {
  const lines = text.trimStart().split(/[\r\n]+/, LINES_TRIED);
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.startsWith('{') && findJsonProblem(line, 'line') === null);
}

function sniffFormat(input: TableText, records: string | null): ReturnType<typeof formatWith> {
  const { name, isWhole } = input;
  const text = input.text.trimStart();
  if (/^\[\s*(?:[{\]]|$)/.test(text)) return formatWith('json');
  if (LIST_START.test(text) || ARRAYS_START.test(text)) return formatWith('json', findJsonTable(input, null));
  if (LINES_NAME.test(name)) return formatWith('jsonl');
  if (!text.startsWith('{')) return formatWith('csv');
  const [isFirst = false, ...others] = areObjects(text);
  const isOnlyLine = isWhole && others.length === 0;
  if (isFirst && !isOnlyLine) return formatWith('jsonl');
  // A single object on one line is a row, unless most of it is a table.
  const table = findJsonTable(input, records);
  if (table?.rows === 'columns' && !isWhole) throw tooLongByColumn(name);
  const isTable = table !== null && isRatherTable(table);
  const isRow = isFirst && !isTable && records === null && text.length <= MAX_RECORD_BYTES;
  if (isRow || (table === null && others.includes(true))) return formatWith('jsonl');
  if (table !== null) return formatWith('json', table);
  if (!isWhole && OBJECT_START.test(text)) throw noTableYet(name, text.length, records);
  return formatWith('csv');
}

function jsonLayout(
  input: TableText,
  format: TableFormat,
  { skipLines, header }: ReadingSettings,
  table: JsonTable | null,
  charsAbove: number,
): TableLayout {
  const { name, text } = input;
  const mode = detectLineMode(text, false);
  const lines = new LineFinder(text, mode, true);
  const { path = '', head = '', depth = 0, others = [], rows = 'objects' } = table ?? {};
  const arrays = rows === 'arrays' ? nameArrays(input, { head, depth }, header) : null;
  const warnings: Phrase[] = [];
  const where = path === '' ? 'the object' : `the object "${shortName(path)}"`;
  if (rows === 'bare')
    warnings.push('no header: the elements are texts or numbers; the column is named column_1');
  const isKeyed = rows === 'keyed' || rows === 'map';
  if (isKeyed) {
    warnings.push(
      `each member of ${where} is a row, with its name in the column ${KEY_COLUMN}; the output is an ` +
        'array, because the members of an object cannot be ranked',
    );
  } else if (rows === 'columns') {
    warnings.push(`${where} holds columns: the output is an array of rows, because columns cannot be ranked`);
  } else if (path !== '') warnings.push(`the rows are read from the array "${shortName(path)}"`);
  if (arrays !== null) warnings.push(`the rows are arrays ${NAMED[arrays.from]}: the output has objects`);
  if (others.length > 0) {
    const named = others.slice(0, PATHS_NAMED).map((each) => `"${shortName(each)}"`);
    warnings.push(phrase`other tables: ${named.join(', ')}; choose with ${{ setting: 'records' }}`);
  }
  const createReader = () => {
    if (format === 'jsonl') {
      const splitter = { mode, passLines: skipLines, delimiter: null, columnCount: 0 };
      return new JsonReader(new RecordSplitter(splitter), 'line');
    }
    const begin = { chars: charsAbove + head.length, line: skipLines + head.split('\n').length };
    if (rows === 'columns') return new JsonReader(new ColumnsSplitter(name, begin, head), 'element');
    const elements = new ElementSplitter(name, begin, { head, path, isKeyed });
    if (arrays !== null)
      return new JsonReader(elements, 'element', objectOfArray(arrays.names), arrays.from === 'first');
    const toObject = isKeyed ? objectOfMember(rows === 'map') : rows === 'bare' ? objectOfScalar : undefined;
    return new JsonReader(elements, 'element', toObject);
  };
  return {
    format,
    delimiter: '',
    lineEnd: lineEndAt(text, lines.stop(lines.next(0), 0)) ?? '\n',
    columns: [],
    rawHeader: null,
    around: head.trim() === '' ? null : head,
    warnings,
    linesAbove: skipLines,
    guess: null,
    createReader,
  };
}

const NAMED = {
  around: 'with names of columns beside them',
  first: 'with names of columns in the first one',
  none: 'without names of columns (column_1 and so on)',
} as const;

function csvLayout(
  { name, text: body, isWhole }: TableText,
  settings: ReadingSettings,
): TableLayout | HeaderCorrection {
  const mode = detectLineMode(body, true);
  const warnings: Phrase[] = [];
  const hint = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(body);
  const blank = /^(?:[ \t]*(?:\r\n|\n|\r))+/.exec(body.slice(hint?.[0].length ?? 0));
  const above = (hint?.[0] ?? '') + (settings.header ? (blank?.[0] ?? '') : '');
  const text = body.slice(above.length);
  const passLines = settings.skipLines + new LineFinder(above, mode, true).count(0, above.length);
  if (hint !== null) warnings.push(`line ${settings.skipLines + 1} sets the delimiter: not read as a row`);
  if (blank !== null && settings.header) warnings.push('blank lines above the header: ignored');

  const sample = { text, isWhole, mode };
  const asked = settings.delimiter ?? hint?.[1];
  const found = sniffDelimiter(sample, /\.(tsv|tab)(\.gz)?$/i.test(name) ? '\t' : ',');
  const delimiter = asked ?? found.delimiter;
  if (asked === undefined && found.rivals.length > 0) {
    const rivals = found.rivals.map(showDelimiter).join(', ');
    const setting = { setting: 'delimiter' };
    warnings.push(phrase`${rivals} would fit as well as ${showDelimiter(delimiter)}: choose with ${setting}`);
  }
  const records = readSample(sample, delimiter);
  const [first, ...others] = records;
  if (first === undefined) {
    const what = 'the input has no lines';
    const subject = `${name} (no line ends in its first ${Math.min(text.length, SNIFF_CHARS)} characters)`;
    throw new RunError({ code: 'input-binary', what, subject, todo: 'give a CSV or JSONL file' });
  }
  const isBare = records.every(isReadable) && isBareList(records.map(({ cells }) => cells));
  const hasHeader = settings.header && !isBare;
  if (settings.header && isBare) {
    warnings.push('no header: the first line is data like the others; the column is named column_1');
  }
  const fit = fitTable({
    header: hasHeader ? first.cells : null,
    rows: (hasHeader ? others : records).filter(isReadable).map(({ cells }) => cells),
    ragged: settings.ragged,
  });
  const { columnCount, addedColumns, lacksLast } = fit;
  const header = padded(first.cells, first.cells.length + addedColumns);
  const lineOf = ({ line }: SplitRecord) => passLines + line;
  const shown = `${showDelimiter(delimiter)}${asked === undefined ? ' (detected)' : ''}`;
  if (hasHeader) {
    const isRagged = settings.ragged !== null && first.cells.length > 1;
    // Whoever sets the number of lines to skip knows where the table begins.
    const isWidthSettled = addedColumns > 0 || isRagged || settings.skipLines > 0;
    const correction = correctHeader({ name, shown, lineOf, records: [first, ...others], isWidthSettled });
    if (correction !== null) return correction;
    if (addedColumns > 0) {
      const some = addedColumns === 1 ? 'one more delimiter' : `${addedColumns} more delimiters`;
      const what = `most rows end in ${some} than the header`;
      // Any of the names may be missing, not the last one alone.
      if (settings.ragged === null && !lacksLast) {
        const subject = `${name}, line ${lineOf(first)}, with delimiter ${shown}`;
        const set = { ragged: 'take' };
        const todo = phrase`add the missing name to the header, or use ${{ set }} if the last one is missing`;
        throw new RunError({ code: 'input-ragged', what, subject, todo });
      }
      warnings.push(`${what}: its last columns have no names`);
    }
    warnings.push(...headerWarnings(header));
  }
  const oddQuotes = findOddQuotes(records, lineOf);
  if (oddQuotes !== null) warnings.push(oddQuotes);

  return {
    format: 'csv',
    delimiter,
    lineEnd: lineEndAt(text, text.indexOf(first.raw) + first.raw.length) ?? '\n',
    columns: hasHeader ? header : Array.from({ length: columnCount }, (_, i) => `column_${i + 1}`),
    rawHeader: hasHeader ? first.raw + delimiter.repeat(addedColumns) : null,
    around: null,
    warnings,
    linesAbove: settings.skipLines,
    guess: settings.ragged === null ? { name, delimiter: shown, suspicion: oddQuotes } : null,
    createReader: () => new CsvReader({ delimiter, mode, fit, hasHeader, passLines }),
  };
}

/** Returns a delimiter as people read it. */
export function showDelimiter(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : `'${delimiter}'`;
}

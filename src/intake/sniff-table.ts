/**
 * What kind of table a text is, from its head: CSV or JSONL, how its lines end, the delimiter, the
 * header. Stops with a message that names the flag where a guess would shift rows or lose one.
 * Pure: text in, layout out.
 */
import { FailFileError, NeverStartError } from '../core/errors.js';
import type { TableFormat, TableShape } from '../core/table.js';
import { recogniseDocument } from './binary-signature.js';
import { createCsvReader } from './csv-rows.js';
import {
  findDataInHeader,
  findPreamble,
  headerWarnings,
  isBareList,
  type PreambleVerdict,
} from './header-check.js';
import type { IntakeOptions, RowReader } from './input.js';
import { createJsonlReader } from './jsonl-rows.js';
import { detectLineMode, LineFinder, lineEndAt } from './line-finder.js';
import { fitTable, type TableGuess } from './row-fit.js';
import { findOddQuotes, readSample, type SampleRecord, sniffDelimiter } from './sniff-delimiter.js';

export type TableLayout = Pick<TableShape, 'format' | 'delimiter' | 'lineEnd' | 'columns' | 'rawHeader'> & {
  readonly warnings: readonly string[];
  /** For the refusal of a table that too many rows do not fit; null where none is to be refused. */
  readonly guess: TableGuess | null;
  /** A reader for one pass. */
  createReader(): RowReader;
};

export interface TableText {
  /** For messages, and for the extension. */
  readonly name: string;
  /** The beginning of the input, decoded, without a byte order mark. */
  readonly text: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

type TableOptions = Pick<IntakeOptions, 'delimiter' | 'hasHeader' | 'skipLines' | 'ragged' | 'format'>;

/**
 * Throws `input-empty`, `input-binary`, `input-preamble`, and `column-doubtful` where the header is
 * data.
 */
export function sniffTable(input: TableText, options: TableOptions): TableLayout {
  const body = passOver(input.text, options.skipLines);
  if (body === null || body.trim() === '') {
    throw new FailFileError({
      code: 'input-empty',
      subject: options.skipLines > 0 ? `${input.name} after --skip-lines ${options.skipLines}` : input.name,
      todo: 'check that this is the right file',
    });
  }
  const format = options.format ?? sniffFormat(input.name, body);
  if (options.format === undefined) refuseDocument(input.name, body);
  return format === 'jsonl' ? jsonlLayout(body, options) : csvLayout({ ...input, text: body }, options);
}

/** The text without its first lines; null when it has no more than those. */
function passOver(text: string, lines: number): string | null {
  const finder = new LineFinder(text, detectLineMode(text, false), true);
  let at = 0;
  for (let i = 0; i < lines; i += 1) {
    const end = finder.next(at);
    if (end === Number.POSITIVE_INFINITY) return null;
    at = finder.after(end);
  }
  return text.slice(at);
}

/** Lines that may decide that a text is JSONL: the first may be a damaged one. */
const LINES_TRIED = 5;

function sniffFormat(name: string, body: string): TableFormat {
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(name)) return 'jsonl';
  if (!body.trimStart().startsWith('{')) return 'csv';
  const lines = body.trimStart().split(/[\r\n]+/, LINES_TRIED);
  return lines.some((line) => line.startsWith('{') && isJson(line)) ? 'jsonl' : 'csv';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refuseDocument(name: string, body: string): void {
  const document = recogniseDocument(body);
  if (document === null) return;
  throw new FailFileError({
    code: 'input-binary',
    what: 'the input is no table',
    subject: `${name} is ${document.name}`,
    todo: document.todo,
  });
}

function jsonlLayout(body: string, options: TableOptions): TableLayout {
  const mode = detectLineMode(body, false);
  const firstEnd = new LineFinder(body, mode, true).next(0);
  return {
    format: 'jsonl',
    delimiter: '',
    lineEnd: lineEndBefore(body, firstEnd),
    columns: [],
    rawHeader: null,
    warnings: [],
    guess: null,
    createReader: () => createJsonlReader({ mode, passLines: options.skipLines }),
  };
}

function lineEndBefore(text: string, end: number): TableLayout['lineEnd'] {
  if (end === Number.POSITIVE_INFINITY) return '\n';
  return text[end - 1] === '\r' ? '\r\n' : (lineEndAt(text, end) ?? '\n');
}

function csvLayout(input: TableText, options: TableOptions): TableLayout {
  const { name, isWhole } = input;
  const mode = detectLineMode(input.text, true);
  const warnings: string[] = [];
  const hint = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(input.text);
  const blank = /^(?:[ \t]*(?:\r\n|\n|\r))+/.exec(input.text.slice(hint?.[0].length ?? 0));
  const above = (hint?.[0] ?? '') + (options.hasHeader ? (blank?.[0] ?? '') : '');
  const text = input.text.slice(above.length);
  const passLines = options.skipLines + new LineFinder(above, mode, true).count(0, above.length);
  if (hint !== null) warnings.push(`line ${options.skipLines + 1} names the delimiter: passed over`);
  if (blank !== null && options.hasHeader) warnings.push('blank lines above the header: passed over');

  const preferred = /\.(tsv|tab)(\.gz)?$/i.test(name) ? '\t' : ',';
  const found = sniffDelimiter(text, { mode, isWhole, preferred });
  const delimiter = options.delimiter ?? hint?.[1] ?? found.delimiter;
  if (options.delimiter === undefined && hint === null && found.rivals.length > 0) {
    const rivals = found.rivals.map(showDelimiter).join(', ');
    warnings.push(`${rivals} would fit as well as ${showDelimiter(delimiter)}: --delimiter decides`);
  }
  const records = readSample(text, delimiter, mode, isWhole);
  const first = records[0];
  if (first === undefined) {
    throw new FailFileError({
      code: 'input-binary',
      what: 'the input has no lines',
      subject: `${name} (no line ends in its first ${text.length} characters)`,
      todo: 'name a CSV or JSONL file',
    });
  }
  const isBare =
    options.hasHeader && records.every(isReadable) && isBareList(records.map(({ texts }) => texts));
  const hasHeader = options.hasHeader && !isBare;
  if (isBare)
    warnings.push('no header: the first line is data like the others, the column is called column_1');
  const isDetected = options.delimiter === undefined && hint === null;
  const shown = `${showDelimiter(delimiter)}${isDetected ? ' (detected)' : ''}`;
  const rows = (hasHeader ? records.slice(1) : records).filter(isReadable);
  const fit = fitTable({
    header: hasHeader ? first.texts : null,
    rows: rows.map((record) => record.texts),
    ragged: options.ragged ?? null,
  });
  const { columnCount, addedColumns } = fit;
  const header = [...first.texts, ...new Array<string>(addedColumns).fill('')];
  const oddQuotes = findOddQuotes(records, (line) => passLines + line);
  if (hasHeader) {
    const isWidthSettled = addedColumns > 0 || (options.ragged !== undefined && first.texts.length > 1);
    checkHeader({ name, shown, passLines, first, records, isWidthSettled });
    if (addedColumns > 0) warnings.push(addedText(addedColumns));
    warnings.push(...headerWarnings(header));
  }
  if (oddQuotes !== null) warnings.push(oddQuotes);

  const headerAt = text.indexOf(first.raw);
  return {
    format: 'csv',
    delimiter,
    lineEnd: lineEndAt(text, headerAt + first.raw.length) ?? '\n',
    columns: hasHeader ? header : Array.from({ length: columnCount }, (_, i) => `column_${i + 1}`),
    rawHeader: hasHeader ? first.raw + delimiter.repeat(addedColumns) : null,
    warnings,
    guess: options.ragged === undefined ? { name, delimiter: shown, suspicion: oddQuotes } : null,
    createReader: () => createCsvReader({ delimiter, mode, fit, hasHeader, passLines }),
  };
}

function isReadable({ problem }: SampleRecord): boolean {
  return problem === null;
}

function addedText(columns: number): string {
  return columns === 1
    ? 'most rows end in a delimiter more than the header: it gets a blank name at its end'
    : `most rows end in ${columns} delimiters more than the header: it gets as many blank names at its end`;
}

interface HeaderToCheck {
  readonly name: string;
  /** The delimiter for people. */
  readonly shown: string;
  readonly passLines: number;
  readonly first: SampleRecord;
  readonly records: readonly SampleRecord[];
  /** Whether its width is known to be that of the table, whatever the rows' is. */
  readonly isWidthSettled: boolean;
}

function checkHeader({ name, shown, passLines, first, records, isWidthSettled }: HeaderToCheck): void {
  const readable = records.filter((record) => record.problem === null);
  const lineOf = (record: SampleRecord | undefined) => passLines + (record?.line ?? 1);
  const texts = readable.map((record) => record.texts);
  const preamble = isWidthSettled ? null : findPreamble(texts);
  const sample = records.slice(1).filter((record) => record.problem === null);
  // Where the rows are too long for a header, the first of them is no other header: they are
  // refused when they are counted.
  if (preamble !== null && !isFirstRow(texts, preamble)) {
    const header = readable[preamble.headerAt];
    const width = first.texts.length;
    const odd =
      width === preamble.width
        ? `has one filled cell of ${width}`
        : `has ${width} ${width === 1 ? 'cell' : 'cells'} by ${shown}`;
    throw new FailFileError({
      code: 'input-preamble',
      subject: `${name}, line ${lineOf(first)} (${quoteShort(first.raw)}) ${odd}, the table from line ${lineOf(header)} on (${quoteShort(header?.raw ?? '')}) has ${preamble.width}`,
      todo: `say --skip-lines ${lineOf(header) - 1} if line ${lineOf(header)} is the header, or --delimiter, or correct the header`,
    });
  }
  if (first.problem !== null || first.raw.includes('\0')) {
    throw new FailFileError({
      code: 'input-preamble',
      what: 'the header cannot be read',
      subject: `${name}, line ${lineOf(first)} (${first.problem ?? 'a NUL character'})`,
      todo: `correct that line, or say --skip-lines N or --no-header, or --delimiter if ${shown} is not what separates the cells`,
    });
  }
  const data = findDataInHeader(
    first.texts,
    sample.map((record) => record.texts),
  );
  if (data !== null) {
    throw new NeverStartError({
      code: 'column-doubtful',
      what: 'the first line looks like data, not like a header',
      subject: `${name}, line ${lineOf(first)} ('${data}')`,
      todo: 'say --no-header, or write a header above it',
    });
  }
}

/** Whether what seems to be the table's header is a row below a header of several names. */
function isFirstRow(records: readonly (readonly string[])[], { headerAt, width }: PreambleVerdict): boolean {
  const [header = [], ...rows] = records;
  const row = records[headerAt] ?? [];
  if (headerAt !== 1 || header.length < 2 || header.length === width) return false;
  const isCut = (cells: readonly string[]) => cells.slice(1).some((cell) => /^\s+\S/.test(cell));
  return (isCut(row) && !isCut(header)) || findDataInHeader(row, rows.slice(1)) !== null;
}

function quoteShort(text: string): string {
  return `'${text.length > 40 ? `${text.slice(0, 40)}...` : text}'`;
}

/** A delimiter as people read it. */
export function showDelimiter(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : `'${delimiter}'`;
}

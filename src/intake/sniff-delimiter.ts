/**
 * Which character separates the cells, judged from the first records: each candidate cuts the
 * sample with quotes respected, and the one under which the records agree best with the header
 * wins. Pure.
 */
import { cellsOfRecords, isBlankLine } from './csv-rows.js';
import { findTable } from './header-check.js';
import type { LineMode } from './line-finder.js';
import { createRecordSplitter, type SplitRecord } from './record-splitter.js';
import { hasBlankEnd } from './row-fit.js';

/** The candidates, in the order of preference when nothing else decides. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Text that is looked at: enough for some hundred records. */
const SNIFF_CHARS = 128 * 1024;
const SNIFF_RECORDS = 500;

export interface SampleRecord extends SplitRecord {
  readonly texts: readonly string[];
}

interface DelimiterVerdict {
  readonly delimiter: string;
  /** Others under which the records agree just as well. */
  readonly rivals: readonly string[];
}

/**
 * The sample's records under one delimiter, blank lines left out. `isWhole`: the text is the whole
 * input.
 */
export function readSample(
  text: string,
  delimiter: string,
  mode: LineMode,
  isWhole: boolean,
): SampleRecord[] {
  const head = text.slice(0, SNIFF_CHARS);
  const splitter = createRecordSplitter({ mode, delimiter, columnCount: null, passLines: 0 });
  const records = splitter
    .push(head, isWhole && head.length === text.length)
    .filter((record) => !isBlankLine(record, delimiter))
    .slice(0, SNIFF_RECORDS);
  const cells = cellsOfRecords(records, delimiter);
  return records.map((record, i) => ({ ...record, texts: cells[i] ?? [] }));
}

interface Score {
  readonly delimiter: string;
  /** Whether the first record can be read at all. */
  readonly isHeaderRead: boolean;
  /** Cells of the first record. */
  readonly width: number;
  /** Share of the records after the first that have as many, or only blank ones more. */
  readonly agreement: number;
  /**
   * Whether the first record says by itself that this is the delimiter, or half of the others are
   * cut by it too.
   */
  readonly isPlausible: boolean;
  /** Width that the records agree on from some line on; 0 when they do not. */
  readonly tableWidth: number;
  readonly occurrences: number;
}

interface DelimiterHints {
  readonly mode: LineMode;
  /** Whether the text is the whole input. */
  readonly isWhole: boolean;
  /** The one that the file's extension promises: it wins a tie, and separates a single column. */
  readonly preferred: string;
}

export function sniffDelimiter(text: string, hints: DelimiterHints): DelimiterVerdict {
  const { mode, isWhole, preferred } = hints;
  const candidates = [preferred, ...DELIMITERS.filter((it) => it !== preferred)];
  const all = candidates.map((delimiter) => judge(delimiter, readSample(text, delimiter, mode, isWhole)));
  // Under a wrong delimiter a header in quotes is no record at all.
  const scores = all.some((it) => it.isHeaderRead) ? all.filter((it) => it.isHeaderRead) : all;
  const fitting = scores.filter((it) => it.width > 1 && it.agreement >= 0.5).sort(byFit);
  const best = fitting[0];
  if (best !== undefined) {
    const rivals = fitting.slice(1).filter((it) => byFit(it, best) === 0);
    return { delimiter: best.delimiter, rivals: rivals.map((it) => it.delimiter) };
  }
  // The first line does not fit, but the rest agrees with itself: lines above the table, or a
  // ragged file.
  const loose =
    scores.filter((it) => it.tableWidth > 1).sort((a, b) => b.tableWidth - a.tableWidth)[0] ??
    scores.filter((it) => it.width > 1 && (it.agreement > 0 || it.isPlausible)).sort(byFit)[0];
  if (loose !== undefined) return { delimiter: loose.delimiter, rivals: [] };
  // One column: a separator that does not occur in it leaves its cells whole.
  const unused = scores.find((it) => it.occurrences === 0) ?? scores[0];
  return { delimiter: unused?.delimiter ?? ',', rivals: [] };
}

function byFit(a: Score, b: Score): number {
  return b.agreement - a.agreement || b.width - a.width;
}

function judge(delimiter: string, records: readonly SampleRecord[]): Score {
  const readable = records.filter((record) => record.problem === null);
  const width = readable[0]?.texts.length ?? 0;
  const widths = readable.map((record) => record.texts.length);
  const agreeing = readable.slice(1).filter(({ texts }) => agrees(texts, width)).length;
  const cut = widths.slice(1).filter((it) => it > 1).length;
  return {
    delimiter,
    isHeaderRead: records[0]?.problem === null,
    width,
    // Records that this candidate cannot even read speak against it.
    agreement: records.length < 2 ? 1 : agreeing / (records.length - 1),
    isPlausible: records[0]?.raw.includes(`"${delimiter}"`) === true || cut * 2 >= records.length - 1,
    tableWidth: findTable(widths)?.width ?? 0,
    occurrences: readable.reduce((sum, record) => sum + record.texts.length - 1, 0),
  };
}

function agrees(texts: readonly string[], width: number): boolean {
  return texts.length === width || (texts.length > width && hasBlankEnd(texts, width));
}

/**
 * A sentence about the first record with such quotes; null when there is none. `lineOf`: its line
 * in the file.
 */
export function findOddQuotes(
  records: readonly SampleRecord[],
  lineOf: (line: number) => number,
): string | null {
  const readable = records.filter((record) => record.problem === null);
  const spaced = readable.find(({ texts }) => isEnclosed(texts, /^[ \t]+"/, /"\s*$/));
  if (spaced !== undefined) {
    return `in line ${lineOf(spaced.line)} a blank stands before a quote, so that it encloses nothing: take such blanks away`;
  }
  const single = readable.filter(({ texts }) => isEnclosed(texts, /^\s*'/, /.'\s*$/));
  const [first] = single;
  // One alone may be a name ('s-Hertogenbosch, the '90s').
  if (first === undefined || single.length < Math.max(2, readable.length / 5)) return null;
  return `in line ${lineOf(first.line)} cells stand in single quotes, which enclose nothing: write double ones`;
}

/** Whether a cell, or several that belong together, begins and ends so. */
function isEnclosed(texts: readonly string[], opening: RegExp, closing: RegExp): boolean {
  const from = texts.findIndex((text) => opening.test(text));
  return from >= 0 && texts.slice(from).some((text) => closing.test(text));
}

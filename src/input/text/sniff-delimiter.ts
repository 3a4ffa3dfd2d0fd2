/** Detects the delimiter: with the right one, the records of a sample agree best. Pure. */
import type { TableText } from '../json/json-table.js';
import type { LineMode } from '../json/line-finder.js';
import { isBlankLine } from '../row-readers.js';
import { findTable } from './header-check.js';
import { isReadable, RecordSplitter, type SplitRecord } from './record-splitter.js';
import { hasBlankEnd } from './row-fit.js';

/** The candidates, in the order of preference when nothing else decides. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Characters of the sample: enough for some hundred records. */
export const SNIFF_CHARS = 128 * 1024;
const SNIFF_RECORDS = 500;

interface SampleText extends Pick<TableText, 'text' | 'isWhole'> {
  readonly mode: LineMode;
}

/** Returns the sample's records under one delimiter, without blank lines. */
export function readSample({ text, isWhole, mode }: SampleText, delimiter: string): SplitRecord[] {
  const head = text.slice(0, SNIFF_CHARS);
  return new RecordSplitter({ mode, delimiter, columnCount: 0, passLines: 0 })
    .push(head, isWhole && head.length === text.length)
    .filter((record) => !isBlankLine(record, delimiter))
    .slice(0, SNIFF_RECORDS);
}

/** Returns the delimiter and its equals. `preferred`, from the file's extension, wins a tie. */
export function sniffDelimiter(sample: SampleText, preferred: string) {
  const candidates = [preferred, ...DELIMITERS.filter((it) => it !== preferred)];
  const all = candidates.map((delimiter) => judge(delimiter, readSample(sample, delimiter)));
  // Under a wrong delimiter a header in quotes cannot be read.
  const scores = all.some((it) => it.isHeaderRead) ? all.filter((it) => it.isHeaderRead) : all;
  const [best, ...others] = scores.filter((it) => it.width > 1 && it.agreement >= 0.5).sort(byFit);
  if (best !== undefined) {
    const rivals = others.filter((it) => byFit(it, best) === 0);
    return { delimiter: best.delimiter, rivals: rivals.map((it) => it.delimiter) };
  }
  const [delimiter = preferred] = [
    // The first line differs from the rest: lines above the table, or a ragged file.
    ...scores.filter((it) => it.tableWidth > 1).sort((a, b) => b.tableWidth - a.tableWidth),
    ...scores.filter((it) => it.width > 1 && (it.agreement > 0 || it.isPlausible)).sort(byFit),
    // One column: a delimiter that does not occur in it leaves its cells whole.
    ...scores.filter((it) => it.isUnused),
    ...scores,
  ].map((it) => it.delimiter);
  return { delimiter, rivals: [] as string[] };
}

type Score = ReturnType<typeof judge>;

function byFit(a: Score, b: Score): number {
  return b.agreement - a.agreement || b.width - a.width;
}

function judge(delimiter: string, records: readonly SplitRecord[]) {
  const readable = records.filter(isReadable);
  const widths = readable.map(({ cells }) => cells.length);
  const width = widths[0] ?? 0;
  const isAgreeing = ({ cells }: SplitRecord) => cells.length >= width && hasBlankEnd(cells, width);
  const agreeing = readable.slice(1).filter(isAgreeing).length;
  const cut = widths.slice(1).filter((it) => it > 1).length;
  return {
    delimiter,
    isHeaderRead: records[0]?.problem === null,
    width,
    /** Share of the other records with as many cells, and blank ones after them. */
    agreement: records.length < 2 ? 1 : agreeing / (records.length - 1),
    /** True if the first record has it between quotes, or it cuts half of the others. */
    isPlausible: records[0]?.raw.includes(`"${delimiter}"`) === true || cut * 2 >= records.length - 1,
    /** Width on which the records agree from some line on, or 0. */
    tableWidth: findTable(widths)?.width ?? 0,
    isUnused: widths.every((it) => it === 1),
  };
}

/** Returns a sentence about the first record with quotes that enclose nothing, or null. */
export function findOddQuotes(
  records: readonly SplitRecord[],
  lineOf: (record: SplitRecord) => number,
): string | null {
  const readable = records.filter(isReadable);
  const spaced = readable.find(({ cells }) => isEnclosed(cells, /^[ \t]+"/, /"\s*$/));
  if (spaced !== undefined)
    return `in line ${lineOf(spaced)} a blank before a quote makes it part of the cell: remove such blanks`;
  const single = readable.filter(({ cells }) => isEnclosed(cells, /^\s*'/, /.'\s*$/));
  const [first] = single;
  // A single one may be a name ('s-Hertogenbosch, the '90s).
  if (first === undefined || single.length < Math.max(2, readable.length / 5)) return null;
  return `in line ${lineOf(first)} cells are in single quotes, but CSV has only double quotes: use those`;
}

/** True if quotes open in one cell and close in it or a later one. */
function isEnclosed(cells: readonly string[], opening: RegExp, closing: RegExp): boolean {
  const from = cells.findIndex((cell) => opening.test(cell));
  return from >= 0 && cells.slice(from).some((cell) => closing.test(cell));
}

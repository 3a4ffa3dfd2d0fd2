/**
 * Cuts decoded text into records, in flat memory. With a stray quote csv-parse would swallow what
 * follows: here such a record ends with the line on which its faulty cell begins. csv-parse reads
 * the cells of a record with doubled quotes.
 */
import { load } from '../../core/load.js';
import type { RowReason } from '../../core/row-reason.js';
import { cutText } from '../../core/terminal-text.js';
import { CharFinder, LineFinder, type LineMode } from '../json/line-finder.js';

/** Loaded when a record holds doubled quotes. */
const csvParse = () => load('csv-parse/sync') as typeof import('csv-parse/sync');

// Beyond these limits a stray quote or a wrong file is far more likely than data.
export const MAX_FIELD_BYTES = 64 * 1024;
/** One record, in bytes of UTF-8; of a longer one the text up to here is kept. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Columns, or keys of JSON: more of them would make memory grow with the file. */
export const MAX_COLUMNS = 4096;
const MOST_BREAKS = 100;

export const OVER_RECORD: RowReason = { code: 'large_record' };

/** Whether the text takes more than `maxBytes` in UTF-8; counted only where its length may. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** Characters that are kept of a record with types that is too long. */
export const KEPT_CHARS = MAX_RECORD_BYTES / 4;

export interface SplitRecord {
  readonly line: number;
  /** Without the line end that closes it. Of a record over the limit only the beginning. */
  readonly raw: string;
  /** The texts of its cells; none where there is a problem, or no delimiter. */
  readonly cells: readonly string[];
  readonly problem: RowReason | null;
}

/** A record with doubled quotes: its cells are counted, and read by csv-parse. */
interface Doubled {
  readonly record: { -readonly [Part in keyof SplitRecord]: SplitRecord[Part] };
  readonly cellCount: number;
}

export function isReadable({ problem }: SplitRecord): boolean {
  return problem === null;
}

export interface SplitterOptions {
  readonly mode: LineMode;
  /** null: every line is a record, quotes mean nothing. */
  readonly delimiter: string | null;
  /** Columns of the table, 0 if unknown: shows rows that two stray quotes have glued together. */
  readonly columnCount: number;
  readonly passLines: number;
}

const QUOTE = 34;

export class RecordSplitter {
  #line = 1;
  #linesToDrop: number;
  /** The window: what was left of earlier text, and the text pushed last. */
  #text = '';
  #isLast = false;
  #at = 0;
  #lines = new LineFinder('', 'lf', false);
  #quotes = new CharFinder('', '"');
  #delimiters = new CharFinder('', '');
  #records: SplitRecord[] = [];
  #doubled: Doubled[] = [];

  constructor(private readonly options: SplitterOptions) {
    this.#linesToDrop = options.passLines;
  }

  push(chunk: string, isLast: boolean): SplitRecord[] {
    this.#text = this.#text.slice(this.#at) + chunk;
    this.#isLast = isLast;
    this.#at = 0;
    this.#lines = new LineFinder(this.#text, this.options.mode, isLast);
    this.#quotes = new CharFinder(this.#text, '"');
    this.#delimiters = new CharFinder(this.#text, this.options.delimiter ?? '');
    this.#records = [];
    this.#doubled = [];
    if (this.#dropLines()) while (this.#at < this.#text.length && this.#readRecord());
    readCells(this.#doubled, this.options.delimiter ?? '');
    return this.#records;
  }

  position(): { readonly line: number; readonly rest: string } {
    return { line: this.#line, rest: this.#text.slice(this.#at) };
  }

  /** False: the window ends before the last line that is passed over. */
  #dropLines(): boolean {
    for (; this.#linesToDrop > 0; this.#linesToDrop -= 1) {
      const end = this.#lines.next(this.#at);
      if (end === Number.POSITIVE_INFINITY) {
        // A CR at the end of the window may be half of a line end.
        this.#at = this.#text.length - (this.#text.endsWith('\r') && !this.#isLast ? 1 : 0);
        return false;
      }
      this.#at = this.#lines.after(end);
      this.#line += 1;
    }
    return true;
  }

  /** False, here and below: the window ends before the record does. */
  #readRecord(): boolean {
    const { delimiter } = this.options;
    const end = this.#lines.next(this.#at);
    const until = Math.min(end, this.#text.length);
    if (delimiter !== null && this.#quotes.next(this.#at) < until) return this.#readQuoted(delimiter);
    if (end === Number.POSITIVE_INFINITY && !this.#isLast) return this.#giveUp(this.#at);
    const raw = this.#text.slice(this.#at, this.#lines.stop(until, this.#at));
    const cells = delimiter === null ? [] : raw.split(delimiter);
    this.#records.push({ line: this.#line, raw, cells, problem: null });
    this.#line += 1;
    this.#at = this.#lines.after(until);
    return true;
  }

  #readQuoted(delimiter: string): boolean {
    const text = this.#text;
    const lines = this.#lines;
    const cells: string[] = [];
    /** Where the first cell that holds a line break begins; -1 when none does. */
    let brokenAt = -1;
    let fieldAt = this.#at;
    for (;;) {
      let stop: number;
      if (text.charCodeAt(fieldAt) === QUOTE) {
        const close = this.#findClose(fieldAt);
        if (close === null) return this.#giveUp(fieldAt);
        if (typeof close === 'object') return this.#reject(fieldAt, close) || this.#giveUp(fieldAt);
        if (brokenAt < 0 && lines.next(fieldAt) < close) brokenAt = fieldAt;
        cells.push(text.slice(fieldAt + 1, close));
        stop = close + 1;
        if (!text.startsWith(delimiter, stop)) return this.#endQuoted(cells, fieldAt, stop, brokenAt);
      } else {
        const lineEnd = lines.next(fieldAt);
        stop = this.#delimiters.next(fieldAt);
        if (stop >= lineEnd) {
          if (lineEnd === Number.POSITIVE_INFINITY && !this.#isLast) return this.#giveUp(fieldAt);
          const end = Math.min(lineEnd, text.length);
          stop = lines.stop(end, fieldAt);
          cells.push(text.slice(fieldAt, stop));
          return this.#take(cells, stop, end, brokenAt);
        }
        cells.push(text.slice(fieldAt, stop));
      }
      fieldAt = stop + 1;
    }
  }

  #endQuoted(cells: readonly string[], fieldAt: number, stop: number, brokenAt: number): boolean {
    const text = this.#text;
    // A quote at the window's end may be half of a doubled one, a CR half of a line end.
    const isAtEnd = stop === text.length || (stop === text.length - 1 && text.endsWith('\r'));
    if (isAtEnd && !this.#isLast) return this.#giveUp(fieldAt);
    const isLineEnd = isAtEnd || this.#lines.next(stop) === stop || /^\r?\n/.test(text.slice(stop, stop + 2));
    if (isLineEnd) return this.#take(cells, stop, stop, brokenAt);
    return this.#reject(fieldAt, { code: 'text_after_quote' }) || this.#giveUp(fieldAt);
  }

  /** Index of the closing quote, or why there is none; null when it may be beyond the window. */
  #findClose(fieldAt: number): number | RowReason | null {
    const text = this.#text;
    let quoteAt = this.#quotes.next(fieldAt + 1);
    // No further in a cell that is too long: it is looked at again with each chunk until it ends.
    const most = Math.min(text.length, fieldAt + MAX_FIELD_BYTES + 2);
    while (quoteAt < most && text.charCodeAt(quoteAt + 1) === QUOTE) {
      quoteAt = this.#quotes.next(quoteAt + 2);
    }
    const until = Math.min(quoteAt, text.length);
    if (until - fieldAt - 1 > MAX_FIELD_BYTES) return { code: 'long_quoted_cell' };
    const isBroken = this.#lines.next(fieldAt) < until;
    if (isBroken && this.#lines.count(fieldAt, until, MOST_BREAKS + 1) > MOST_BREAKS) {
      return { code: 'many_line_breaks', most: MOST_BREAKS };
    }
    if (quoteAt < text.length) return quoteAt;
    return this.#isLast ? { code: 'open_quote' } : null;
  }

  /** A record whose text ends at `stop`, and its line at `end`. */
  #take(cells: readonly string[], stop: number, end: number, brokenAt: number): boolean {
    const raw = this.#text.slice(this.#at, stop);
    const { columnCount, delimiter } = this.options;
    if (brokenAt >= 0 && looksMerged(raw, cells.length, columnCount, delimiter ?? '')) {
      return this.#reject(brokenAt, { code: 'stray_quote' });
    }
    const record: Doubled['record'] = { line: this.#line, raw, cells, problem: null };
    this.#records.push(record);
    if (cells.some((cell) => cell.includes('""'))) this.#doubled.push({ record, cellCount: cells.length });
    this.#line += 1 + (brokenAt < 0 ? 0 : this.#lines.count(this.#at, stop));
    this.#at = this.#lines.after(end);
    return true;
  }

  /** Ends a bad record with the line that holds `fieldAt`. */
  #reject(fieldAt: number, reason: RowReason): boolean {
    const end = this.#lines.next(fieldAt);
    if (end === Number.POSITIVE_INFINITY && !this.#isLast) return false;
    const stop = end < this.#text.length ? this.#lines.stop(end, this.#at) : this.#text.length;
    const begun = this.#line + this.#lines.count(this.#at, fieldAt);
    const problem = begun === this.#line ? reason : { ...reason, cellLine: begun };
    this.#records.push({ line: this.#line, raw: this.#text.slice(this.#at, stop), cells: [], problem });
    this.#line = begun + 1;
    this.#at = this.#lines.after(Math.min(end, this.#text.length));
    return true;
  }

  /** Returns true when reading continues behind a record that is too long. */
  #giveUp(fieldAt: number): boolean {
    const { length } = this.#text;
    if (length - this.#at <= MAX_RECORD_BYTES) return false;
    if (this.#reject(fieldAt, OVER_RECORD)) return true;
    const raw = cutText(this.#text.slice(this.#at), MAX_RECORD_BYTES);
    this.#records.push({ line: this.#line, raw, cells: [], problem: OVER_RECORD });
    this.#line += this.#lines.count(this.#at, length);
    this.#linesToDrop = 1;
    this.#at = length - (this.#text.endsWith('\r') ? 1 : 0);
    return false;
  }
}

/**
 * Reads all at once, in less than half the time. For every record with quotes, csv-parse would take
 * a third to a half more CPU time of a whole run; for those with doubled quotes it is little.
 */
function readCells(doubled: readonly Doubled[], delimiter: string): void {
  if (doubled.length === 0) return;
  const raws = doubled.map(({ record }) => record.raw);
  const read = parseRecords(raws, delimiter);
  for (const [at, { record, cellCount }] of doubled.entries()) {
    record.cells = read[at] ?? [];
    if (record.cells.length === cellCount) continue;
    record.cells = [];
    record.problem = { code: 'ambiguous_quotes' };
  }
}

/** The cells of each record; none of one that csv-parse refuses, or takes for several. */
function parseRecords(raws: readonly string[], delimiter: string): string[][] {
  try {
    // Records hold no bare LF, for any line end of the file.
    const layout = { delimiter, record_delimiter: '\n', relax_quotes: true, relax_column_count: true };
    const read = csvParse().parse(raws.join('\n'), layout);
    if (read.length === raws.length) return read;
  } catch {
    // One by one shows which of them it is.
  }
  return raws.length === 1 ? [[]] : raws.flatMap((raw) => parseRecords([raw], delimiter));
}

/** Below this many lines an address in a cell could bear the mark by chance. */
const LEAST_LINES = 5;

/** Whether each line of the record would be a row. Not judged in a table of one column. */
function looksMerged(raw: string, cellCount: number, columnCount: number, delimiter: string): boolean {
  if (columnCount < 2) return false;
  const lines = raw.split(/\r\n|\n|\r/);
  if (cellCount === columnCount && (lines.length < LEAST_LINES || raw.split('"').length !== 3)) return false;
  return lines.every((line) => line.split(delimiter).length === columnCount);
}

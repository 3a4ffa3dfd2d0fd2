/**
 * Cuts decoded text into records in constant memory. After a stray quote csv-parse would swallow
 * the rest; here the record ends with the line on which its faulty cell begins.
 */
import { load } from '../../core/load.js';
import type { RowReason } from '../../core/row-reason.js';
import { cutText } from '../../core/terminal-text.js';
import { CharFinder, LineFinder, type LineMode } from '../json/line-finder.js';

/** Reads the cells of records with doubled quotes. */
const csvParse = () => load('csv-parse/sync') as typeof import('csv-parse/sync');

// Beyond these limits a stray quote or a wrong file is far more likely than data.
export const MAX_FIELD_BYTES = 64 * 1024;
/** Bytes of a record in UTF-8; a longer one is cut here. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Columns, or keys of JSON objects; without a limit memory would grow with the file. */
export const MAX_COLUMNS = 4096;
const MOST_BREAKS = 100;

export const OVER_RECORD: RowReason = { code: 'large_record' };

/** True if the text takes more than `maxBytes` in UTF-8. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** Characters that are kept of a record of typed cells that is too long. */
export const KEPT_CHARS = MAX_RECORD_BYTES / 4;

export interface SplitRecord {
  readonly line: number;
  /** Without its line end, and cut at the limit. */
  readonly raw: string;
  /** Empty if there is a problem, or no delimiter. */
  readonly cells: readonly string[];
  readonly problem: RowReason | null;
}

/** A record with doubled quotes, whose cells csv-parse will read; it must find as many. */
interface Doubled {
  readonly record: { -readonly [Part in keyof SplitRecord]: SplitRecord[Part] };
  readonly cellCount: number;
}

export function isReadable({ problem }: SplitRecord): boolean {
  return problem === null;
}

export interface SplitterOptions {
  readonly mode: LineMode;
  /** Null if every line is a record and quotes mean nothing. */
  readonly delimiter: string | null;
  /** Columns of the table, 0 if unknown. They reveal rows that two stray quotes have joined. */
  readonly columnCount: number;
  readonly passLines: number;
}

const QUOTE = 34;

export class RecordSplitter {
  #line = 1;
  #linesToDrop: number;
  /** The window: the rest of earlier text, and the last chunk. */
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

  /** Skips the first lines. Returns false if the window ends before the last of them. */
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

  /** Reads a record. Returns false, here and below, if the window ends before the record does. */
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
    /** Index of the first cell with a line break, or -1. */
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

  /** Returns the index of the closing quote, its problem, or null if it may follow the window. */
  #findClose(fieldAt: number): number | RowReason | null {
    const text = this.#text;
    let quoteAt = this.#quotes.next(fieldAt + 1);
    // Search a long cell up to the limit only, because each further chunk searches it again.
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

  /** Adds the record whose text ends at `stop` and whose line ends at `end`. */
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

  /** Ends a record that is too long. Returns true if the window has its end. */
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
 * Reads all in one call, which takes less than half the time. Every record with quotes would cost a
 * third to a half more CPU time of a whole run; those with doubled quotes are few.
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

/** Returns the cells of each record; an empty list for one that csv-parse refuses or splits. */
function parseRecords(raws: readonly string[], delimiter: string): string[][] {
  try {
    // LF parts the records here, whatever the line ends of the file.
    const layout = { delimiter, record_delimiter: '\n', relax_quotes: true, relax_column_count: true };
    const read = csvParse().parse(raws.join('\n'), layout);
    if (read.length === raws.length) return read;
  } catch {
    // Find the bad record by parsing each alone.
  }
  return raws.length === 1 ? [[]] : raws.flatMap((raw) => parseRecords([raw], delimiter));
}

/** Fewer lines may look like rows by chance, for example an address in a cell. */
const LEAST_LINES = 5;

/** True if each line of the record would be a row; false in a table of one column. */
function looksMerged(raw: string, cellCount: number, columnCount: number, delimiter: string): boolean {
  if (columnCount < 2) return false;
  const lines = raw.split(/\r\n|\n|\r/);
  if (cellCount === columnCount && (lines.length < LEAST_LINES || raw.split('"').length !== 3)) return false;
  return lines.every((line) => line.split(delimiter).length === columnCount);
}

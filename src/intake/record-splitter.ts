/**
 * Cuts decoded text into records, chunk by chunk, in flat memory. Our own because csv-parse cannot
 * be trusted with a stray quote: it would swallow what follows. Here a record that cannot be read
 * ends with the line on which its faulty cell begins, and reading resumes on the next line. The
 * meaning of cells, columns and blank lines is left to `csv-rows.ts` and `jsonl-rows.ts`.
 */

import { MAX_FIELD_BYTES, MAX_RECORD_BYTES, MAX_QUOTED_LINE_BREAKS as MOST_BREAKS } from './input.js';
import { CharFinder, LineFinder, type LineMode } from './line-finder.js';

export interface SplitRecord {
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** Without the line end that closes it. Of a record over the limit only the beginning. */
  readonly raw: string;
  /** Set when the cells came for free while a record with quotes was scanned. */
  readonly cells: readonly string[] | null;
  /** Whether quotes in it must be read by the rules of CSV. */
  readonly isQuoted: boolean;
  readonly problem: string | null;
}

export interface SplitterOptions {
  readonly mode: LineMode;
  /** null: every line is a record, quotes mean nothing. */
  readonly delimiter: string | null;
  /**
   * Columns of the table, if known: lets rows be found that two stray quotes have glued together.
   */
  readonly columnCount: number | null;
  /** Lines to pass over first. */
  readonly passLines: number;
}

interface RecordSplitter {
  /** The records that are complete with this text. `isLast`: no more text comes. */
  push(text: string, isLast: boolean): SplitRecord[];
  /** Line and text that wait for more: where the next fault will be. */
  position(): { readonly line: number; readonly rest: string };
}

const OVER_RECORD = 'the record is larger than 1 MiB; only its beginning is kept';

export function createRecordSplitter(options: SplitterOptions): RecordSplitter {
  const { mode, delimiter, columnCount } = options;
  let rest = '';
  let line = 1;
  let linesToDrop = options.passLines;

  function push(chunk: string, isLast: boolean): SplitRecord[] {
    const text = rest === '' ? chunk : rest + chunk;
    const lines = new LineFinder(text, mode, isLast);
    const quotes = new CharFinder(text, '"');
    const delimiters = new CharFinder(text, delimiter ?? '');
    const window: ScanWindow = { text, isLast, lines, quotes, delimiters, delimiter: delimiter ?? '' };
    const records: SplitRecord[] = [];
    let at = 0;

    /**
     * Ends a bad record with the line that `fieldAt` lies in. False: the window ends before that
     * line does.
     */
    const reject = (fieldAt: number, reason: string): boolean => {
      const end = lines.next(fieldAt);
      if (end === Number.POSITIVE_INFINITY && !isLast) return false;
      const stop = end < text.length ? lines.stop(end, at) : text.length;
      const begun = line + lines.count(at, fieldAt);
      const problem = begun === line ? reason : `${reason} (the cell begins on line ${begun})`;
      records.push({ line, raw: text.slice(at, stop), cells: null, isQuoted: true, problem });
      line = begun + 1;
      at = end < text.length ? lines.after(end) : text.length;
      return true;
    };

    while (linesToDrop > 0) {
      const end = lines.next(at);
      if (end === Number.POSITIVE_INFINITY) {
        // A CR at the end of the window may be half of a line end.
        rest = text.endsWith('\r') && !isLast ? '\r' : '';
        return records;
      }
      at = lines.after(end);
      line += 1;
      linesToDrop -= 1;
    }

    /**
     * The window ends before the record does: true when the record is too long already and was
     * condemned.
     */
    const giveUp = (fieldAt: number): boolean => {
      if (text.length - at <= MAX_RECORD_BYTES) return false;
      if (reject(fieldAt, OVER_RECORD)) return true;
      records.push({ line, raw: cutText(text.slice(at)), cells: null, isQuoted: true, problem: OVER_RECORD });
      line += lines.count(at, text.length);
      linesToDrop = 1;
      at = text.length - (text.endsWith('\r') ? 1 : 0);
      return false;
    };

    while (at < text.length) {
      const end = lines.next(at);
      if (delimiter === null || quotes.next(at) >= Math.min(end, text.length)) {
        if (end === Number.POSITIVE_INFINITY && !isLast) {
          giveUp(at);
          break;
        }
        const whole = Math.min(end, text.length);
        const raw = text.slice(at, lines.stop(whole, at));
        records.push({ line, raw, cells: null, isQuoted: false, problem: null });
        line += 1;
        at = end < text.length ? lines.after(end) : text.length;
        continue;
      }
      const scan = scanQuotedRecord(window, at);
      if (scan.type === 'more') {
        if (giveUp(scan.fieldAt)) continue;
        break;
      }
      if (scan.type === 'fault') {
        if (reject(scan.fieldAt, scan.reason) || giveUp(scan.fieldAt)) continue;
        break;
      }
      const raw = text.slice(at, scan.end);
      const isMerged =
        scan.brokenAt >= 0 &&
        columnCount !== null &&
        looksMerged(raw, scan.cells.length, columnCount, delimiter);
      if (isMerged) {
        reject(scan.brokenAt, 'a quoted cell swallows whole rows: its quote is a stray one');
        continue;
      }
      const cells = scan.isDoubled ? null : scan.cells;
      records.push({ line, raw, cells, isQuoted: true, problem: null });
      line += 1 + (scan.brokenAt < 0 ? 0 : lines.count(at, scan.end));
      at = scan.next;
    }
    rest = text.slice(at);
    return records;
  }

  return { push, position: () => ({ line, rest }) };
}

/** The beginning of a text that is too long to be kept, not cut through a character. */
export function cutText(text: string): string {
  const isHalf = (text.charCodeAt(MAX_RECORD_BYTES - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? MAX_RECORD_BYTES - 1 : MAX_RECORD_BYTES);
}

interface ScanWindow {
  readonly text: string;
  /** No text follows this window. */
  readonly isLast: boolean;
  readonly lines: LineFinder;
  readonly quotes: CharFinder;
  readonly delimiters: CharFinder;
  readonly delimiter: string;
}

type QuotedScan =
  | {
      readonly type: 'record';
      /** Where its text ends, and where the next record begins. */
      readonly end: number;
      readonly next: number;
      /** Still with doubled quotes when `isDoubled`. */
      readonly cells: string[];
      readonly isDoubled: boolean;
      /** Where the first cell that holds a line break begins; -1 when none does. */
      readonly brokenAt: number;
    }
  /** The window ends too early; `fieldAt` is where the unfinished cell begins. */
  | { readonly type: 'more'; readonly fieldAt: number }
  | { readonly type: 'fault'; readonly fieldAt: number; readonly reason: string };

const QUOTE = 34;
const LF = 10;
const CR = 13;

function scanQuotedRecord(window: ScanWindow, start: number): QuotedScan {
  const { text, isLast, lines, delimiters } = window;
  const delimiterCode = window.delimiter.charCodeAt(0);
  const cells: string[] = [];
  let isDoubled = false;
  let brokenAt = -1;
  let fieldAt = start;
  const record = (end: number, next: number): QuotedScan => ({
    type: 'record',
    end,
    next,
    cells,
    isDoubled,
    brokenAt,
  });

  for (;;) {
    if (text.charCodeAt(fieldAt) !== QUOTE) {
      const delimiterAt = delimiters.next(fieldAt);
      const lineEnd = lines.next(fieldAt);
      if (delimiterAt < lineEnd) {
        cells.push(text.slice(fieldAt, delimiterAt));
        fieldAt = delimiterAt + 1;
        continue;
      }
      if (lineEnd === Number.POSITIVE_INFINITY && !isLast) return { type: 'more', fieldAt };
      const end = Math.min(lineEnd, text.length);
      const stop = lines.stop(end, fieldAt);
      cells.push(text.slice(fieldAt, stop));
      return record(stop, lineEnd < text.length ? lines.after(lineEnd) : text.length);
    }

    const close = findClose(window, fieldAt);
    if (typeof close !== 'number') return close;
    if (close < 0) isDoubled = true;
    const closeAt = Math.abs(close);
    if (brokenAt < 0 && lines.next(fieldAt) < closeAt) brokenAt = fieldAt;
    cells.push(text.slice(fieldAt + 1, closeAt));
    const stop = closeAt + 1;
    const code = text.charCodeAt(stop);
    if (code === delimiterCode) {
      fieldAt = stop + 1;
      continue;
    }
    // A quote at the window's end may be the first half of a doubled one.
    if (stop === text.length) return isLast ? record(stop, stop) : { type: 'more', fieldAt };
    if (code === LF || lines.next(stop) === stop) return record(stop, lines.after(stop));
    if (code === CR && stop + 1 === text.length) {
      return isLast ? record(stop, stop + 1) : { type: 'more', fieldAt };
    }
    if (code === CR && text.charCodeAt(stop + 1) === LF) return record(stop, stop + 2);
    return { type: 'fault', fieldAt, reason: 'text after the closing quote of a cell' };
  }
}

/**
 * Index of the closing quote of the cell, negative when doubled quotes stand before it; or why
 * there is none.
 */
function findClose(window: ScanWindow, fieldAt: number): number | QuotedScan {
  const { text, isLast, lines, quotes } = window;
  let isDoubled = false;
  let quoteAt = quotes.next(fieldAt + 1);
  while (quoteAt < text.length && text.charCodeAt(quoteAt + 1) === QUOTE) {
    isDoubled = true;
    quoteAt = quotes.next(quoteAt + 2);
  }
  const isOpen = quoteAt === Number.POSITIVE_INFINITY;
  const until = isOpen ? text.length : quoteAt;
  if (until - fieldAt - 1 > MAX_FIELD_BYTES) {
    return { type: 'fault', fieldAt, reason: 'a quoted cell runs over more than 64 KiB' };
  }
  if (lines.next(fieldAt) < until && lines.count(fieldAt, until, MOST_BREAKS + 1) > MOST_BREAKS) {
    return { type: 'fault', fieldAt, reason: `a quoted cell runs over more than ${MOST_BREAKS} line breaks` };
  }
  if (isOpen && isLast) return { type: 'fault', fieldAt, reason: 'a quoted cell is never closed' };
  if (isOpen) return { type: 'more', fieldAt };
  return isDoubled ? -quoteAt : quoteAt;
}

/** Below this many lines an address in a cell could bear the mark by chance. */
const LEAST_LINES = 5;

/**
 * @param raw the record as it stands
 * @param cellCount cells that it was read into
 * @param columnCount columns of the table; nothing is judged in a table of one
 */
function looksMerged(raw: string, cellCount: number, columnCount: number, delimiter: string): boolean {
  if (columnCount < 2) return false;
  const lines = raw.split(/\r\n|\n|\r/);
  if (cellCount === columnCount && (lines.length < LEAST_LINES || raw.split('"').length !== 3)) return false;
  return lines.every((line) => line.split(delimiter).length === columnCount);
}

/**
 * One CSV record that holds a quote: where it ends, its cells as far as they can be cut out, and the fault that
 * condemns it. Linear: a faulty cell is given up after 100 line breaks or 64 KiB. What to do with a condemned
 * record is `record-splitter.ts`'s; doubled quotes are left to csv-parse (`csv-cells.ts`).
 *
 * A cell is quoted when the quote is its first character; a quote anywhere else in a bare cell is data, as
 * spreadsheets and most readers take it.
 */
import { MAX_FIELD_BYTES, MAX_QUOTED_LINE_BREAKS as MOST_BREAKS } from './limits.js';
import type { CharFinder, LineFinder } from './line-finder.js';

export interface ScanWindow {
  readonly text: string;
  /** No text follows this window. */
  readonly isLast: boolean;
  readonly lines: LineFinder;
  readonly quotes: CharFinder;
  readonly delimiters: CharFinder;
  readonly delimiter: string;
}

export type QuotedScan =
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

export function scanQuotedRecord(window: ScanWindow, start: number): QuotedScan {
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

/** Index of the closing quote of the cell, negative when doubled quotes stand before it; or why there is none. */
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

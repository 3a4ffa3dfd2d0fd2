/** Turns decoded text into rows. */
import { countOf } from '../core/figures.js';
import type { RowReason } from '../core/row-reason.js';
import { padded, type Row } from '../core/table.js';
import { cutText } from '../core/terminal-text.js';
import type { PassFacts } from './input.js';
import type { ElementSplitter } from './json/element-splitter.js';
import {
  isLongerThan,
  MAX_FIELD_BYTES,
  MAX_RECORD_BYTES,
  OVER_RECORD,
  RecordSplitter,
  type SplitRecord,
  type SplitterOptions,
} from './text/record-splitter.js';
import type { TableFit } from './text/row-fit.js';

/** The fields of a row that come from its cells. */
export type Content = Omit<Row, 'number' | 'line' | 'raw'> & Partial<Pick<Row, 'raw'>>;

/** Cuts text into records. `position` returns the line and the text of the unfinished record. */
export type Splitter = Pick<RecordSplitter, 'push' | 'position'> & Partial<Pick<ElementSplitter, 'tail'>>;

export abstract class RowReader {
  protected blankLines = 0;
  #number = 0;

  constructor(readonly splitter: Splitter) {}

  /** Returns the rows that this text completes. `isLast`: true for the end of the input. */
  push(text: string, isLast: boolean): Row[] {
    const rows: Row[] = [];
    for (const record of this.splitter.push(text, isLast)) {
      if (this.isPassedOver(record)) continue;
      this.#number += 1;
      const { line, raw } = record;
      const isTooLong = isLongerThan(raw, MAX_RECORD_BYTES);
      const problem: RowReason | null =
        record.problem ?? (raw.includes('\0') ? { code: 'nul' } : isTooLong ? OVER_RECORD : null);
      const content = problem === null ? this.read(record) : unread(problem);
      rows.push({ number: this.#number, line, raw: cutText(raw, MAX_RECORD_BYTES), ...content });
    }
    return rows;
  }

  abstract seen(): PassFacts;

  /** True for a record that is not a row: the header, and most blank lines. */
  protected abstract isPassedOver(record: SplitRecord): boolean;

  protected abstract read(record: SplitRecord): Content;
}

export function unread(problem: RowReason): Content {
  return { cells: [], problem };
}

export interface CsvLayout extends Omit<SplitterOptions, 'columnCount' | 'delimiter'> {
  readonly delimiter: string;
  readonly fit: TableFit;
  readonly hasHeader: boolean;
}

export class CsvReader extends RowReader {
  #isHeaderDue: boolean;

  constructor(private readonly layout: CsvLayout) {
    super(new RecordSplitter({ ...layout, columnCount: layout.fit.columnCount }));
    this.#isHeaderDue = layout.hasHeader;
  }

  protected isPassedOver(record: SplitRecord): boolean {
    const isBlank = isBlankLine(record, this.layout.delimiter);
    if (isBlank) this.blankLines += 1;
    if (isBlank && (this.layout.fit.columnCount > 1 || this.#isHeaderDue)) return true;
    const isHeader = this.#isHeaderDue;
    this.#isHeaderDue = false;
    return isHeader;
  }

  protected read({ raw, cells }: SplitRecord): Content {
    const { fit } = this.layout;
    // Only a long record can hold a long cell; measuring each cell takes longer.
    const isLong = isLongerThan(raw, MAX_FIELD_BYTES);
    if (isLong && cells.some((cell) => isLongerThan(cell, MAX_FIELD_BYTES))) {
      return unread({ code: 'large_cell' });
    }
    const problem = fit.findMisfit(cells);
    const surplus = cells.length - fit.columnCount;
    if (problem !== null) return { ...unread(problem), isMisfit: true };
    if (surplus === 0) return { cells, problem };
    if (surplus > 0) return { cells: cells.slice(0, fit.columnCount), problem, surplus };
    return { cells: padded(cells, fit.columnCount), problem, shortBy: -surplus };
  }

  seen(): PassFacts {
    const lines = countOf(this.blankLines, 'blank line');
    if (this.blankLines === 0) return { notes: [] };
    const isIgnored = this.layout.fit.columnCount > 1;
    return {
      notes: [isIgnored ? `${lines} ignored` : `${lines} kept as rows, because the table has one column`],
    };
  }
}

/** True for a line of white space, which is not a record in a table of several columns. */
export function isBlankLine({ raw }: SplitRecord, delimiter: string): boolean {
  return raw.length <= 64 && raw.trim() === '' && !raw.includes(delimiter);
}

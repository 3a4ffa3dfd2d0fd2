/**
 * The seam between "text comes in chunks" and "rows come out": implemented for CSV and for JSONL. A reader knows
 * nothing of files, bytes or time.
 */
import type { Row } from '../core/table.js';

export interface RowReader {
  /** The rows that are complete with this text. `isLast`: no more text comes. */
  push(text: string, isLast: boolean): Row[];
  /** What was odd but no problem of one row, as sentences; after the last push. */
  notes(): string[];
  /** Columns seen until now, where they are not fixed from the start. */
  columns(): readonly string[] | null;
  /** Line and text that wait for more: where a fault in the bytes that follow will be. */
  position(): { readonly line: number; readonly rest: string };
}

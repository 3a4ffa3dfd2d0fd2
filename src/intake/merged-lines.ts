/**
 * Telling one record with line breaks inside its quotes from rows that two stray quotes have glued together.
 * Glued rows have a mark that a real cell of several lines has hardly ever: read with quotes as ordinary
 * characters, every one of their lines splits into exactly as many cells as the table has columns. Pure.
 */

/** Below this many lines an address in a cell could bear the mark by chance. */
const LEAST_LINES = 5;

/**
 * @param raw the record as it stands
 * @param cellCount cells that it was read into
 * @param columnCount columns of the table; nothing is judged in a table of one
 */
export function looksMerged(raw: string, cellCount: number, columnCount: number, delimiter: string): boolean {
  if (columnCount < 2) return false;
  const lines = raw.split(/\r\n|\n|\r/);
  if (cellCount === columnCount && (lines.length < LEAST_LINES || raw.split('"').length !== 3)) return false;
  return lines.every((line) => line.split(delimiter).length === columnCount);
}

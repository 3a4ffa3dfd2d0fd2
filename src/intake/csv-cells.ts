/**
 * Cells of records whose quotes need more than cutting: csv-parse reads them, many in one call. Where each
 * record ends was settled before (`record-splitter.ts`), so no fault in one can reach another.
 */
import { parse } from 'csv-parse/sync';
import { MAX_RECORD_BYTES } from './limits.js';

/**
 * The cells of each record, in order; null for one that csv-parse refuses.
 *
 * @param records texts without the line end that closes them
 */
export function parseCells(
  records: readonly string[],
  delimiter: string,
): readonly (readonly string[] | null)[] {
  const all = parseTogether(records.join('\n'), delimiter);
  if (all?.length === records.length) return all;
  return records.map((record) => {
    const alone = parseTogether(record, delimiter);
    return alone?.length === 1 ? (alone[0] ?? null) : null;
  });
}

function parseTogether(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, {
      delimiter,
      // Records never hold a bare LF, whatever ends the lines of the file.
      record_delimiter: '\n',
      relax_quotes: true,
      relax_column_count: true,
      max_record_size: MAX_RECORD_BYTES * 2,
    });
  } catch {
    return null;
  }
}

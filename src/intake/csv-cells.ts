/**
 * The cells of records: cut at the delimiter where no quote stands, as scanned where quotes only enclose, and by
 * csv-parse, many records in one call, where quotes are doubled. Where each record ends was settled before
 * (`record-splitter.ts`), so no fault in one can reach another.
 */
import { parse } from 'csv-parse/sync';
import { MAX_RECORD_BYTES } from './limits.js';
import type { SplitRecord } from './record-splitter.js';

/**
 * The cells of each record, in order. None at all for a record with a problem, and for one that csv-parse refuses:
 * then it is ragged, and so marked.
 */
export function cellsOfRecords(
  records: readonly SplitRecord[],
  delimiter: string,
): readonly (readonly string[])[] {
  const doubled = records.filter((it) => it.isQuoted && it.cells === null && it.problem === null);
  const parsed = parseAll(
    doubled.map((it) => it.raw),
    delimiter,
  );
  let next = 0;
  return records.map(({ cells, problem, isQuoted, raw }) => {
    if (problem !== null) return [];
    if (cells !== null) return cells;
    if (!isQuoted) return raw.split(delimiter);
    next += 1;
    return parsed[next - 1] ?? [];
  });
}

function parseAll(texts: readonly string[], delimiter: string): readonly (readonly string[])[] {
  if (texts.length === 0) return [];
  const all = parseTogether(texts.join('\n'), delimiter);
  if (all?.length === texts.length) return all;
  return texts.map((text) => {
    const alone = parseTogether(text, delimiter);
    return alone?.length === 1 ? (alone[0] ?? []) : [];
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

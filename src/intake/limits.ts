/**
 * How large a record may grow before it counts as damaged. The numbers are the product's own: beyond them a
 * stray quote or a wrong file is far more likely than data.
 */

/** One cell, in bytes of UTF-8. */
export const MAX_FIELD_BYTES = 64 * 1024;
/** One record, in bytes of UTF-8; of a longer one the text up to here is kept. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Line breaks inside one quoted cell. */
export const MAX_QUOTED_LINE_BREAKS = 100;
/** Keys of JSON objects that become columns; more of them would make memory grow with the file. */
export const MAX_JSON_COLUMNS = 4096;
/** Rows in one batch. */
export const MAX_BATCH_ROWS = 4096;
/** Records looked at for the choice of columns. */
export const MAX_SAMPLE_ROWS = 1000;

/** Whether the text takes more than `maxBytes` in UTF-8; counts bytes only when the length leaves a doubt. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

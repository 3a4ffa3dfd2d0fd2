/**
 * Counts as people read them, for terminals, pages and messages: "1 row", "12,345 rows". Always
 * English, so that every machine shows the same.
 */

/** `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

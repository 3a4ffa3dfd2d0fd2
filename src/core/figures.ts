/**
 * Counts as people read them, in one place for terminals, pages and messages: "1 row", "12,345 rows". English everywhere, so
 * that every machine says the same.
 */

/** `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

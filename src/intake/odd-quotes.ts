/**
 * Quotes that enclose nothing: a blank stands before them, or they are single ones. Such cells are read as they stand, and
 * cut at each delimiter in them. Pure.
 */
import type { SampleRecord } from './sniff-delimiter.js';

/** A sentence about the first record with such quotes; null when there is none. `lineOf`: its line in the file. */
export function findOddQuotes(
  records: readonly SampleRecord[],
  lineOf: (line: number) => number,
): string | null {
  const readable = records.filter((record) => record.problem === null);
  const spaced = readable.find(({ texts }) => isEnclosed(texts, /^[ \t]+"/, /"\s*$/));
  if (spaced !== undefined) {
    return `in line ${lineOf(spaced.line)} a blank stands before a quote, so that it encloses nothing: take such blanks away`;
  }
  const single = readable.filter(({ texts }) => isEnclosed(texts, /^\s*'/, /.'\s*$/));
  const [first] = single;
  // One alone may be a name ('s-Hertogenbosch, the '90s').
  if (first === undefined || single.length < Math.max(2, readable.length / 5)) return null;
  return `in line ${lineOf(first.line)} cells stand in single quotes, which enclose nothing: write double ones`;
}

/** Whether a cell, or several that belong together, begins and ends so. */
function isEnclosed(texts: readonly string[], opening: RegExp, closing: RegExp): boolean {
  const from = texts.findIndex((text) => opening.test(text));
  return from >= 0 && texts.slice(from).some((text) => closing.test(text));
}

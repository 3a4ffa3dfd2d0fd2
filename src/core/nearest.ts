/**
 * The nearest right word to a mistyped one, for commands, flags, settings and values alike.
 * Commander has the same idea for its own words, but keeps the function to itself.
 */

/** A suggestion further away than this is a guess, not a help. */
const MOST_EDITS = 3;

/**
 * Damerau-Levenshtein distance in its optimal string alignment form: insertions, deletions,
 * substitutions and swaps of neighbours, each counting one.
 */
export function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isEqual = left[row - 1] === right[column - 1];
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isEqual ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (isSwap) distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/**
 * The candidate with the fewest edits, upper and lower case taken as equal; or the only one that
 * begins with a word of three letters or more. undefined when none is near: at most three edits,
 * and less than half of the word.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = editDistance(wanted, candidate.toLowerCase());
    const isNear = edits <= MOST_EDITS && edits * 2 < Math.max(wanted.length, candidate.length);
    if (isNear && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  if (best !== undefined) return best.candidate;
  const continuations = candidates.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  return wanted.length >= 3 && continuations.length === 1 ? continuations[0] : undefined;
}

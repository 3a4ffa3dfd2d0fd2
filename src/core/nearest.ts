/** Suggests the right word for a mistyped command, flag, setting or value. */

/** With more edits, a suggestion is only a guess. */
const MOST_EDITS = 3;

/** Returns the Damerau-Levenshtein distance (optimal string alignment): a swap counts as one. */
export function editDistance(left: string, right: string): number {
  /** Edits from the first `row` letters of `left` to the first `column` letters of `right`. */
  const edits: number[][] = [Array.from({ length: right.length + 1 }, (_, at) => at)];
  const at = (row: number, column: number) => edits[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= left.length; row += 1) {
    edits.push([row]);
    for (let column = 1; column <= right.length; column += 1) {
      const isEqual = left[row - 1] === right[column - 1];
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const best = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isEqual ? 0 : 1),
        isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      edits[row]?.push(best);
    }
  }
  return at(left.length, right.length);
}

/**
 * Returns the candidate with the fewest edits, ignoring case: at most three, in less than half of
 * the longer word. Otherwise, the only candidate that begins with the word (three letters or more).
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

/** Returns advice for a message: the suggestion, or `otherwise` without one. */
export function didYouMean(nearestWord: string | undefined, otherwise: string): string {
  return nearestWord === undefined ? otherwise : `did you mean ${nearestWord}?`;
}

/**
 * The keys of the lines that a sorter holds, in typed arrays: a million rows cost no objects. Sorting gives positions;
 * the lines stay where they are.
 */

export interface SortKeys {
  readonly count: number;
  readonly groups: Uint8Array;
  readonly scores: Float64Array;
  readonly sequences: Float64Array;
  /** Where each line begins; it ends where the next one begins. */
  readonly starts: Float64Array;
  readonly capacity: number;
  push(group: number, score: number, sequence: number, start: number): void;
  /** Positions in order: group up, score down, sequence up. */
  sorted(): Uint32Array;
  clear(): void;
}

/** Room for `capacity` keys, those of `earlier` already in it. */
export function createKeys(capacity: number, earlier?: SortKeys): SortKeys {
  const groups = new Uint8Array(capacity);
  const scores = new Float64Array(capacity);
  const sequences = new Float64Array(capacity);
  const starts = new Float64Array(capacity);
  let count = 0;
  if (earlier) {
    groups.set(earlier.groups);
    scores.set(earlier.scores);
    sequences.set(earlier.sequences);
    starts.set(earlier.starts);
    count = earlier.count;
  }

  /** The arrays hold a number at every position below `count`: the zeros only please the compiler. */
  function compare(a: number, b: number): number {
    return (
      (groups[a] ?? 0) - (groups[b] ?? 0) ||
      (scores[b] ?? 0) - (scores[a] ?? 0) ||
      (sequences[a] ?? 0) - (sequences[b] ?? 0)
    );
  }

  return {
    get count() {
      return count;
    },
    groups,
    scores,
    sequences,
    starts,
    capacity,
    push(group, score, sequence, start) {
      groups[count] = group;
      scores[count] = score;
      sequences[count] = sequence;
      starts[count] = start;
      count++;
    },
    sorted() {
      const positions = Uint32Array.from({ length: count }, (_, at) => at);
      return positions.sort(compare);
    },
    clear() {
      count = 0;
    },
  };
}

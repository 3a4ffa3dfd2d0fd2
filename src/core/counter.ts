/** Counts how often each value occurs; values with equal JSON are equal. */

export interface Counted<Value> {
  readonly value: Value;
  readonly count: number;
}

/** Counts values; iterates in the order in which they first came. */
export class Counter<Value> implements Iterable<Counted<Value>> {
  readonly #counted = new Map<string, { readonly value: Value; count: number }>();

  /** Ignores further values once there are `most` different ones. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** Counts a value; `json` saves the work if the caller has the value's JSON. */
  add(value: Value, json = JSON.stringify(value)): void {
    const entry = this.#counted.get(json);
    if (entry !== undefined) entry.count += 1;
    else if (this.#counted.size < this.most) this.#counted.set(json, { value, count: 1 });
  }

  [Symbol.iterator]() {
    return this.#counted.values();
  }
}

export function commonestOf<Value>(counted: Iterable<Counted<Value>>, most: number): Counted<Value>[] {
  return [...counted].sort((one, other) => other.count - one.count).slice(0, most);
}

/** Counts the `most` most frequent values under the words that `say` has for them. */
export function countsInWords<Value>(
  counted: Iterable<Counted<Value>>,
  say: (value: Value) => string,
  most = Number.POSITIVE_INFINITY,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { value, count } of commonestOf(counted, most)) {
    const words = say(value);
    counts.set(words, (counts.get(words) ?? 0) + count);
  }
  return Object.fromEntries(counts);
}

export function countEach<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Returns the most frequent value with its count; of equals, the first. */
export function commonest<T>(counts: ReadonlyMap<T, number>): readonly [T, number] | undefined {
  return [...counts].sort(([, one], [, other]) => other - one)[0];
}

/** How often each of several values was there; a `Counter` takes those of equal JSON as equal. */

export interface Counted<Value> {
  readonly value: Value;
  readonly count: number;
}

/** In the order in which the values came first. */
export class Counter<Value> implements Iterable<Counted<Value>> {
  readonly #counted = new Map<string, { readonly value: Value; count: number }>();

  /** More different values than `most` are not counted. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** `json`: of the value, where the caller has it. */
  add(value: Value, json = JSON.stringify(value)): void {
    const known = this.#counted.get(json);
    if (known !== undefined) known.count += 1;
    else if (this.#counted.size < this.most) this.#counted.set(json, { value, count: 1 });
  }

  [Symbol.iterator]() {
    return this.#counted.values();
  }
}

export function commonestOf<Value>(counted: Iterable<Counted<Value>>, most: number): Counted<Value>[] {
  return [...counted].sort((one, other) => other.count - one.count).slice(0, most);
}

/** For documents: the counts of the `most` most frequent ones by what is said of them. */
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

/** The most frequent value with its count, the first of equals. */
export function commonest<T>(counts: ReadonlyMap<T, number>): readonly [T, number] | undefined {
  return [...counts].sort(([, one], [, other]) => other - one)[0];
}

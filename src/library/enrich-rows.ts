/** A stream of rows and their results: in the order of the input, a bounded number ahead. */

/**
 * Reads rows only while the caller takes results, and at most `lookAhead` more than were taken.
 * What the source or `find` throws comes after the rows before it. `stop` ends it with its reason.
 */
export async function* enrichRows<Row, Result>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  find: (row: Row) => Promise<Result>,
  lookAhead: number,
  stop: AbortSignal,
): AsyncGenerator<Result, void, undefined> {
  stop.throwIfAborted();
  const source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const ahead: Promise<Result>[] = [];
  let reading: Promise<unknown> | null = null;
  /** Whether there is more to read, and whether the source knows that there is not. */
  let isOpen = true;
  let hasEnded = false;
  let failure: { readonly error: unknown } | null = null;

  async function readOne(): Promise<void> {
    try {
      const { done = false, value } = await source.next();
      hasEnded = done;
      isOpen = !done;
      if (!done) ahead.push(quietly(find(value)));
    } catch (error) {
      isOpen = false;
      failure = { error };
    } finally {
      reading = null;
    }
  }

  const aborted = quietly(
    new Promise<never>((_resolve, reject) => {
      stop.addEventListener('abort', () => reject(stop.reason), { once: true });
    }),
  );
  try {
    for (;;) {
      if (isOpen && ahead.length < lookAhead) reading ??= readOne();
      const [head] = ahead;
      if (head === undefined) {
        if (reading === null) break;
        await Promise.race([reading, aborted]);
      } else if (reading === null || (await isFirst(head, reading))) {
        ahead.shift();
        yield await head;
      }
    }
  } finally {
    // Asked while it is busy, it would answer only after its next row.
    const closing = hasEnded ? undefined : source.return?.();
    if (reading === null) await closing;
    else void Promise.resolve(closing).catch(() => undefined);
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}

/** Whether `head` is there no later than the row that is being read. */
function isFirst(head: Promise<unknown>, reading: Promise<unknown>): Promise<boolean> {
  const isHead = () => true;
  return Promise.race([head.then(isHead, isHead), reading.then(() => false)]);
}

/** The same promise, which may reject before the caller waits for it. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/**
 * A stream of rows and their results: in the order of the input, a bounded number ahead, and held
 * when hardly any of its first answers match.
 */
import { countOf, countText } from '../core/figures.js';
import { identifierText } from '../core/identifier.js';
import { FIRST_ANSWERS, judgeMatches } from '../run/lookups/match-check.js';
import { settingName } from '../run/words/say-reason.js';
import type { Ask } from './lookups.js';
import type { Found } from './waiters.js';

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

/**
 * Returns an `ask` that stops asking once too few of the first answers match. `minMatch`: percent,
 * or null for at least one match. Until the first answers are judged, no more lookups are under way
 * than are missing of them.
 */
export function holdUnmatched(ask: Ask, minMatch: number | null): Ask {
  const answers = new Map<string, Found['status']>();
  let underWay = 0;
  let waiting: (() => void)[] = [];
  const counts = () => {
    const matched = [...answers.values()].filter((status) => status === 'matched').length;
    return { matched, answered: answers.size };
  };
  let verdict = judgeMatches(counts(), minMatch, FIRST_ANSWERS);

  return async (identifier) => {
    while (verdict === 'open' && underWay + answers.size >= FIRST_ANSWERS)
      await new Promise<void>((resolve) => waiting.push(resolve));
    if (verdict === 'enough') return ask(identifier);
    if (verdict === 'too few') return held(counts());
    underWay += 1;
    try {
      const found = await ask(identifier);
      const isAnswer = found.status === 'matched' || found.status === 'not_found';
      if (isAnswer && verdict === 'open') answers.set(identifierText(identifier), found.status);
      verdict = judgeMatches(counts(), minMatch, FIRST_ANSWERS);
      return found;
    } finally {
      underWay -= 1;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    }
  };
}

function held({ matched, answered }: Parameters<typeof judgeMatches>[0]): Found {
  const error =
    `not asked for: ${countText(matched)} of the first ${countOf(answered, 'answer')} match; are the ` +
    `identifiers right? ${settingName('minMatch', 'program')} 0 asks for all`;
  const none = { brand: null, source: null, fetchedAt: null, billed: 0 };
  return { status: 'deferred', stopped: 'min-match', ...none, error };
}

/** Streams of rows: each row's identifiers, lookups ahead of the loop, results in order. */
import { countOf, countText } from '../core/figures.js';
import { IDENTIFIER_KINDS, type IdentifierKind, identifierText } from '../core/identifier.js';
import { sayRowReason } from '../core/row-reason.js';
import { identifyRow } from '../input/identify/identify-cell.js';
import { FIRST_ANSWERS, judgeMatches } from '../run/lookups/match-check.js';
import { isoTime } from '../run/output/columns.js';
import { settingName } from '../run/words/say-reason.js';
import type { Candidate, Candidates, Enriched, RowError } from './enricher.js';
import type { Ask } from './lookups.js';
import type { Found } from './waiters.js';

/** Yields results in order; calls `end` and closes the source. Throws errors after results. */
export async function* enrichRows<Row, Result>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  find: (row: Row) => Promise<Result>,
  lookAhead: number,
  stop: AbortSignal,
  end: () => unknown = () => undefined,
): AsyncGenerator<Result, void, undefined> {
  stop.throwIfAborted();
  const source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const ahead: Promise<Result>[] = [];
  let reading: Promise<unknown> | null = null;
  let isOpen = true;
  /** True if the source ended, not if it threw. */
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
    }
  }

  let leave: (reason: unknown) => void = () => undefined;
  stop.addEventListener('abort', () => leave(stop.reason), { once: true });
  try {
    for (;;) {
      if (isOpen && ahead.length < lookAhead)
        // A source may throw at once, before its promise is kept here.
        reading ??= readOne().finally(() => {
          reading = null;
        });
      const [head] = ahead;
      if (head === undefined) {
        if (reading === null) break;
        stop.throwIfAborted();
        // A race with a promise of the whole stream would keep something of each row.
        await new Promise<unknown>((resolve, reject) => {
          leave = reject;
          void reading?.then(resolve);
        });
      } else if (reading === null || (await isFirst(head, reading))) {
        ahead.shift();
        yield await head;
      }
    }
  } finally {
    end();
    // A source that is reading answers `return` only after its next row, so do not wait then.
    const closing = hasEnded ? undefined : source.return?.();
    if (reading === null) await closing;
    else void Promise.resolve(closing).catch(() => undefined);
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}

/** True if `head` settles no later than the row that is being read. */
function isFirst(head: Promise<unknown>, reading: Promise<unknown>): Promise<boolean> {
  const isHead = () => true;
  return Promise.race([head.then(isHead, isHead), reading.then(() => false)]);
}

/** Returns the same promise, which may reject before anybody awaits it. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/**
 * Returns an `ask` that defers identifiers after too few matches in the first answers. `minMatch`:
 * percent, or null for at least one match. At first it asks only for as many as are judged.
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
  const message =
    `not looked up: only ${countText(matched)} of the first ${countOf(answered, 'answer')} match; check ` +
    `the identifiers, or set ${settingName('minMatch', 'program')} to 0 to look up all`;
  const none = { brand: null, source: null, fetchedAt: null, billed: 0 };
  return { status: 'deferred', stopped: 'min-match', ...none, error: { code: 'min-match', message } };
}

/** Looks up a row. It is invalid if `candidatesOf`, the program's code, throws. Throws as `ask`. */
export async function findBrand<Input>(
  input: Input,
  candidatesOf: (input: Input) => Candidates,
  { kind, waterfall }: { readonly kind: IdentifierKind; readonly waterfall: boolean },
  ask: Ask,
): Promise<Enriched<Input>> {
  let cells: ReturnType<typeof cellsOf>;
  try {
    cells = cellsOf(candidatesOf(input), kind);
  } catch (error) {
    return withoutLookup(input, 'invalid', {
      code: 'unreadable',
      message: `the identifier of this row cannot be read (${reasonOf(error)})`,
    });
  }
  const choices = cells.map((cell, column) => ({ column, name: '', kind: cell.kind }));
  if (choices.some((choice) => !IDENTIFIER_KINDS.includes(choice.kind)))
    return withoutLookup(input, 'invalid', {
      code: 'unknown_kind',
      message: `no such kind; use one of ${IDENTIFIER_KINDS.join(', ')}`,
    });
  const { identifiers, otherwise } = identifyRow(
    cells.map(({ value }) => value),
    choices,
  );
  const [first, ...others] = identifiers;
  if (first === undefined) {
    const { type, reason } = otherwise;
    return withoutLookup(input, type, { code: reason.code, message: sayRowReason(reason) });
  }
  let used = first;
  let found: Found = await ask(first);
  let { billed } = found;
  for (const next of waterfall && found.status === 'not_found' ? others : []) {
    const second = await ask(next);
    billed += second.billed;
    if (second.status === 'not_found') continue;
    used = next;
    found = second;
    break;
  }
  const { status, brand, source, error, stopped = null } = found;
  const fetchedAt = isoTime(found.fetchedAt);
  const about = { input, kind: used.kind, identifier: used.value, source, fetchedAt, billed, error, stopped };
  if (status === 'matched') return { ...about, status, brand: brand ?? {} };
  return { ...about, status, brand: null };
}

/** Returns values as texts, because JavaScript may pass anything: objects become invalid texts. */
function cellsOf(candidates: Candidates, kind: IdentifierKind): { value: string; kind: IdentifierKind }[] {
  const all: readonly (string | Candidate | null | undefined)[] = [candidates].flat();
  return all.map((each) => {
    const given = typeof each === 'object' && each !== null && 'value' in each ? each : { value: each };
    return { value: String(given.value ?? ''), kind: ('kind' in given ? given.kind : undefined) ?? kind };
  });
}

function withoutLookup<Input>(input: Input, status: 'invalid' | 'skipped', error: RowError): Enriched<Input> {
  const nothing = { kind: null, identifier: null, brand: null, source: null, fetchedAt: null };
  return { input, status, ...nothing, billed: 0, error, stopped: null };
}

/** Returns the message of an error in the program's own code, whose `toString` may throw, too. */
function reasonOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a message';
  }
}

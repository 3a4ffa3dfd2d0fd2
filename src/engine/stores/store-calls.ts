/** The basis of an engine's stores: named operations, as Lua scripts or SQL functions. */
import { RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { list, type Shape, text, tuple } from '../../core/shapes.js';

/** Objects and lists travel as JSON text, the bodies of answers as bytes. */
export type StoreParam = string | number | boolean | null | Buffer;

export interface StoreCalls {
  /** Where the store is, for messages. */
  readonly address: string;
  /**
   * Runs one operation, atomic and on the store's own clock, and gives its answer: JSON that was
   * read, or `{meta, bytes}`. It is sent once: a caller repeats what was lost. Throws
   * `engine-unfit` for an answer of another shape, since other programs can write there.
   */
  call<T>(answer: Shape<T>, operation: string, ...params: readonly StoreParam[]): Promise<T>;
  /**
   * An operation over everything, one answer per page: it takes a cursor and how much to look at,
   * and answers the next cursor and the page. The first cursor and the one behind the end are `0`.
   */
  walk<T>(page: Shape<T>, operation: string, ...params: readonly StoreParam[]): AsyncIterable<T>;
  readonly roundTrips: { count: number };
}

/** `walk` by `call`, which looks at so much in each. */
export const walkBy = (call: StoreCalls['call'], size: number): StoreCalls['walk'] =>
  async function* walk(page, operation, ...params) {
    for (let cursor = '0'; ; ) {
      const [next, found] = await call(tuple(text, page), operation, cursor, size, ...params);
      yield found;
      if (next === '0') return;
      cursor = next;
    }
  };

/** Of an operation that answers nothing. */
export const nothing: Shape<void> = () => undefined;

/** A list; of nothing it is null, since an empty table of Lua would be an object. */
export const some =
  <T>(shape: Shape<T>): Shape<readonly T[]> =>
  (value) =>
    list(shape)(value ?? []);

/** What the engine at `address` answered, if it is of this shape. */
export function checked<T>(answer: Shape<T>, answered: unknown, address: string): T {
  try {
    return answer(answered);
  } catch (error) {
    throw unreadable(address, error);
  }
}

/** For sentences and names: U+FFFD for NUL and lone surrogates, which not every store can keep. */
export function storableText(given: string): string {
  return given.replace(
    /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    '\uFFFD',
  );
}

/** The same of each text in a value, as JSON. */
export function storableJson(value: object): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storableText(each) : each));
}

/** `engine-unfit`: what the server, the machine or the folder lacks, and the way out. */
export function unfit(what: string, subject: string, todo: Phrase, cause?: unknown): RunError {
  return new RunError({ code: 'engine-unfit', what, subject, todo, cause });
}

/** Tables or keys of another build, which this one neither reads nor changes. `engine-unfit`. */
export class ForeignSchemaError extends RunError {
  /** `found`: what the engine has as the version of its schema; `known`: ours. */
  constructor(found: unknown, known: number | string, address: string) {
    const version = String(found ?? 'without a version').slice(0, 20);
    const schemas = `schema ${version}; this build has ${known}`;
    const what = `another build of brand-enrich wrote this engine (${schemas})`;
    const move =
      'to keep the answers, run `brand-enrich engine export` of the build that wrote them, then ' +
      '`brand-enrich engine import` of this build into another database';
    const todo = phrase`${move}; the embedded engine sets its data aside with ${{ setting: 'startEmpty' }}`;
    super({ code: 'engine-unfit', what, subject: address, todo });
  }
}

/** The setting of the engine's address. */
export const ADDRESS = { setting: 'engine' };

export const FIND_WRITER = 'find out who else writes to it, then run the same command again';

/** The error of an answer that is not ours. */
export function unreadable(subject: string, cause?: unknown): RunError {
  return unfit('the engine gave an answer that this build cannot read', subject, FIND_WRITER, cause);
}

/** The answer; `failure` translates errors of a client to ours. */
export async function translated<T>(answer: Promise<T>, failure: (error: unknown) => unknown): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw failure(error);
  }
}

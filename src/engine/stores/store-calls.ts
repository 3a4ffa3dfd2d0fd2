/** The calls under an engine's stores: named operations in Lua or SQL. */
import { RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { list, type Shape, text, tuple } from '../../core/shapes.js';

/** A parameter: objects and lists as JSON text, bodies of answers as bytes. */
export type StoreParam = string | number | boolean | null | Buffer;

export interface StoreCalls {
  /** For messages. */
  readonly address: string;
  /**
   * Runs one operation, atomic and on the store's own clock. Returns its answer, from JSON or as
   * `{meta, bytes}`. Sends it once; the caller repeats a lost call. Throws `engine-unfit` for an
   * answer of another shape, since other programs can write to the store.
   */
  call<T>(answer: Shape<T>, operation: string, ...params: readonly StoreParam[]): Promise<T>;
  /**
   * Runs an operation page by page. Its first parameters are a cursor and a page size, and it
   * answers the next cursor and a page. The first cursor is `0`, and `0` is also the end.
   */
  walk<T>(page: Shape<T>, operation: string, ...params: readonly StoreParam[]): AsyncIterable<T>;
  readonly roundTrips: { count: number };
}

/** Returns a `walk` that repeats `call` with pages of this size. */
export const walkBy = (call: StoreCalls['call'], size: number): StoreCalls['walk'] =>
  async function* walk(page, operation, ...params) {
    for (let cursor = '0'; ; ) {
      const [next, found] = await call(tuple(text, page), operation, cursor, size, ...params);
      yield found;
      if (next === '0') return;
      cursor = next;
    }
  };

/** The shape of an operation without an answer. */
export const nothing: Shape<void> = () => undefined;

/** The shape of a list, null if empty: an empty Lua table would become an object. */
export const some =
  <T>(shape: Shape<T>): Shape<readonly T[]> =>
  (value) =>
    list(shape)(value ?? []);

/** Returns an answer of this shape. Throws `engine-unfit` for any other. */
export function checked<T>(answer: Shape<T>, answered: unknown, address: string): T {
  try {
    return answer(answered);
  } catch (error) {
    throw unreadable(address, error);
  }
}

/** Returns a text that every store can keep: with U+FFFD for NUL and lone surrogates. */
export function storableText(given: string): string {
  return given.replace(
    /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    '\uFFFD',
  );
}

/** Returns a value as JSON, each text in it as `storableText`. */
export function storableJson(value: object): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storableText(each) : each));
}

/** Returns the error `engine-unfit`: a server, machine or folder that cannot be used, and why. */
export function unfit(what: string, subject: string, todo: Phrase, cause?: unknown): RunError {
  return new RunError({ code: 'engine-unfit', what, subject, todo, cause });
}

/** Error `engine-unfit`: another build wrote the tables or keys, which this build leaves alone. */
export class ForeignSchemaError extends RunError {
  /** `found`: the version in the engine; `known`: the version of this build. */
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

/** The setting with the engine's address. */
export const ADDRESS = { setting: 'engine' };

export const FIND_WRITER = 'find out which other program writes to it, then run the same command again';

/** Returns the error for an answer that is damaged or of another program. */
export function unreadable(subject: string, cause?: unknown): RunError {
  return unfit('the engine gave an answer that this build cannot read', subject, FIND_WRITER, cause);
}

/** Returns the answer. `failure` translates errors of a client to ours. */
export async function translated<T>(answer: Promise<T>, failure: (error: unknown) => unknown): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw failure(error);
  }
}

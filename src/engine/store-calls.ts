/** The basis of an engine's stores: named operations, as Lua scripts or SQL functions. */
import { FailFileError } from '../core/errors.js';

/** Objects and lists travel as JSON text, the bodies of answers as bytes. */
export type StoreParam = string | number | boolean | null | Buffer;

export interface StoreCalls {
  /** Where the store is, for messages. */
  readonly address: string;
  /**
   * Runs one operation, atomic and on the store's own clock: what it answers, its JSON read;
   * `{meta, bytes}` where bytes come with it. It is sent once: when the answer is lost the call
   * fails, and whoever asked repeats it. Throws our errors.
   */
  call(operation: string, ...params: readonly StoreParam[]): Promise<unknown>;
  /** An operation that reads everything: one answer per page. PostgreSQL has one page. */
  walk(operation: string, ...params: readonly StoreParam[]): AsyncIterable<unknown>;
  readonly roundTrips: { count: number };
}

/** For sentences and names: U+FFFD for NUL and lone surrogates, which not every store can keep. */
export function storableText(text: string): string {
  return text.replace(/\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

/** `engine-unfit`: what the server, the machine or the folder lacks, and the way out. */
export function unfit(what: string, subject: string, todo: string, cause?: unknown): FailFileError {
  return new FailFileError({ code: 'engine-unfit', what, subject, todo, cause });
}

/** The answer; `failure` translates errors of a client to ours. */
export async function translated<T>(answer: Promise<T>, failure: (error: unknown) => unknown): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw failure(error);
  }
}

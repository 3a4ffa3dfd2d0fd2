/** Files of JSON lines that grow at their end: usage, statements, the log of billed requests. */
import { appendFileSync, closeSync, existsSync, readFileSync, writeSync } from 'node:fs';
import type { z } from 'zod';
import { FailFileError } from '../core/errors.js';
import { readJson } from '../core/json-text.js';

/** The lines of this form, none when there is no file. Torn and foreign ones are passed over. */
export function readLines<T>(path: string, schema: z.ZodType<T>): T[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => readJson(line, schema) ?? []);
}

/** Appends one line and syncs it; starts a new line if a crash left a torn one. */
export function appendLine(path: string, line: string): void {
  const isTorn = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8'));
  appendFileSync(path, `${isTorn ? '\n' : ''}${line}\n`, { mode: 0o600, flush: true });
}

/** Does it, or throws `FailFileError` (`output-unwritable`). `naming`: what to name elsewhere. */
export function orUnwritable<T>(what: string, path: string, naming: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const todo = `${naming} in a folder that can be written to`;
    throw new FailFileError({ code: 'output-unwritable', what, subject: path, todo, cause });
  }
}

/** A file that stays open for appending. */
export class LineFile {
  #left: Buffer = Buffer.alloc(0);

  constructor(readonly descriptor: number) {}

  /** The system has it all on return. Throws if it does not; the rest goes with the next call. */
  append(lines: string): void {
    this.#left = Buffer.concat([this.#left, Buffer.from(lines, 'utf8')]);
    while (this.#left.length > 0) this.#left = this.#left.subarray(writeSync(this.descriptor, this.#left));
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

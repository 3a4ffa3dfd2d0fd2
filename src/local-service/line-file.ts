/** Files of JSON lines that grow at their end: usage, statements, billed requests. */
import { appendFileSync, closeSync, existsSync, readFileSync, writeSync } from 'node:fs';
import type { z } from 'zod';
import { RunError } from '../core/errors.js';
import { readJson } from '../core/json-text.js';

/** Reads the lines of this form, skipping others and torn ones; none without a file. */
export function readLines<T>(path: string, schema: z.ZodType<T>): T[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => readJson(line, schema) ?? []);
}

/** Appends a line and syncs it, on a new line after one that a crash has torn. */
export function appendLine(path: string, line: string): void {
  const isTorn = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8'));
  appendFileSync(path, `${isTorn ? '\n' : ''}${line}\n`, { mode: 0o600, flush: true });
}

/** Runs `action`; throws `output-unwritable` if it fails. `naming` advises what to name instead. */
export function orUnwritable<T>(what: string, path: string, naming: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const todo = `${naming} in a folder that can be written to`;
    throw new RunError({ code: 'output-unwritable', what, subject: path, todo, cause });
  }
}

/** A file that stays open for appending. */
export class LineFile {
  #lines = '';
  #unwritten: Buffer = Buffer.alloc(0);

  constructor(readonly descriptor: number) {}

  add(line: string): void {
    this.#lines += `${line}\n`;
  }

  /** Hands all lines to the system. Throws if it cannot; the next call continues. */
  write(): void {
    this.#unwritten = Buffer.concat([this.#unwritten, Buffer.from(this.#lines, 'utf8')]);
    this.#lines = '';
    while (this.#unwritten.length > 0)
      this.#unwritten = this.#unwritten.subarray(writeSync(this.descriptor, this.#unwritten));
  }

  close(): void {
    try {
      this.write();
    } finally {
      closeSync(this.descriptor);
    }
  }
}

/**
 * Which requests were billed, one by one: the ground truth that tests compare a client's own account with. Kept as
 * counts in memory (`trace`), as lines in a file (`serve --journal`), or not at all. Not needed for metering.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { FailFileError } from '../core/errors.js';
import { type Identifier, identifierText } from '../core/identifier.js';

interface BilledRequest {
  readonly atMs: number;
  readonly account: string;
  /** As it was asked: the kind of the explicit route, `id` or `auto` on the generic one; the value as sent. */
  readonly identifier: Identifier;
  readonly status: number;
}

export interface BilledLog {
  note(request: BilledRequest): void;
  /** Writes what was noted since the last call; the operating system has it on return. */
  write(): void;
  /** How often each identifier (`kind:value`) was billed; empty unless traced. */
  readonly counts: ReadonlyMap<string, number>;
  close(): void;
}

/** Appends to `path`. Throws `FailFileError` when it cannot be opened. */
export function openBilledLog(options: { path: string | null; trace: boolean }): BilledLog {
  const descriptor = options.path === null ? null : open(options.path);
  const counts = new Map<string, number>();
  let lines = '';
  let left: Buffer = Buffer.alloc(0);
  const write = () => {
    if (descriptor === null || (lines === '' && left.length === 0)) return;
    // What the disk does not take now goes with the next write.
    left = Buffer.concat([left, Buffer.from(lines, 'utf8')]);
    lines = '';
    while (left.length > 0) left = left.subarray(writeSync(descriptor, left));
  };
  return {
    note({ atMs, account, identifier, status }) {
      if (options.trace) {
        const text = identifierText(identifier);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      if (descriptor === null) return;
      const { kind, value } = identifier;
      const time = new Date(atMs).toISOString();
      lines += `${JSON.stringify({ time, account, kind, identifier: value, status })}\n`;
    },
    write,
    counts,
    close() {
      try {
        write();
      } finally {
        if (descriptor !== null) closeSync(descriptor);
      }
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the journal cannot be written',
      subject: path,
      todo: 'name a file in a folder that can be written to',
      cause: error,
    });
  }
}

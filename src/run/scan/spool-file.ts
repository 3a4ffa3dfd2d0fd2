/** A private file on disk, written once and read by position; growing arrays. */
import { closeSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { InputDiskUse } from '../../core/disk-room.js';
import { RunError } from '../../core/errors.js';
import { assertOwnState, makePrivateFolder } from '../../core/folders.js';
import { phrase } from '../../core/phrase.js';
import { openPrivateFileSync, removePrivateLeftovers } from '../../core/private-file.js';
import { systemWords } from '../../core/system-error.js';

const BUFFER_BYTES = 1_048_576;

/** Throws RunError `output-unwritable`; writing also `disk-low` and `input-exceeds-disk`. */
export class SpoolFile {
  readonly #file: ReturnType<typeof openPrivateFileSync>;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #filled = 0;
  #flushed = 0;
  #isOpen = true;
  readonly #kept: InputDiskUse;

  /** `folder` exists. `input`: the name of the input, for messages. */
  constructor(
    private readonly folder: string,
    private readonly label: string,
    input: string,
  ) {
    this.#kept = new InputDiskUse(input, folder);
    this.#file = this.#orFail(() => openPrivateFileSync(folder, label));
  }

  /** Bytes written so far: the position of the next byte. */
  get length(): number {
    return this.#flushed + this.#filled;
  }

  /** Returns room for `bytes` bytes; the caller fills it at once and calls `advance`. */
  room(bytes: number): { readonly buffer: Buffer; readonly at: number } {
    if (this.#filled + bytes > this.#buffer.length) this.#flush();
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(bytes);
    return { buffer: this.#buffer, at: this.#filled };
  }

  advance(bytes: number): void {
    this.#filled += bytes;
  }

  /** Reads exactly `bytes` bytes at `position`, into `target`, which they must fit. */
  read(position: number, bytes: number, target: Buffer = Buffer.allocUnsafe(bytes)): Buffer {
    if (position + bytes > this.#flushed) this.#flush();
    let from = 0;
    while (from < bytes) {
      const got = readSync(this.#file.fd, target, from, bytes - from, position + from);
      if (got === 0) throw new Error(`the spool of ${this.label} ends before byte ${position + bytes}`);
      from += got;
    }
    return target;
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#kept.release();
    closeSync(this.#file.fd);
    if (this.#file.name !== null) rmSync(this.#file.name, { force: true });
  }

  #flush(): void {
    this.#kept.add(this.#filled);
    let from = 0;
    while (from < this.#filled) {
      const at = from;
      from += this.#orFail(() =>
        writeSync(this.#file.fd, this.#buffer, at, this.#filled - at, this.#flushed + at),
      );
    }
    this.#flushed += this.#filled;
    this.#filled = 0;
  }

  #orFail<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw new RunError({
        code: 'output-unwritable',
        subject: this.folder,
        todo: phrase`free space on the disk of the state folder (${{
          choose: 'state',
          example: 'DIR',
        }}), then run again`,
        cause: error,
      });
    }
  }
}

/** Returns the array if `length` numbers fit, else a copy of at least twice its length. */
export function grown<T extends Uint8Array | Uint32Array | Float64Array>(array: T, length: number): T {
  if (length <= array.length) return array;
  const Longer = array.constructor as new (length: number) => T;
  const longer = new Longer(Math.max(length, array.length * 2));
  longer.set(array);
  return longer;
}

/** Makes the folder for private files of runs, and removes those of dead processes. */
export async function openSpoolFolder(stateFolder: string): Promise<string> {
  assertOwnState(stateFolder);
  const folder = join(stateFolder, 'runs');
  try {
    makePrivateFolder(folder);
  } catch (cause) {
    const what = 'the folder for temporary files cannot be used';
    const todo = phrase`make the folder writable or name another one with ${{ setting: 'state' }}`;
    const subject = `${folder} (${systemWords(cause)})`;
    throw new RunError({ code: 'output-unwritable', what, subject, todo, cause });
  }
  await removePrivateLeftovers(folder);
  return folder;
}

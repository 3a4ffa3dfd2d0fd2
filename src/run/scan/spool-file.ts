/**
 * A private file that is written once from start to end and then read, in order or by position: where everything goes
 * that is as large as the input. What the bytes mean is the callers'.
 */
import { closeSync, readSync, rmSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FailFileError } from '../../core/errors.js';
import { openPrivateFileSync, removePrivateLeftovers } from '../../core/private-file.js';

const BUFFER_BYTES = 1_048_576;

export interface SpoolFile {
  /** Bytes written so far: the position of the next byte. */
  readonly length: number;
  /** Room for `bytes` bytes; the caller fills it at once and calls `advance`. */
  room(bytes: number): { readonly buffer: Buffer; readonly at: number };
  advance(bytes: number): void;
  /** Everything written is readable afterwards. */
  flush(): void;
  /** Reads exactly `bytes` bytes at `position`. */
  read(position: number, bytes: number): Buffer;
  close(): Promise<void>;
}

/** Creates a private file in `folder`. Throws FailFileError `output-unwritable` here and in `advance` when the disk is full. */
export function createSpoolFile(folder: string, label: string): SpoolFile {
  const { fd, name } = orFail(folder, () => openPrivateFileSync(folder, label));
  let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let filled = 0;
  let flushed = 0;
  let isOpen = true;

  function flush(): void {
    let from = 0;
    while (from < filled) {
      from += orFail(folder, () => writeSync(fd, buffer, from, filled - from, flushed + from));
    }
    flushed += filled;
    filled = 0;
  }

  return {
    get length() {
      return flushed + filled;
    },
    room(bytes) {
      if (filled + bytes > buffer.length) flush();
      if (bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(bytes);
      return { buffer, at: filled };
    },
    advance(bytes) {
      filled += bytes;
    },
    flush,
    read(position, bytes) {
      const target = Buffer.allocUnsafe(bytes);
      let from = 0;
      while (from < bytes) {
        const got = readSync(fd, target, from, bytes - from, position + from);
        if (got === 0) throw new Error(`the spool of ${label} ends before byte ${position + bytes}`);
        from += got;
      }
      return target;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      closeSync(fd);
      if (name !== null) rmSync(name, { force: true });
    },
  };
}

/** The folder below the state folder where private files of runs are made; what dead processes left there is removed. */
export async function openSpoolFolder(stateFolder: string): Promise<string> {
  const folder = join(stateFolder, 'runs');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removePrivateLeftovers(folder);
  return folder;
}

function orFail<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      subject: path,
      todo: 'make room on the disk of the state folder (--state DIR), then run again',
      cause: error,
    });
  }
}

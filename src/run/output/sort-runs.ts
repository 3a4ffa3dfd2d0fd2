/**
 * Sorted runs of the external sort on disk: lines with their keys, written once from front to back, read
 * back once, and merged into one order with a heap of readers: smallest group, then largest score, then
 * smallest sequence.
 *
 * Each entry: group (1 byte), score (8), sequence (8), length of the line (4), the line. Little endian.
 */
import type { FileHandle } from 'node:fs/promises';
import { openPrivateFile } from '../../core/private-file.js';

const HEAD_BYTES = 21;
const WRITE_BYTES = 1 << 20;

/** A stored run; {@link readRun} reads it, `drop` frees its disk space. */
export interface StoredRun {
  readonly handle: FileHandle;
  drop(): Promise<void>;
}

export interface RunWriter {
  /** Copies an entry and says true; false when `flush` must make room first. */
  put(group: number, score: number, sequence: number, from: Buffer, start: number, end: number): boolean;
  flush(): Promise<void>;
  finish(): Promise<StoredRun>;
  discard(): Promise<void>;
}

export async function createRunWriter(folder: string): Promise<RunWriter> {
  const { handle, drop } = await openPrivateFile(folder, 'sort');
  let buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let used = 0;

  async function flush(): Promise<void> {
    let written = 0;
    while (written < used) written += (await handle.write(buffer, written, used - written)).bytesWritten;
    used = 0;
  }

  return {
    put(group, score, sequence, from, start, end) {
      const bytes = HEAD_BYTES + end - start;
      if (used + bytes > buffer.length) {
        if (used > 0) return false;
        buffer = Buffer.allocUnsafeSlow(bytes);
      }
      buffer[used] = group;
      buffer.writeDoubleLE(score, used + 1);
      buffer.writeDoubleLE(sequence, used + 9);
      buffer.writeUInt32LE(end - start, used + 17);
      from.copy(buffer, used + HEAD_BYTES, start, end);
      used += bytes;
      return true;
    },
    flush,
    async finish() {
      await flush();
      return { handle, drop };
    },
    discard: drop,
  };
}

/** Reads a run entry by entry. The fields describe the current entry. */
export class RunReader {
  group = 0;
  score = 0;
  sequence = 0;
  /** The line is `buffer` from `start` to `end`, until the next call of `advance` or `refill`. */
  buffer: Buffer;
  start = 0;
  end = 0;
  readonly #handle: FileHandle;
  #position = 0;
  #filled = 0;

  constructor(run: StoredRun, bufferBytes: number) {
    this.#handle = run.handle;
    this.buffer = Buffer.allocUnsafeSlow(Math.max(bufferBytes, HEAD_BYTES));
  }

  /** Moves to the next entry if all of it is in memory; otherwise `refill` first. */
  advance(): boolean {
    const head = this.end;
    const start = head + HEAD_BYTES;
    if (start > this.#filled) return false;
    const end = start + this.buffer.readUInt32LE(head + 17);
    if (end > this.#filled) return false;
    this.group = this.buffer[head] ?? 0;
    this.score = this.buffer.readDoubleLE(head + 1);
    this.sequence = this.buffer.readDoubleLE(head + 9);
    this.start = start;
    this.end = end;
    return true;
  }

  /** Reads on and moves to the next entry; false at the end of the run. */
  async refill(): Promise<boolean> {
    for (;;) {
      this.#makeRoom();
      const { bytesRead } = await this.#handle.read(
        this.buffer,
        this.#filled,
        this.buffer.length - this.#filled,
        this.#position,
      );
      if (bytesRead === 0) return false;
      this.#position += bytesRead;
      this.#filled += bytesRead;
      if (this.advance()) return true;
    }
  }

  /** Moves what is left to the front, in a larger buffer when one entry fills this one. */
  #makeRoom(): void {
    const left = this.#filled - this.end;
    const isFull = this.end === 0 && left === this.buffer.length;
    const roomier = isFull ? Buffer.allocUnsafeSlow(this.buffer.length * 2) : this.buffer;
    this.buffer.copy(roomier, 0, this.end, this.#filled);
    this.buffer = roomier;
    this.start = 0;
    this.end = 0;
    this.#filled = left;
  }
}

/** Takes the current entry of a reader and says true, or false to be asked again after a pause. It may not keep the entry. */
export type TakeEntry = (entry: RunReader) => boolean;

/** Whether `a` comes before `b`. */
function isBefore(a: RunReader, b: RunReader): boolean {
  if (a.group !== b.group) return a.group < b.group;
  if (a.score !== b.score) return a.score > b.score;
  return a.sequence < b.sequence;
}

/**
 * Gives the entries of all runs to `take`, in order, and pauses with a `yield` each time it refuses one: so the caller
 * works in batches, since an `await` per line would cost more than its merge.
 * @param readBytes size of each run's read buffer.
 */
export async function* mergeRuns(
  runs: readonly StoredRun[],
  readBytes: number,
  take: TakeEntry,
): AsyncGenerator<void> {
  const heap: RunReader[] = [];
  for (const run of runs) {
    const reader = new RunReader(run, readBytes);
    if (await reader.refill()) heap.push(reader);
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) siftDown(heap, at);
  for (let top = heap[0]; top; top = heap[0]) {
    while (!take(top)) yield;
    if (!top.advance() && !(await top.refill())) {
      const last = heap.pop();
      if (last && last !== top) heap[0] = last;
    }
    siftDown(heap, 0);
  }
}

function siftDown(heap: RunReader[], from: number): void {
  const moved = heap[from];
  if (!moved) return;
  let at = from;
  for (;;) {
    let child = 2 * at + 1;
    let first = heap[child];
    if (!first) break;
    const second = heap[child + 1];
    if (second && isBefore(second, first)) {
      first = second;
      child++;
    }
    if (!isBefore(first, moved)) break;
    heap[at] = first;
    at = child;
  }
  heap[at] = moved;
}

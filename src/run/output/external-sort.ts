/**
 * External merge sort of output lines: memory stays the same however many rows there are. Lines gather
 * in one big buffer; when it is full they are sorted by key and written as a run; at the end the runs
 * are merged (`sort-runs.ts`). What fits the buffer never touches the disk. An index of positions in
 * the spool instead would be less code and takes a tenth more time: one read for each row.
 */

import { writeFailure } from './output-names.js';
import { createRunWriter, mergeRuns, type RunReader, type RunWriter, type StoredRun } from './sort-runs.js';

/** Runs merged at once; with more of them, these are made one first. Bounds open files and read buffers. */
const FAN_IN = 64;
const READ_BYTES = 256 * 1024;
const CHUNK_BYTES = 256 * 1024;
const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024;
/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

export interface Sorter {
  /**
   * Adds a line, its line end included. When it gives a promise, wait for it before the next call.
   * @param group 0 to 255, smaller first.
   * @param score within the group, larger first.
   * @param sequence among equals, smaller first; unique.
   */
  add(group: number, score: number, sequence: number, line: string | Buffer): void | Promise<void>;
  /** Everything that was added, in order, in chunks of many whole lines. Once, after the last `add`. */
  merged(): AsyncIterable<Buffer>;
  /** Frees memory and disk; at any time, more than once if need be. */
  close(): Promise<void>;
}

export interface SorterOptions {
  /** An existing folder for runs, with room for about as much as is added. */
  readonly folder: string;
  /** Bytes of lines held before a run is written. Default 32 MiB; a single longer line is held whole. */
  readonly memoryBytes?: number;
}

export function createSorter(options: SorterOptions): Sorter {
  let arena = Buffer.allocUnsafeSlow(Math.max(1, options.memoryBytes ?? DEFAULT_MEMORY_BYTES));
  let used = 0;
  let keys = createKeys(1024);
  let runs: StoredRun[] = [];

  function put(group: number, score: number, sequence: number, line: string | Buffer): void {
    if (keys.count === keys.capacity) keys = createKeys(keys.capacity * 2, keys);
    const bytes = typeof line === 'string' ? arena.write(line, used) : line.copy(arena, used);
    keys.push(group, score, sequence, used);
    used += bytes;
  }

  function bytesOf(line: string | Buffer): number {
    if (typeof line !== 'string') return line.length;
    const most = line.length * MAX_BYTES_PER_UNIT;
    return used + most <= arena.length ? most : Buffer.byteLength(line);
  }

  /** Writes a run; `fill` puts its entries. */
  async function makeRun(fill: (writer: RunWriter) => Promise<void>): Promise<StoredRun> {
    let writer: RunWriter | null = null;
    try {
      writer = await createRunWriter(options.folder);
      await fill(writer);
      return await writer.finish();
    } catch (error) {
      await writer?.discard();
      throw writeFailure(options.folder, error);
    }
  }

  async function spill(): Promise<void> {
    if (keys.count === 0) return;
    const { groups, scores, sequences, starts, count } = keys;
    const run = await makeRun(async (writer) => {
      for (const at of keys.sorted()) {
        const start = starts[at] ?? 0;
        const end = at + 1 < count ? (starts[at + 1] ?? 0) : used;
        while (!writer.put(groups[at] ?? 0, scores[at] ?? 0, sequences[at] ?? 0, arena, start, end)) {
          await writer.flush();
        }
      }
    });
    runs.push(run);
    used = 0;
    keys.clear();
  }

  /** Makes one run of the oldest ones until the rest can be merged at once. */
  async function reduceRuns(): Promise<void> {
    while (runs.length > FAN_IN) {
      const oldest = runs.slice(0, FAN_IN);
      const merged = await makeRun(async (writer) => {
        const take = (entry: RunReader) =>
          writer.put(entry.group, entry.score, entry.sequence, entry.buffer, entry.start, entry.end);
        for await (const _pause of mergeRuns(oldest, READ_BYTES, take)) await writer.flush();
      });
      runs = [...runs.slice(FAN_IN), merged];
      for (const run of oldest) await run.drop();
    }
  }

  return {
    add(group, score, sequence, line) {
      const bytes = bytesOf(line);
      if (used + bytes <= arena.length) return put(group, score, sequence, line);
      return spill().then(() => {
        if (bytes > arena.length) arena = Buffer.allocUnsafeSlow(bytes);
        put(group, score, sequence, line);
      });
    },
    async *merged() {
      if (runs.length === 0) {
        yield* linesInOrder(arena, used, keys);
        return;
      }
      await spill();
      arena = Buffer.alloc(0);
      await reduceRuns();
      let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      let filled = 0;
      const take = (entry: RunReader) => {
        const length = entry.end - entry.start;
        if (filled + length > chunk.length) {
          if (filled > 0) return false;
          chunk = Buffer.allocUnsafeSlow(length);
        }
        entry.buffer.copy(chunk, filled, entry.start, entry.end);
        filled += length;
        return true;
      };
      for await (const _pause of mergeRuns(runs, READ_BYTES, take)) {
        yield chunk.subarray(0, filled);
        chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
        filled = 0;
      }
      if (filled > 0) yield chunk.subarray(0, filled);
    },
    async close() {
      const open = runs;
      runs = [];
      arena = Buffer.alloc(0);
      keys = createKeys(0);
      for (const run of open) await run.drop();
    },
  };
}

/** Without runs: the lines straight from memory. */
function* linesInOrder(arena: Buffer, used: number, keys: SortKeys): Generator<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const at of keys.sorted()) {
    const line = arena.subarray(keys.starts[at], at + 1 < keys.count ? keys.starts[at + 1] : used);
    parts.push(line);
    bytes += line.length;
    if (bytes >= CHUNK_BYTES) {
      yield Buffer.concat(parts.splice(0), bytes);
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes);
}

interface SortKeys {
  readonly count: number;
  readonly groups: Uint8Array;
  readonly scores: Float64Array;
  readonly sequences: Float64Array;
  /** Where each line begins; it ends where the next one begins. */
  readonly starts: Float64Array;
  readonly capacity: number;
  push(group: number, score: number, sequence: number, start: number): void;
  /** Positions in order: group up, score down, sequence up. */
  sorted(): Uint32Array;
  clear(): void;
}

/** Room for `capacity` keys, those of `earlier` already in it. */
function createKeys(capacity: number, earlier?: SortKeys): SortKeys {
  const groups = new Uint8Array(capacity);
  const scores = new Float64Array(capacity);
  const sequences = new Float64Array(capacity);
  const starts = new Float64Array(capacity);
  let count = 0;
  if (earlier) {
    groups.set(earlier.groups);
    scores.set(earlier.scores);
    sequences.set(earlier.sequences);
    starts.set(earlier.starts);
    count = earlier.count;
  }

  /** The arrays hold a number at every position below `count`: the zeros only please the compiler. */
  function compare(a: number, b: number): number {
    return (
      (groups[a] ?? 0) - (groups[b] ?? 0) ||
      (scores[b] ?? 0) - (scores[a] ?? 0) ||
      (sequences[a] ?? 0) - (sequences[b] ?? 0)
    );
  }

  return {
    get count() {
      return count;
    },
    groups,
    scores,
    sequences,
    starts,
    capacity,
    push(group, score, sequence, start) {
      groups[count] = group;
      scores[count] = score;
      sequences[count] = sequence;
      starts[count] = start;
      count++;
    },
    sorted() {
      const positions = Uint32Array.from({ length: count }, (_, at) => at);
      return positions.sort(compare);
    },
    clear() {
      count = 0;
    },
  };
}

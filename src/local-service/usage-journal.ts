/**
 * How many requests each account was served in each period, in a file that survives `kill -9`. A change is kept in
 * memory, written with the others of the same turn of the event loop in one append, and acknowledged when the
 * operating system has it: an answer that waits for `written()` is never sent uncounted. A crash between the two
 * leaves a request counted that nobody saw answered, never the other way round. Changes that the disk does not take stay in
 * memory and go with the next ones.
 *
 * Lines carry whole counts and the greatest one wins, so a line that is read twice, or torn at the end of the file,
 * does no harm. The file is rewritten small when it is opened and when it has grown. A loss of power can take the
 * last second. One process at a time: see `usage-lock.ts`. Limits, months and money are not this file's.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { z } from 'zod';
import { FailFileError } from '../core/errors.js';
import type { Channel } from '../notify/deliveries.js';

export interface UsageCount {
  readonly account: string;
  /** `YYYY-MM`, or `lifetime`. */
  readonly period: string;
  readonly requests: number;
  /** The 80 % notice of this period; null: not due yet. */
  readonly notice: NoticeState | null;
}

export interface NoticeState {
  /** When it fell due, in milliseconds, and what it says. */
  readonly at: number;
  readonly requests: number;
  readonly quota: number;
  /** Ways that it has not gone yet. */
  readonly open: readonly Channel[];
}

export interface UsageJournal {
  /** The count so far; zero for an account and period that were never seen. */
  read(account: string, period: string): UsageCount;
  /** Takes effect at once; in the file after the next `written()`. */
  change(count: UsageCount): void;
  /** Resolves when all changes so far are in the hands of the operating system; rejects if they cannot be. */
  written(): Promise<void>;
  list(): UsageCount[];
  /** Writes what is left and closes the file. */
  close(): void;
}

/** The file is rewritten when it has grown by so much. */
const COMPACT_BYTES = 8 * 1024 * 1024;
/** How long a change may wait for the disk itself. */
const SYNC_MS = 1_000;

/**
 * Opens the journal; `path` null keeps it in memory only. Throws `FailFileError` when the file cannot be read or
 * written.
 */
export function openUsageJournal(path: string | null): UsageJournal {
  const counts = path === null ? new Map<string, UsageCount>() : readCounts(path);
  const file = path === null ? null : openFile(path, counts);
  const dirty = new Map<string, UsageCount>();
  let batch: Promise<void> | null = null;

  const write = () => {
    if (dirty.size === 0) return;
    file?.append([...dirty.values()].map(countLine).join(''));
    dirty.clear();
  };

  return {
    read: (account, period) =>
      counts.get(countKey(account, period)) ?? { account, period, requests: 0, notice: null },
    change(count) {
      const key = countKey(count.account, count.period);
      counts.set(key, count);
      if (file !== null) dirty.set(key, count);
    },
    written() {
      if (file === null) return Promise.resolve();
      batch ??= new Promise((resolve, reject) => {
        setImmediate(() => {
          batch = null;
          try {
            write();
            resolve();
          } catch (error) {
            reject(error);
          }
        });
      });
      return batch;
    },
    list: () => [...counts.values()],
    close() {
      write();
      file?.close();
    },
  };
}

/** Reads the counts of a journal without opening it for writing; empty when there is no such file. */
export function readUsageCounts(path: string): UsageCount[] {
  return [...readCounts(path).values()];
}

function readCounts(path: string): Map<string, UsageCount> {
  const counts = new Map<string, UsageCount>();
  if (!existsSync(path)) return counts;
  for (const line of attempt(path, () => readFileSync(path, 'utf8')).split('\n')) {
    const count = parseLine(line);
    if (count === null) continue;
    const key = countKey(count.account, count.period);
    const earlier = counts.get(key);
    counts.set(key, {
      ...count,
      requests: Math.max(count.requests, earlier?.requests ?? 0),
      notice: latestNotice(earlier?.notice ?? null, count.notice),
    });
  }
  return counts;
}

/** What has gone one way is not owed again, whichever line is read last. */
function latestNotice(earlier: NoticeState | null, later: NoticeState | null): NoticeState | null {
  if (earlier === null || later === null) return earlier ?? later;
  return { ...earlier, open: earlier.open.filter((channel) => later.open.includes(channel)) };
}

interface JournalFile {
  append(lines: string): void;
  close(): void;
}

function openFile(path: string, counts: ReadonlyMap<string, UsageCount>): JournalFile {
  let descriptor = rewrite(path, counts);
  let grownBytes = 0;
  let isTorn = false;
  let sync: NodeJS.Timeout | null = null;
  return {
    append(lines) {
      const start = isTorn ? '\n' : '';
      isTorn = true;
      grownBytes += writeWhole(descriptor, start + lines);
      isTorn = false;
      if (grownBytes > COMPACT_BYTES) {
        const full = descriptor;
        descriptor = rewrite(path, counts);
        closeSync(full);
        grownBytes = 0;
      }
      sync ??= setTimeout(() => {
        sync = null;
        fdatasync(descriptor, () => undefined);
      }, SYNC_MS).unref();
    },
    close() {
      if (sync !== null) clearTimeout(sync);
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
  };
}

/** Replaces the file by one line per count, atomically, and leaves it open for appending. */
function rewrite(path: string, counts: ReadonlyMap<string, UsageCount>): number {
  const temporary = `${path}.tmp`;
  return attempt(path, () => {
    const descriptor = openSync(temporary, 'w', 0o600);
    writeWhole(descriptor, [...counts.values()].map(countLine).join(''));
    fsyncSync(descriptor);
    renameSync(temporary, path);
    return descriptor;
  });
}

/** The operating system may take less than it was handed, on a disk that is nearly full. */
function writeWhole(descriptor: number, lines: string): number {
  const bytes = Buffer.from(lines, 'utf8');
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  return bytes.length;
}

function countKey(account: string, period: string): string {
  return `${period} ${account}`;
}

function countLine(count: UsageCount): string {
  return `${JSON.stringify(count)}\n`;
}

const noticeSchema = z.object({
  at: z.number(),
  requests: z.number(),
  quota: z.number(),
  open: z.array(z.enum(['webhook', 'e-mail'])),
});
/** Versions before kept no more than `isNoticed`: that the notice was begun. */
const BEGUN: NoticeState = { at: 0, requests: 0, quota: 0, open: [] };
const lineSchema = z.object({
  account: z.string(),
  period: z.string(),
  requests: z.int().min(0),
  notice: noticeSchema.nullish(),
  isNoticed: z.boolean().optional(),
});

/** null: a torn or foreign line. */
function parseLine(line: string): UsageCount | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  const parsed = lineSchema.safeParse(json);
  if (!parsed.success) return null;
  const { isNoticed, notice, ...count } = parsed.data;
  return { ...count, notice: notice ?? (isNoticed === true ? BEGUN : null) };
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the usage file cannot be kept',
      subject: path,
      todo: 'name an accounts file in a folder that can be written to',
      cause: error,
    });
  }
}

/**
 * Counts requests in a file that survives `kill -9`: an answer that waits for `written()` is never
 * sent uncounted. A power failure can cost the last second. Lines hold whole counts, of which the
 * greatest wins, so torn ones do no harm. For one process at a time.
 */
import { fdatasync, fsyncSync, openSync, renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { LineFile, orUnwritable, readLines } from './line-file.js';

const noticeSchema = z.object({
  /** When it was due, in milliseconds, and its figures. */
  at: z.number(),
  requests: z.number(),
  quota: z.number(),
  /** Channels that have not taken it yet. */
  open: z.array(z.enum(['webhook', 'e-mail'])).readonly(),
});
export type NoticeState = Readonly<z.infer<typeof noticeSchema>>;

const countSchema = z.object({
  account: z.string(),
  /** `YYYY-MM`, or `lifetime`. */
  period: z.string(),
  requests: z.int().min(0),
  /** The 80 % notice of this period; null before it is due. */
  notice: noticeSchema.nullable(),
});
export type UsageCount = Readonly<z.infer<typeof countSchema>>;

/** The file is rewritten after growing by this much. */
const COMPACT_CHARS = 8 * 1024 * 1024;
/** The longest that a change waits for the disk itself. */
const SYNC_MS = 1_000;

export class UsageJournal {
  readonly #counts = new Map<string, UsageCount>();
  readonly #dirty = new Map<string, UsageCount>();
  #file: LineFile | null;
  #batch: Promise<void> | null = null;
  #grownChars = 0;
  #sync: NodeJS.Timeout | null = null;

  /** `path` null keeps counts in memory. Throws `RunError` if the file cannot be kept. */
  constructor(private readonly path: string | null) {
    for (const count of path === null ? [] : readUsageCounts(path)) this.#counts.set(countKey(count), count);
    this.#file = path === null ? null : rewrite(path, this.#counts);
  }

  /** Returns the count so far, 0 for an unknown account or period. */
  read(account: string, period: string): UsageCount {
    return this.#counts.get(countKey({ account, period })) ?? { account, period, requests: 0, notice: null };
  }

  list(): UsageCount[] {
    return [...this.#counts.values()];
  }

  /** Changes a count at once, and in the file with the next `written()`. */
  change(count: UsageCount): void {
    const key = countKey(count);
    this.#counts.set(key, count);
    if (this.#file !== null) this.#dirty.set(key, count);
  }

  /** Resolves when the system has all changes so far; rejects if it cannot take them. */
  written(): Promise<void> {
    if (this.#file === null) return Promise.resolve();
    this.#batch ??= nextTurn().then(() => {
      this.#batch = null;
      this.#write();
    });
    return this.#batch;
  }

  close(): void {
    this.#write();
    if (this.#file === null) return;
    if (this.#sync !== null) clearTimeout(this.#sync);
    fsyncSync(this.#file.descriptor);
    this.#file.close();
  }

  #write(): void {
    if (this.#file === null || this.path === null) return;
    // Lines that the disk did not take earlier go first.
    this.#file.write();
    if (this.#dirty.size === 0) return;
    this.#grownChars += addLines(this.#file, this.#dirty);
    this.#dirty.clear();
    this.#file.write();
    if (this.#grownChars > COMPACT_CHARS) {
      const full = this.#file;
      this.#file = rewrite(this.path, this.#counts);
      this.#grownChars = 0;
      full.close();
    }
    this.#sync ??= setTimeout(() => {
      this.#sync = null;
      if (this.#file !== null) fdatasync(this.#file.descriptor, () => undefined);
    }, SYNC_MS).unref();
  }
}

/** Reads the counts of a journal, without opening it for writing; empty without a file. */
export function readUsageCounts(path: string): UsageCount[] {
  const counts = new Map<string, UsageCount>();
  for (const count of attempt(path, () => readLines(path, countSchema))) {
    const key = countKey(count);
    const earlier = counts.get(key) ?? count;
    const requests = Math.max(count.requests, earlier.requests);
    counts.set(key, { ...count, requests, notice: latestNotice(earlier.notice, count.notice) });
  }
  return [...counts.values()];
}

/** Merges two lines: a channel that took the notice in either is not owed again. */
function latestNotice(earlier: NoticeState | null, later: NoticeState | null): NoticeState | null {
  if (earlier === null || later === null) return earlier ?? later;
  return { ...earlier, open: earlier.open.filter((channel) => later.open.includes(channel)) };
}

/** Replaces the file by one line for each count, in one step, and leaves it open for appending. */
function rewrite(path: string, counts: ReadonlyMap<string, UsageCount>): LineFile {
  return attempt(path, () => {
    const file = new LineFile(openSync(`${path}.tmp`, 'w', 0o600));
    addLines(file, counts);
    file.write();
    fsyncSync(file.descriptor);
    renameSync(`${path}.tmp`, path);
    return file;
  });
}

function addLines(file: LineFile, counts: ReadonlyMap<string, UsageCount>): number {
  let chars = 0;
  for (const count of counts.values()) {
    const line = JSON.stringify(count);
    file.add(line);
    chars += line.length;
  }
  return chars;
}

function countKey({ account, period }: Pick<UsageCount, 'account' | 'period'>): string {
  return `${period} ${account}`;
}

function attempt<T>(path: string, action: () => T): T {
  return orUnwritable('the usage file cannot be written', path, 'name an accounts file', action);
}

/**
 * How many requests each account was served in each period, in a file that survives `kill -9`: an
 * answer that waits for `written()` is never sent uncounted. A loss of power can take the last
 * second. Lines carry whole counts and the greatest wins, so one that is torn does no harm. One
 * process at a time.
 */
import { fdatasync, fsyncSync, openSync, renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { LineFile, orUnwritable, readLines } from './line-file.js';

const noticeSchema = z.object({
  /** When it fell due, in milliseconds, and what it says. */
  at: z.number(),
  requests: z.number(),
  quota: z.number(),
  /** Ways that it has not gone yet. */
  open: z.array(z.enum(['webhook', 'e-mail'])).readonly(),
});
export type NoticeState = Readonly<z.infer<typeof noticeSchema>>;

const countSchema = z.object({
  account: z.string(),
  /** `YYYY-MM`, or `lifetime`. */
  period: z.string(),
  requests: z.int().min(0),
  /** The 80 % notice of this period; null: not due yet. */
  notice: noticeSchema.nullable(),
});
export type UsageCount = Readonly<z.infer<typeof countSchema>>;

/** The file is rewritten when it has grown by so much. */
const COMPACT_CHARS = 8 * 1024 * 1024;
/** How long a change may wait for the disk itself. */
const SYNC_MS = 1_000;

export class UsageJournal {
  readonly #counts = new Map<string, UsageCount>();
  readonly #dirty = new Map<string, UsageCount>();
  #file: LineFile | null;
  #batch: Promise<void> | null = null;
  #grownChars = 0;
  #sync: NodeJS.Timeout | null = null;

  /** `path` null: in memory only. Throws `RunError` when the file cannot be kept. */
  constructor(private readonly path: string | null) {
    for (const count of path === null ? [] : readUsageCounts(path)) this.#counts.set(countKey(count), count);
    this.#file = path === null ? null : rewrite(path, this.#counts);
  }

  /** The count so far; zero for an account and period that were never seen. */
  read(account: string, period: string): UsageCount {
    return this.#counts.get(countKey({ account, period })) ?? { account, period, requests: 0, notice: null };
  }

  list(): UsageCount[] {
    return [...this.#counts.values()];
  }

  /** Takes effect at once; in the file after the next `written()`. */
  change(count: UsageCount): void {
    const key = countKey(count);
    this.#counts.set(key, count);
    if (this.#file !== null) this.#dirty.set(key, count);
  }

  /** Resolves when the operating system has all changes so far; rejects if it cannot. */
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
    // What the disk did not take before goes first; only then is more handed to it.
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

/** The counts of a journal, read without opening it for writing; empty when there is none. */
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

/** What has gone one way is not owed again, whichever line is read last. */
function latestNotice(earlier: NoticeState | null, later: NoticeState | null): NoticeState | null {
  if (earlier === null || later === null) return earlier ?? later;
  return { ...earlier, open: earlier.open.filter((channel) => later.open.includes(channel)) };
}

/** Replaces the file by one line per count, atomically, and leaves it open for appending. */
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

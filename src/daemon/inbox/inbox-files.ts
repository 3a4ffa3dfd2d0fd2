/**
 * The files in the inbox, look by look: which are complete, and links that are refused. Folders are
 * ignored with a warning. A file is complete when size and time have not changed for long enough
 * and nobody has it open for writing.
 *
 *   seen first, or changed  ->  unchanged since now
 *   unchanged long enough   ->  ready. An empty file has to be unchanged for longer: some programs
 *                               create it first and fill it later. A file that grew in fits and
 *                               starts has to be unchanged for twice its longest pause.
 *   gone                    ->  forgotten
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Log } from '../../core/log.js';
import { isLeftAlone, isSameFile, lookAt, type SeenFile } from './inbox-file.js';

interface InboxFiles {
  /** One look, at a moment in milliseconds. Throws errors of the file system. */
  look(now: number): Promise<InboxLook>;
}

interface InboxLook {
  /** Complete files and links, the longest unchanged first. */
  readonly ready: readonly SeenFile[];
  /** When another look may find more; null: when something changes. */
  readonly nextAt: number | null;
}

const AT_ONCE = 32;

export function createInboxFiles(folder: string, options: { settleMs: number; log: Log }): InboxFiles {
  const { settleMs, log } = options;
  const settled = createSettledFiles(settleMs);
  const limit = pLimit(AT_ONCE);
  const warned = new Set<string>();

  function warnOnce(name: string, sentence: string): void {
    if (warned.has(name)) return;
    warned.add(name);
    log.warn({ file: name }, sentence);
  }

  async function lookAll(): Promise<SeenFile[]> {
    const names = (await readdir(folder)).filter((name) => !isLeftAlone(name));
    const seen = await Promise.all(
      names.map((name) =>
        limit(async () => {
          const file = await lookAt(join(folder, name));
          if (file === 'folder')
            warnOnce(name, 'a folder in the inbox is ignored: put the files in themselves');
          else if (file?.kind === 'other') warnOnce(name, 'this is not a file: ignored');
          else if (file === null && name.includes('\ufffd'))
            warnOnce(name, 'the name of this file is not UTF-8: rename it, so that it can be opened');
          return file === 'folder' || file?.kind === 'other' ? null : file;
        }),
      ),
    );
    for (const name of warned) if (!names.includes(name)) warned.delete(name);
    return seen.filter((file) => file !== null);
  }

  return {
    async look(now) {
      const { ready, nextAt } = settled.look(await lookAll(), now);
      const files = ready.filter(({ kind }) => kind === 'file');
      const writing = await openForWriting(files.map(({ name }) => join(folder, name)));
      if (writing.size === 0) return { ready, nextAt };
      const again = now + settleMs;
      return {
        ready: ready.filter(({ name }) => !writing.has(join(folder, name))),
        nextAt: Math.min(nextAt ?? again, again),
      };
    },
  };
}

interface SettledFiles {
  /** One look at all files, at a moment in milliseconds. */
  look(files: readonly SeenFile[], now: number): Settled;
}

interface Settled {
  /** The longest unchanged first. */
  readonly ready: readonly SeenFile[];
  /** When the next one can be ready; null when none is waited for. */
  readonly nextAt: number | null;
}

interface Watched {
  readonly file: SeenFile;
  readonly since: number;
  readonly longestPauseMs: number;
}

const EMPTY_FACTOR = 5;
const PAUSE_FACTOR = 2;
/** No file is waited for longer than this. */
const MOST_MS = 60_000;

/** `settleMs`: how long a file must be unchanged. */
export function createSettledFiles(settleMs: number): SettledFiles {
  let watched = new Map<string, Watched>();
  return {
    look(files, now) {
      const next = new Map<string, Watched>();
      for (const file of files) next.set(file.name, follow(watched.get(file.name), file, now));
      watched = next;
      const ready: Watched[] = [];
      let nextAt: number | null = null;
      for (const each of next.values()) {
        const at = each.since + quietMs(each, settleMs);
        if (at <= now) ready.push(each);
        else nextAt = Math.min(nextAt ?? at, at);
      }
      ready.sort((a, b) => a.since - b.since || (a.file.name < b.file.name ? -1 : 1));
      return { ready: ready.map(({ file }) => file), nextAt };
    },
  };
}

function follow(before: Watched | undefined, file: SeenFile, now: number): Watched {
  if (before === undefined) return { file, since: now, longestPauseMs: 0 };
  if (isSameFile(before.file, file)) return before;
  return { file, since: now, longestPauseMs: Math.max(before.longestPauseMs, now - before.since) };
}

function quietMs({ file, longestPauseMs }: Watched, settleMs: number): number {
  const wanted = Math.max(
    settleMs * (file.kind === 'file' && file.size === 0 ? EMPTY_FACTOR : 1),
    longestPauseMs * PAUSE_FACTOR,
  );
  return Math.max(settleMs, Math.min(wanted, MOST_MS));
}

/**
 * `/proc/<pid>/fdinfo/<fd>` gives the flags of `open` in octal; the lowest two bits say read, write
 * or both.
 */
const ACCESS_BITS = 0o3;

/**
 * Those of these absolute paths that are open for writing in another process, as far as can be
 * warned.
 */
async function openForWriting(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  const wanted = new Set(paths);
  const processes = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && name !== String(process.pid),
  );
  const limit = pLimit(AT_ONCE);
  await Promise.all(
    processes.map((pid) =>
      limit(async () => {
        for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
          const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
          if (wanted.has(path) && (await isWriting(pid, fd))) found.add(path);
        }
      }),
    ),
  );
  return found;
}

async function isWriting(pid: string, fd: string): Promise<boolean> {
  const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & ACCESS_BITS) !== 0;
}

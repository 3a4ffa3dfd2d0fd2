/**
 * The files in the inbox, look by look: which are complete, and links that are refused. A file is
 * complete when size and time have not changed for long enough and nobody has it open for writing:
 * for longer when it is empty, and for twice its longest pause when it grew in fits and starts.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Log } from '../../core/log.js';
import { isLeftAlone, isSameFile, lookAt, type SeenFile } from './inbox-file.js';

interface InboxLook {
  /** Complete files and links, the longest unchanged first. */
  readonly ready: readonly SeenFile[];
  /** When another look may find more; null: when something changes. */
  readonly nextAt: number | null;
}

const AT_ONCE = 32;
const IGNORED = {
  folder: 'folders in the inbox are ignored: put the files into the inbox',
  other: 'ignored: this is not a file',
  missing: 'the file name is not UTF-8: rename the file',
} as const;

/** `settleMs`: how long a file must be unchanged. `look` throws errors of the file system. */
export function createInboxFiles(folder: string, { settleMs, log }: { settleMs: number; log: Log }) {
  const settled = createSettledFiles(settleMs);
  const limit = pLimit(AT_ONCE);
  const warned = new Set<string>();

  async function lookAtOne(name: string): Promise<SeenFile | null> {
    const seen = await lookAt(join(folder, name));
    if (seen?.kind === 'file' || seen?.kind === 'link') return seen;
    if ((seen !== null || name.includes('\ufffd')) && !warned.has(name)) {
      warned.add(name);
      log.warn({ file: name }, IGNORED[seen?.kind ?? 'missing']);
    }
    return null;
  }

  return {
    async look(now: number): Promise<InboxLook> {
      const names = (await readdir(folder)).filter((name) => !isLeftAlone(name));
      const seen = await Promise.all(names.map((name) => limit(() => lookAtOne(name))));
      for (const name of warned) if (!names.includes(name)) warned.delete(name);
      const files = seen.filter((file) => file !== null);
      const { ready, nextAt } = settled.look(files, now);
      const paths = ready.filter(({ kind }) => kind === 'file').map(({ name }) => join(folder, name));
      const writing = await openForWriting(paths);
      if (writing.size === 0) return { ready, nextAt };
      const again = now + settleMs;
      return {
        ready: ready.filter(({ name }) => !writing.has(join(folder, name))),
        nextAt: Math.min(nextAt ?? again, again),
      };
    },
  };
}

interface Watched {
  readonly file: SeenFile;
  readonly since: number;
  readonly longestPauseMs: number;
}

const EMPTY_FACTOR = 5;
const PAUSE_FACTOR = 2;
/** The longest wait for a file. */
const MOST_MS = 60_000;

/** The same for files that were seen elsewhere, even if they are open. */
export function createSettledFiles(settleMs: number) {
  let watched = new Map<string, Watched>();

  function follow(file: SeenFile, now: number): Watched {
    const before = watched.get(file.name);
    if (before === undefined) return { file, since: now, longestPauseMs: 0 };
    if (isSameFile(before.file, file)) return before;
    return { file, since: now, longestPauseMs: Math.max(before.longestPauseMs, now - before.since) };
  }

  function readyAt({ file, since, longestPauseMs }: Watched): number {
    const factor = file.kind === 'file' && file.size === 0 ? EMPTY_FACTOR : 1;
    const wanted = Math.max(settleMs * factor, longestPauseMs * PAUSE_FACTOR);
    return since + Math.max(settleMs, Math.min(wanted, MOST_MS));
  }

  return {
    look(files: readonly SeenFile[], now: number): InboxLook {
      watched = new Map(files.map((file) => [file.name, follow(file, now)]));
      const all = [...watched.values()];
      const ready = all.filter((each) => readyAt(each) <= now);
      ready.sort((a, b) => a.since - b.since || (a.file.name < b.file.name ? -1 : 1));
      const nextAt = Math.min(...all.map(readyAt).filter((at) => at > now));
      return { ready: ready.map(({ file }) => file), nextAt: Number.isFinite(nextAt) ? nextAt : null };
    },
  };
}

/** The lowest bits of the octal flags in `/proc/<pid>/fdinfo/<fd>` say read, write or both. */
const ACCESS_BITS = 0o3;

/** Those of these absolute paths that are open for writing elsewhere, as far as can be seen. */
async function openForWriting(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  const wanted = new Set(paths);
  const limit = pLimit(AT_ONCE);
  const search = async (pid: string) => {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (wanted.has(path) && (await isWriting(pid, fd))) found.add(path);
    }
  };
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const others = pids.filter((pid) => pid !== String(process.pid));
  await Promise.all(others.map((pid) => limit(search, pid)));
  return found;
}

async function isWriting(pid: string, fd: string): Promise<boolean> {
  const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & ACCESS_BITS) !== 0;
}

/**
 * Finds the complete files of an inbox: size and time have not changed for a while (longer if a
 * file is empty or grew with pauses), and no process has the file open for writing.
 */
import { link, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { succeeds } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import {
  FOLDER_SETTINGS_FILE,
  isLeftAlone,
  isSameFile,
  isSideFile,
  lookAt,
  placeOf,
  type SeenFile,
  sideFileOf,
} from './inbox-file.js';

const AT_ONCE = 32;
const IGNORED = {
  folder:
    `folders in the inbox are ignored unless they contain ${FOLDER_SETTINGS_FILE}: put the files ` +
    'into the inbox',
  other: 'ignored: this is not a file',
  side: 'these settings wait for the file that they are named after: drop it, again if it was taken before',
} as const;

/** Creates looks at an inbox, which throw errors of the file system. */
export function createInboxFiles(folder: string, { settleMs, log }: { settleMs: number; log: Log }) {
  const settled = createSettledFiles(settleMs);
  const limit = pLimit(AT_ONCE);
  const warned = new Set<string>();

  function warnOnce(file: string, why: keyof typeof IGNORED): void {
    if (!warned.has(file)) log.warn({ file }, IGNORED[why]);
    warned.add(file);
  }

  /** Returns a file or link, or the files of a folder with settings. */
  async function lookAtOne(name: string, under?: string): Promise<SeenFile[]> {
    const path = placeOf(folder, { name, under });
    const seen = await lookAt(path);
    if (seen?.kind === 'file' || seen?.kind === 'link') return [{ ...seen, under }];
    if (seen?.kind === 'folder' && under === undefined) {
      const inside: string[] = await readdir(path).catch(() => []);
      const names = inside.filter((each) => each !== FOLDER_SETTINGS_FILE && !isLeftAlone(each));
      if (inside.includes(FOLDER_SETTINGS_FILE))
        return (await Promise.all(names.map((each) => lookAtOne(each, name)))).flat();
    }
    if (seen !== null) warnOnce(under === undefined ? name : join(under, name), seen.kind);
    // Node shows this sign in names that are not UTF-8.
    else if (name.includes('\ufffd')) await makeReadable(dirname(path), name);
    return [];
  }

  return {
    /** Returns complete files and links, and when the next will be complete if nothing changes. */
    async look(now: number) {
      const names = (await readdir(folder)).filter((name) => !isLeftAlone(name));
      const seen = await Promise.all(names.map((name) => limit(() => lookAtOne(name))));
      for (const name of warned) if (!names.includes(name.split('/')[0] ?? '')) warned.delete(name);
      const files = seen.flat();
      const found = settled.look(files, now);
      const { nextAt } = found;
      const ready = withSideFiles(files, found.ready);
      const sideFiles = new Set(files.map((file) => sideFileOf(pathOf(file))));
      for (const file of found.ready)
        if (isSideFile(file.name) && !sideFiles.has(pathOf(file))) warnOnce(pathOf(file), 'side');
      const paths = ready.filter(({ kind }) => kind === 'file').map((file) => placeOf(folder, file));
      const writing = await openForWriting(paths);
      if (writing.size === 0) return { ready, nextAt };
      return {
        ready: ready.filter((file) => !writing.has(placeOf(folder, file))),
        nextAt: Math.min(nextAt, now + settleMs),
      };
    },
  };
}

/** Gives a file the name that is shown for its broken name, unless that is taken. */
async function makeReadable(folder: string, shown: string): Promise<void> {
  for (const name of await readdir(folder, { encoding: 'buffer' })) {
    if (name.toString() !== shown) continue;
    const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
    // A link to a folder is not possible, so folders stay.
    const isLinked = await succeeds(link(path, join(folder, shown)));
    if (isLinked) await rm(path);
  }
}

const pathOf = ({ name, under = '' }: SeenFile) => join(under, name);

/** Returns the ready files that are no settings, and whose own settings are complete. Pure. */
export function withSideFiles(files: readonly SeenFile[], ready: readonly SeenFile[]): SeenFile[] {
  const paths = new Set(files.map(pathOf));
  const complete = new Set(ready.map(pathOf));
  return ready.filter((file) => {
    const side = sideFileOf(pathOf(file));
    return !isSideFile(file.name) && (!paths.has(side) || complete.has(side));
  });
}

interface Watched {
  readonly file: SeenFile;
  readonly since: number;
  readonly longestPauseMs: number;
}

const EMPTY_FACTOR = 5;
const PAUSE_FACTOR = 2;
const MOST_MS = 60_000;

/** Creates a judge of which files have settled, from one look to the next. */
export function createSettledFiles(settleMs: number) {
  let watched = new Map<string, Watched>();

  function follow(file: SeenFile, now: number): Watched {
    const before = watched.get(pathOf(file));
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
    /** Returns settled files, the longest unchanged first, and when the next will settle. */
    look(files: readonly SeenFile[], now: number) {
      watched = new Map(files.map((file) => [pathOf(file), follow(file, now)]));
      const all = [...watched.values()];
      const ready = all.filter((each) => readyAt(each) <= now);
      ready.sort((a, b) => a.since - b.since || (a.file.name < b.file.name ? -1 : 1));
      const nextAt = Math.min(...all.map(readyAt).filter((at) => at > now));
      return { ready: ready.map(({ file }) => file), nextAt };
    },
  };
}

/** Bits for read, write or both in the octal flags of `/proc/<pid>/fdinfo/<fd>`. */
const ACCESS_BITS = 0o3;

async function openForWriting(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  const wanted = new Set(paths);
  const limit = pLimit(AT_ONCE);
  const search = async (pid: string) => {
    const fds: string[] = await readdir(`/proc/${pid}/fd`).catch(() => []);
    // All at once, since turns of the event loop are slow while large files are processed.
    const paths = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    for (const [at, path] of paths.entries())
      if (wanted.has(path) && (await isWriting(pid, fds[at] ?? ''))) found.add(path);
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

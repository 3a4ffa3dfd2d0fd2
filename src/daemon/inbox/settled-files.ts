/**
 * Which files of an inbox are whole: those whose size and time have been still for long enough. Looks are handed in, so
 * that nothing waits in here.
 *
 *   seen first, or changed  ->  still since now
 *   still for long enough   ->  ready. An empty file has to be still for longer: some programs make the file first
 *                               and fill it later. A file that was seen to grow in fits and starts has to be still
 *                               for twice the longest pause it made.
 *   gone                    ->  forgotten
 */

/** A file as one look found it. */
export interface SeenFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  /** `other`: symbolic links, and whatever else is no file and no folder. */
  readonly kind: 'file' | 'link' | 'other';
}

export interface SettledFiles {
  /** One look at all files, at a moment in milliseconds. */
  look(files: readonly SeenFile[], now: number): Settled;
}

interface Settled {
  /** In the order in which they became still. */
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
/** However a file was written: nobody waits longer than this for its next byte. */
const MOST_MS = 60_000;

/** `settleMs`: how long a file must have been still. */
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
        const at = each.since + stillnessMs(each, settleMs);
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

function stillnessMs({ file, longestPauseMs }: Watched, settleMs: number): number {
  const wanted = Math.max(
    settleMs * (file.kind === 'file' && file.size === 0 ? EMPTY_FACTOR : 1),
    longestPauseMs * PAUSE_FACTOR,
  );
  return Math.max(settleMs, Math.min(wanted, MOST_MS));
}

/** Whether nothing was written between two looks, and nothing put in its place. */
export function isSameFile(a: SeenFile, b: SeenFile): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.kind === b.kind;
}

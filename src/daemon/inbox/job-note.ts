/**
 * The note in the folder of a job: which of its files is the original, and what has become of it so far. Hidden, for
 * programs; people have `reason.txt`. A note that is lost or damaged costs nothing but this knowledge.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readPlainFile } from '../../core/plain-file.js';

const NOTE = '.brand-enrich-job.json';
export const REASON_FILE = 'reason.txt';

const noteShape = z.object({
  file: z.string().min(1),
  /** How often a watcher ended without a word while it was at it. */
  adoptions: z.number().int().nonnegative(),
  parked: z
    .object({
      /** Milliseconds since 1970. */
      at: z.number(),
      /** What the one who parked it wants to remember. */
      memo: z.string(),
    })
    .nullable(),
});
export type JobNote = z.infer<typeof noteShape>;

/** Writes it through to the disk: after a loss of power it tells what is the original. */
export async function writeNote(folder: string, note: JobNote): Promise<void> {
  await writeAnew(join(folder, NOTE), `${JSON.stringify(note)}\n`);
}

/** Writes a file in place of whatever lies there: written into, a link would lead out of the folder. */
export async function writeAnew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: 'wx', flush: true });
}

/**
 * Reads it; without a readable one it is made up from what lies in the folder. null: there is no original, and nothing
 * to be done.
 */
export async function readNote(folder: string): Promise<JobNote | null> {
  const names = await readdir(folder);
  const note = await readPlainFile(join(folder, NOTE)).then(parseNote, () => null);
  if (note !== null) return names.includes(note.file) ? note : null;
  const originals = names.filter((name) => !isOurs(name));
  const [file] = originals;
  return file === undefined || originals.length > 1 ? null : { file, adoptions: 0, parked: null };
}

export async function removeNote(folder: string): Promise<void> {
  await rm(join(folder, NOTE), { force: true });
}

function parseNote(text: string): JobNote | null {
  try {
    return noteShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Files of ours beside an original; see `run/output/output-names.ts`. */
function isOurs(name: string): boolean {
  return (
    name.startsWith('.') ||
    name === REASON_FILE ||
    /\.enriched(\.partial)?\.[^.]+(\.gz)?$|\.errors\.[^.]+(\.gz)?$|\.report\.(json|html)$/.test(name)
  );
}

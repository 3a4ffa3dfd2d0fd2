/**
 * The one way into an inbox for a file that we place there ourselves: one that was sent, one that
 * is put back. Until it is taken, a note beside the inbox says which job it is. What a person
 * ordered for that job holds for the file, and for no other file of its name; and the file is known
 * to be complete.
 *
 *   .placed/<hash of its place>.json
 */
import { createHash } from 'node:crypto';
import { link, lstat, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../core/json-text.js';
import { makeFolder } from '../core/make-folder.js';
import { readPlainFile } from '../core/plain-file.js';
import { isErrorCode } from '../core/system-error.js';
import { isSideFile, lookAt, placeOf, type SeenFile, sideFileOf } from './inbox-file.js';

/** Hidden, so that neither watchers nor people take it for a place of the inbox. */
const FOLDER = '.placed';
const shape = z.object({
  id: z.string().min(1),
  name: z.string(),
  size: z.number(),
  mtimeMs: z.number(),
});

type Place = Pick<SeenFile, 'name' | 'under'>;

function noteOf(place: Place): string {
  return `${createHash('sha256').update(placeOf('', place)).digest('hex').slice(0, 32)}.json`;
}
const pathOf = (root: string, place: Place) => join(root, FOLDER, noteOf(place));

const read = async (root: string, place: Place) =>
  readJson(await readPlainFile(pathOf(root, place)).catch(() => ''), shape);

/**
 * Before the file is put back; then on the disk. Throws errors of the file system, and where others
 * put something else in place of the folder.
 */
export async function keepJob(root: string, file: SeenFile, id: string): Promise<void> {
  const { name, size, mtimeMs } = file;
  const folder = join(root, FOLDER);
  makeFolder(folder);
  if ((await lookAt(folder))?.kind !== 'folder') throw new Error(`${folder} is not a folder`);
  const path = pathOf(root, file);
  const text = JSON.stringify({ id, name, size, mtimeMs } satisfies z.infer<typeof shape>);
  await rm(`${path}.new`, { force: true });
  await writeFile(`${path}.new`, `${text}\n`, { flag: 'wx', flush: true });
  await rename(`${path}.new`, path);
}

/**
 * The job of a file that was put back and is unchanged; null: the file is new. By size and time: on
 * a share its number may be another one on each machine.
 */
export async function keptJob(root: string, file: SeenFile): Promise<string | null> {
  const kept = await read(root, file);
  return kept?.size === file.size && kept.mtimeMs === file.mtimeMs ? kept.id : null;
}

/** The name of a file that waits in the inbox as this job; null: none does. */
export async function placedAs(root: string, id: string): Promise<string | null> {
  const folder = join(root, FOLDER);
  for (const name of await readdir(folder).catch(() => [])) {
    const kept = readJson(await readPlainFile(join(folder, name)).catch(() => ''), shape);
    if (kept?.id === id && !isSideFile(kept.name)) return kept.name;
  }
  return null;
}

/** Those of these files of the inbox that we placed there, unchanged since. */
export async function placedAmong(root: string, files: readonly SeenFile[]): Promise<SeenFile[]> {
  const notes = new Set(await readdir(join(root, FOLDER)).catch(() => []));
  const noted = files.filter((file) => notes.has(noteOf(file)));
  const ids = await Promise.all(noted.map((file) => keptJob(root, file)));
  return noted.filter((_, at) => ids[at] !== null);
}

/** When the job is in its folder again, or has ended. */
export async function forgetJob(root: string, place: Place, id: string): Promise<void> {
  if ((await read(root, place))?.id === id) await rm(pathOf(root, place), { force: true });
}

/** `from`: the file, `side`: its settings; paths on the file system of the inbox. */
export interface Placed extends Place {
  readonly from: string;
  readonly side: string | null;
  /** null: it is put back. The note of its job is there, and settings there already count. */
  readonly id: string | null;
}

/**
 * Gives a file its place in the inbox, after its settings and never over another file. Says what is
 * there otherwise; then, and where it throws an error of the file system, nothing was placed. The
 * original stays, unless the file system has no hard links.
 */
export async function placeInInbox(
  root: string,
  { from, side, id, ...place }: Placed,
): Promise<'placed' | 'file there' | 'settings there'> {
  const to = placeOf(join(root, 'inbox'), place);
  const sidePlace = sideFileOf(to);
  const ino = (await lookAt(from))?.ino;
  if ((await lookAt(to)) !== null) return 'file there';
  const isSidePlaced = side !== null && (await placeAnew(side, sidePlace));
  if (side !== null && !isSidePlaced && id !== null) return 'settings there';
  const undo = async () => {
    // Where another process has put the file there, the settings are those of that file now.
    const there = await lookAt(to);
    if (isSidePlaced && (there === null || there.ino !== ino)) await rm(sidePlace, { force: true });
    for (const name of id === null ? [] : [place.name, sideFileOf(place.name)])
      await forgetJob(root, { ...place, name }, id ?? '');
  };
  // First: the file may be taken as soon as it is there; without notes that is a little later.
  if (id !== null) await note(root, place, id, from, side).catch(() => undefined);
  let isPlaced = false;
  try {
    isPlaced = await placeAnew(from, to);
  } finally {
    if (!isPlaced) await undo();
  }
  return isPlaced ? 'placed' : 'file there';
}

/** The settings beside a file; null: it has none. */
export async function sideBeside(path: string): Promise<string | null> {
  const side = sideFileOf(path);
  try {
    await lstat(side);
    return side;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ENAMETOOLONG')) return null;
    throw error;
  }
}

async function note(root: string, place: Place, id: string, from: string, side: string | null) {
  const placed = [[from, place.name], ...(side === null ? [] : [[side, sideFileOf(place.name)]])];
  for (const [path = '', name = ''] of placed) {
    const seen = await lookAt(path);
    if (seen !== null) await keepJob(root, { ...seen, ...place, name }, id);
  }
}

/**
 * Gives the file a second name; false when that is taken. Where the file system has no hard links,
 * it is moved: between look and move another file of this name would be replaced.
 */
async function placeAnew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    if (!isErrorCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
  }
  if ((await lstat(to).catch(() => null)) !== null) return false;
  await rename(from, to);
  return true;
}

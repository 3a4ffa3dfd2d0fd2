/**
 * What lies in `waiting/`.
 */
import pLimit from 'p-limit';
import type { ParkedJob } from './job-end.js';
import { jobFoldersIn } from './job-folder.js';
import { readNote } from './job-note.js';

const AT_ONCE = 16;

/** All of them, longest waiting first. A folder in which no original can be told is left alone. */
export async function listWaiting(folder: string): Promise<ParkedJob[]> {
  const limit = pLimit(AT_ONCE);
  const folders = await jobFoldersIn(folder);
  const parked = await Promise.all(folders.map((each) => limit(() => readParked(each))));
  return parked.filter((job) => job !== null).sort((a, b) => a.parkedAt - b.parkedAt);
}

async function readParked(folder: string): Promise<ParkedJob | null> {
  const note = await readNote(folder).catch(() => null);
  if (note === null) return null;
  return { folder, file: note.file, parkedAt: note.parked?.at ?? 0, memo: note.parked?.memo ?? '' };
}

/** A failed file goes back to where it was dropped, perhaps with other settings. */
import { readdir, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { parseConfigFile } from '../config/load-settings.js';
import { NeverStartError, usageProblem } from '../core/errors.js';
import { readPlainFile } from '../core/plain-file.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { lookAt, placeOf, sideFileOf } from './inbox-file.js';
import { joinSettings } from './inbox-folder-settings.js';
import { isOurs, newJobId, readRecord, writeAnew } from './job-folder.js';
import { placeInInbox, sideBeside } from './placed-files.js';

/**
 * Moves the original of a failed job, and its side file, back where it was dropped, without what
 * was made of it. Replaces nothing there. `settings`: what was chosen on its plan, joined with its
 * side file; absent: as before, and newer settings of the file in the inbox count. `root`: the
 * watched folder. Returns the file's name. Throws `NeverStartError` when the file must stay where
 * it is.
 */
export function dropAgain(
  root: string,
  folder: string,
  settings?: Readonly<Record<string, unknown>>,
): Promise<string> {
  return dropping(() => dropOne(root, folder, settings));
}

/** One after the other: two pages may start the same file. */
const dropping = pLimit(1);

async function dropOne(
  root: string,
  folder: string,
  settings: Readonly<Record<string, unknown>> | undefined,
): Promise<string> {
  const inbox = join(root, 'inbox');
  const record = await readRecord(folder).catch((error: unknown) => {
    throw staysAfter(basename(folder), error);
  });
  if (record === null) throw stays(folder, 'it is unclear which file is the original', BY_HAND);
  const { file, under } = record;
  const original = await lookAt(join(folder, file));
  if (original?.kind !== 'file') throw stays(file, 'it is not a file', 'put the file itself into the inbox');
  if (under !== undefined && (await lookAt(join(inbox, under)))?.kind !== 'folder')
    throw stays(file, 'the folder of the inbox where it was dropped is gone', `create ${join(inbox, under)}`);
  const from = join(folder, file);
  const chosen = settings && (await writeChosen(folder, sideFileOf(from), settings));
  // Without its settings it could cost more than they allow. Newer ones in the inbox count, unless
  // some were chosen.
  const placed = await (chosen === undefined ? sideBeside(from) : Promise.resolve(chosen))
    .then((side) =>
      placeInInbox(root, { name: file, under, from, side, id: newJobId() }, chosen === undefined),
    )
    .catch((error: unknown) => {
      throw staysAfter(file, error);
    });
  if (placed === 'file there')
    throw stays(file, 'the inbox has a file of this name', 'wait until that one is taken, or rename it');
  if (placed === 'settings there')
    throw stays(
      file,
      'the inbox has settings for a file of this name',
      `remove ${sideFileOf(placeOf(inbox, { name: file, under }))}`,
    );
  await rm(from, { force: true });
  // What a person put into the folder stays.
  const made = (await readdir(folder)).filter((name) => isOurs(name) || name === sideFileOf(file));
  await Promise.all(made.map((name) => rm(join(folder, name), { force: true })));
  await rmdir(folder).catch(() => undefined);
  return file;
}

const CHOSEN = '.settings';

/** Leaves the side file as it is: the file may stay. The path of what was written. */
async function writeChosen(
  folder: string,
  side: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<string> {
  const path = join(folder, CHOSEN);
  const known = await readPlainFile(side).then(
    (text) => parseConfigFile(side, text).values,
    () => ({}),
  );
  try {
    await writeAnew(path, `${JSON.stringify(joinSettings(known, settings))}\n`);
  } catch (error) {
    throw staysAfter(basename(folder), error);
  }
  return path;
}

const BY_HAND = 'put the file into the inbox yourself';

function stays(subject: string, why: string, todo: string): NeverStartError {
  return new NeverStartError(usageProblem(`the file stays where it is: ${why}`, subject, todo));
}

/** For an error of the file system. */
function staysAfter(subject: string, error: unknown): NeverStartError {
  if (isErrorCode(error, 'EEXIST', 'ENOENT'))
    return stays(subject, 'it has just been put back', 'reload the page');
  const isFull = isErrorCode(error, 'ENOSPC', 'EDQUOT');
  return stays(subject, systemWords(error), isFull ? 'free disk space, then try again' : BY_HAND);
}

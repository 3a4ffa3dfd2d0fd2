/**
 * Where outputs really go: symbolic links are followed, as a shell's `>` follows them, also those that lead to nothing yet.
 * Whether all places of a run can be written is found out here before anything is spent; writing is `output-sink.ts`'s.
 */
import { constants, type Stats } from 'node:fs';
import { access, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import {
  OUTPUT_FILES,
  type OutputFile,
  type OutputNames,
  overwritesInput,
  sameOutput,
} from './output-names.js';
import { writeFailure } from './write-failure.js';

/** As many links as Linux follows. */
const MOST_LINKS = 40;

/** The path of the file that is written when `target` is: absolute, without links but for those in a circle. */
export async function placeOf(target: string): Promise<string> {
  let path = resolve(target);
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const real = await realpath(path).catch(() => null);
    if (real !== null) return real;
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    const link = await readlink(path).catch(() => null);
    if (link === null) return join(folder, basename(path));
    path = resolve(folder, link);
  }
  return path;
}

/**
 * Throws what writing would throw, FailFileError `output-unwritable`, for a folder, for a folder that is missing and for
 * one that may not be written to; NeverStartError `usage-invalid` when a path, by links or otherwise, is the input or another output.
 */
export async function assertPlaces(input: string, names: OutputNames): Promise<void> {
  const source = input === '-' ? null : await stat(input).catch(() => null);
  const inputPlace = input === '-' ? null : await placeOf(input);
  const taken = new Map<string, OutputFile>();
  for (const file of OUTPUT_FILES) {
    const path = names[file];
    if (path === '-') continue;
    const place = await placeOf(path);
    const shown = resolve(path) === place ? path : `${path}, which leads to ${place}`;
    const existing = await stat(place).catch(() => null);
    if (place === inputPlace || isSameFile(source, existing)) throw overwritesInput(file, shown);
    const other = taken.get(place);
    if (other !== undefined) throw sameOutput(other, file, shown);
    // Pipes and devices are written as they are, and may lead to the same end.
    if (existing !== null && !existing.isFile() && !existing.isDirectory()) continue;
    taken.set(place, file);
    try {
      if (existing?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
      // With its dot it must be a folder.
      await access(`${dirname(place)}${sep}.`, constants.W_OK);
    } catch (error) {
      throw writeFailure(path, error);
    }
  }
}

/** The same folder may be mounted at two places, and a file may have two names. */
function isSameFile(one: Stats | null, other: Stats | null): boolean {
  return (
    one?.isFile() === true &&
    other !== null &&
    one.ino !== 0 &&
    one.ino === other.ino &&
    one.dev === other.dev
  );
}

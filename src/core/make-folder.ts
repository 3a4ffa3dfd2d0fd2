import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it; false when it was there. Node's recursive `mkdir` never
 * returns where a file system takes no folders (/proc), and gives ENOENT for any other cause.
 *
 * @param mode Of all folders that are made.
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error;
    makeFolder(parent, mode);
    return makeFolder(path, mode);
  }
}

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FailFileError } from './errors.js';
import { isErrorCode, systemWords } from './system-error.js';

/**
 * Makes a folder and those above it; false when it was there. Node's recursive `mkdir` never
 * returns below /proc, and gives ENOENT for any other cause.
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    const parent = dirname(path);
    if (!isErrorCode(error, 'ENOENT') || existsSync(parent)) throw error;
    makeFolder(parent, mode);
    return makeFolder(path, mode);
  }
}

/** Makes a private temporary folder in the first usable base. Throws `output-unwritable`. */
export async function makeTemporaryFolder(prefix: string, bases = [tmpdir()]): Promise<string> {
  const failures: string[] = [];
  for (const base of bases) {
    try {
      return await mkdtemp(join(base, prefix));
    } catch (error) {
      failures.push(`${base} (${systemWords(error)})`);
    }
  }
  const what = 'the temporary folder cannot be used';
  const todo = 'set TMPDIR to a folder that exists and that this user may write to';
  throw new FailFileError({ code: 'output-unwritable', what, subject: failures.join(', '), todo });
}

/**
 * The words for a file that cannot be written: what went wrong and what helps, by the system's error code.
 */
import { FailFileError } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space and run again, answers that were paid for are kept',
  EDQUOT: 'the disk quota is used up: free some space and run again, answers that were paid for are kept',
  EFBIG: 'the file is larger than the system allows: write to another place with -o',
  ENOENT: 'its folder does not exist: create it or choose another place with -o',
  ENOTDIR: 'its folder is not a folder: choose another place with -o',
  EISDIR: 'it is a folder: name a file with -o',
  EACCES: 'permission is missing: choose another place with -o or ask for write access to its folder',
  EPERM: 'permission is missing: choose another place with -o or ask for write access to its folder',
  EROFS: 'the file system is read-only: choose another place with -o',
  EPIPE: 'whoever read the output has stopped reading: run again, answers that were paid for are kept',
};

/** A {@link FailFileError} for whatever was thrown while `path` was written; one that is an interruption already stays. */
export function writeFailure(path: string, error: unknown): FailFileError {
  if (error instanceof FailFileError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new FailFileError({
    code: 'output-unwritable',
    subject: path,
    todo: ADVICE[code] ?? `${systemWords(error)}: run again, answers that were paid for are kept`,
    cause: error,
  });
}

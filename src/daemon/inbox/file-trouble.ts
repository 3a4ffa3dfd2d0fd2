/**
 * What an error of the file system means to the inbox. Pure.
 */

/** Whether it is an error of the system with one of these codes. */
export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Disk full, read-only, no permission, a share that went away: it has nothing to do with the file and may pass. */
export function isPassingTrouble(error: unknown): boolean {
  return isErrorCode(
    error,
    'ENOSPC',
    'EDQUOT',
    'EROFS',
    'EIO',
    'EACCES',
    'EPERM',
    'EMFILE',
    'ENFILE',
    'ENOMEM',
    'EBUSY',
    'ESTALE',
    'ETIMEDOUT',
    'EHOSTDOWN',
    'ENOTCONN',
  );
}

/**
 * A secret from a file of its own: the token, the secret of webhooks, the password of the dashboard. What it may look like is for each
 * to say. No message quotes what was read.
 */
import { type ErrorCode, NeverStartError } from '../core/errors.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { systemWords } from '../core/system-error.js';
import { maskTokenPath } from './mask.js';

/** How the file is spoken of when it cannot be read. */
export interface SecretFileWords {
  readonly code: ErrorCode;
  readonly what: string;
  readonly todo: string;
}

/** The text of the file, as it stands but for a byte order mark. Throws `NeverStartError` when it cannot be read. */
export function readSecretFile(path: string, { code, what, todo }: SecretFileWords): string {
  try {
    return readPlainFileSync(path).replace(/^\uFEFF/, '');
  } catch (error) {
    // Of a system's error its code alone: message and cause would name the path, which may be the secret in the wrong place.
    const reason =
      error instanceof Error && 'code' in error
        ? Object.assign(new Error('it cannot be opened'), { code: error.code })
        : error;
    throw new NeverStartError({
      code,
      what,
      subject: `${maskTokenPath(path)} (${systemWords(reason)})`,
      todo,
    });
  }
}

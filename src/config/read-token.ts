/**
 * The token, from the environment or from its file. It is returned to the one who sends it and appears nowhere
 * else: no message of this file quotes what was read.
 */
import { readFileSync } from 'node:fs';
import { NeverStartError } from '../errors.js';
import { maskTokenPath } from './mask.js';
import type { Settings } from './settings.js';

/** Longer ones are files named by mistake. */
const LONGEST_TOKEN = 4_096;

/**
 * The token that the settings name, trimmed. null when they name none.
 * Throws `NeverStartError`: `usage-token-missing` when the file cannot be read or holds nothing, `usage-invalid`
 * when it holds more than one line or what no HTTP header can carry.
 */
export function readToken(settings: Pick<Settings, 'token' | 'tokenFile'>): string | null {
  if (settings.token !== null) return cleanToken(settings.token, 'BRAND_API_TOKEN');
  if (settings.tokenFile === null) return null;
  return cleanToken(readTokenFile(settings.tokenFile), maskTokenPath(settings.tokenFile));
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new NeverStartError({
      code: 'usage-token-missing',
      what: 'the token file cannot be read',
      subject: `${maskTokenPath(path)}${reason}`,
      todo: 'name one that can with --token-file, or set BRAND_API_TOKEN',
    });
  }
}

function cleanToken(text: string, subject: string): string {
  const token = text.trim();
  if (token === '') {
    throw new NeverStartError({
      code: 'usage-token-missing',
      what: 'the token is empty',
      subject,
      todo: 'put the token there, on one line',
    });
  }
  if (/^bearer\s/i.test(token)) {
    throw malformed(subject, 'leave out the word Bearer: it is added when the token is sent');
  }
  if (token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    throw malformed(
      subject,
      'it is one line of letters, digits and signs without blanks (its content is not shown)',
    );
  }
  return token;
}

function malformed(subject: string, todo: string): NeverStartError {
  return new NeverStartError({ code: 'usage-invalid', what: 'this cannot be a token', subject, todo });
}

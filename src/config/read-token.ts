/**
 * The token, from the environment or from its file. It is returned to the one who sends it and appears nowhere
 * else: no message of this file quotes what was read.
 */
import { NeverStartError } from '../core/errors.js';
import { keepSecret } from '../core/secrets.js';
import { maskTokenPath } from './mask.js';
import { readSecretFile, type SecretFileWords } from './read-secret-file.js';
import type { Settings } from './settings.js';
import { tokenValue } from './token-value.js';

const UNREADABLE: SecretFileWords = {
  code: 'usage-token-missing',
  what: 'the token file cannot be read',
  todo: 'name one that can with --token-file, or set BRAND_API_TOKEN',
};

/**
 * The token that the settings name, trimmed. null when they name none.
 * Throws `NeverStartError`: `usage-token-missing` when the file cannot be read or holds nothing, `usage-invalid`
 * when it holds more than one line or what no HTTP header can carry.
 */
export function readToken(settings: Pick<Settings, 'token' | 'tokenFile'>): string | null {
  if (settings.token !== null) return cleanToken(settings.token, 'BRAND_API_TOKEN');
  if (settings.tokenFile === null) return null;
  return cleanToken(readSecretFile(settings.tokenFile, UNREADABLE), maskTokenPath(settings.tokenFile));
}

function cleanToken(text: string, subject: string): string {
  const parsed = tokenValue.parse([text]);
  if (parsed.ok) {
    keepSecret(parsed.value);
    return parsed.value;
  }
  const isEmpty = text.trim() === '';
  throw new NeverStartError({
    code: isEmpty ? 'usage-token-missing' : 'usage-invalid',
    what: isEmpty ? 'the token is empty' : 'what this holds (not shown) is not a token',
    subject,
    todo: `write ${parsed.refusal.write}`,
  });
}

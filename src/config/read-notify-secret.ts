/**
 * The secret that webhooks are signed with, from the environment or from its file. No message of this file quotes what was
 * read.
 */
import { NeverStartError } from '../core/errors.js';
import { maskTokenPath } from './mask.js';
import { notifySecretValue } from './notify-values.js';
import { readSecretFile, type SecretFileWords } from './read-secret-file.js';
import type { Settings } from './settings.js';

const UNREADABLE: SecretFileWords = {
  code: 'usage-invalid',
  what: 'the file of the secret cannot be read',
  todo: 'name one that can with --notify-secret-file, or set BRAND_ENRICH_NOTIFY_SECRET',
};

/** null when the settings name none. Throws `NeverStartError` when the file cannot be read or holds no secret. */
export function readNotifySecret(
  settings: Pick<Settings, 'notifySecret' | 'notifySecretFile'>,
): string | null {
  const { notifySecret, notifySecretFile: path } = settings;
  if (notifySecret !== null || path === null) return notifySecret;
  const parsed = notifySecretValue.parse([readSecretFile(path, UNREADABLE)]);
  if (parsed.ok) return parsed.value;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'what this file holds (not shown) is not a secret',
    subject: maskTokenPath(path),
    todo: `write ${parsed.refusal.write}`,
  });
}

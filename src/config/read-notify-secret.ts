/**
 * The secret that webhooks are signed with, from the environment or from its file. No message of this file quotes what was
 * read.
 */
import { readFileSync } from 'node:fs';
import { NeverStartError } from '../errors.js';
import { maskTokenPath } from './mask.js';
import { notifySecretValue } from './notify-values.js';
import type { Settings } from './settings.js';

/** null when the settings name none. Throws `NeverStartError` when the file cannot be read or holds no secret. */
export function readNotifySecret(
  settings: Pick<Settings, 'notifySecret' | 'notifySecretFile'>,
): string | null {
  const { notifySecret, notifySecretFile: path } = settings;
  if (notifySecret !== null || path === null) return notifySecret;
  const parsed = notifySecretValue.parse([readSecretFile(path)]);
  if (parsed.ok) return parsed.value;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'what this file holds (not shown) is not a secret',
    subject: maskTokenPath(path),
    todo: `write ${parsed.refusal.write}`,
  });
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    // No cause: its message would name the path, which may be the secret in the wrong place.
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'the file of the secret cannot be read',
      subject: `${maskTokenPath(path)}${reason}`,
      todo: 'name one that can with --notify-secret-file, or set BRAND_ENRICH_NOTIFY_SECRET',
    });
  }
}

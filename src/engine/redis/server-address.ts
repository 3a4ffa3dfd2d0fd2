/**
 * The address of a Redis server as people may see it: never with user or password, never with query parameters.
 */
import { NeverStartError } from '../../core/errors.js';

const PROTOCOLS = ['redis:', 'rediss:'];

/** `redis://host:port/db`. Throws `NeverStartError` when the text is not a Redis address; the text itself is not repeated. */
export function shownAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !PROTOCOLS.includes(parsed.protocol) || parsed.hostname === '') {
    throw new NeverStartError({
      code: 'usage-invalid',
      subject: "the engine's address",
      todo: 'write it as redis://host:6379 or rediss://user:password@host:6379/0',
    });
  }
  const path = parsed.pathname === '/' ? '' : parsed.pathname;
  return `${parsed.protocol}//${parsed.hostname}:${parsed.port || '6379'}${path}`;
}

/**
 * The address of a PostgreSQL server: what people are shown of it, and what each session is told when it starts.
 */
import { FailFileError } from '../../core/errors.js';

/**
 * What our SQL and BullMQ's rely on, whatever the server's defaults are: BullMQ's names without a schema, and
 * statements that see what was committed before them.
 */
export const SESSION_OPTIONS =
  '-c search_path=bullmq,public -c default_transaction_isolation=read\\ committed';

/** The address without user, password and parameters: `postgres://host:port/database`. */
export function shownAddress(url: string): string {
  const parsed = parseUrl(url);
  return `postgres://${parsed.host}${parsed.pathname}`;
}

/** The address with our session options added to those that it brings. */
export function sessionAddress(url: string): string {
  const parsed = parseUrl(url);
  const own = parsed.searchParams.get('options');
  parsed.searchParams.set('options', own === null ? SESSION_OPTIONS : `${own} ${SESSION_OPTIONS}`);
  return parsed.href;
}

/** Cuts the password out of a text that may quote the address. */
export function withoutPassword(text: string, url: string): string {
  const { password } = parseUrl(url);
  if (password === '') return text;
  return text.replaceAll(password, '[removed]').replaceAll(decoded(password), '[removed]');
}

/** A text with a stray `%` is as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    // The text is not quoted: it may hold a password.
    throw new FailFileError({
      code: 'engine-unreachable',
      what: 'the address of the engine cannot be read',
      subject: 'postgres://…',
      todo: 'write it as postgres://user:password@host:port/database',
    });
  }
}

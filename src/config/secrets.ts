/** The token, the secret of webhooks, the dashboard's password. No message quotes one. */
import { NeverStartError } from '../core/errors.js';
import { phrase } from '../core/phrase.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { keepSecret } from '../core/secrets.js';
import { systemWords } from '../core/system-error.js';
import { isLoopbackHost, maskTokenPath } from './address-values.js';
import { oneText, Refusal, type ValueKind } from './parse-value.js';

/** A longer one is a file named by mistake. */
const LONGEST_SECRET = 4_096;
const LONGEST_PASSWORD = 1_024;
/** A shorter one could be found by trying. */
const SHORTEST_SECRET = 16;
const SHORTEST_PASSWORD = 12;

/** Trimmed. The word Bearer is refused, not cut off, so that it is clear what the token is. */
export const tokenValue = oneText('TOKEN', (seen) => {
  const token = seen.trim();
  if (/^bearer\s/i.test(token)) return new Refusal('a token', 'the token without the word Bearer');
  if (token.length <= LONGEST_SECRET && /^[\x21-\x7e]+$/.test(token)) return token;
  return new Refusal('a token', 'one line of letters, digits and signs, without blanks');
});

/** Trimmed: `whsec_` and base64 (Standard Webhooks), or any text of one line. */
export const notifySecretValue = oneText('SECRET', (seen) => {
  const secret = seen.trim();
  if (secret.length < SHORTEST_SECRET || secret.length > LONGEST_SECRET || /[\r\n\0]/.test(secret))
    return new Refusal('a secret', `one line of ${SHORTEST_SECRET} characters or more`);
  return !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)
    ? secret
    : new Refusal('a secret', 'base64 after whsec_, or a text that does not begin with it');
});

/** Trimmed: one line. */
export const dashboardPasswordValue = oneText('PASSWORD', (seen) => {
  const password = seen.trim();
  const { length } = password;
  if (length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD && !/\p{Cc}/u.test(password)) return password;
  return new Refusal('a password', `one line of ${SHORTEST_PASSWORD} characters or more`);
});

/** Where a secret comes from, for messages. */
interface Source {
  readonly kind: ValueKind<string>;
  readonly variable: string;
  /** Its setting; that of its file has `File` after it. */
  readonly key: string;
  /** What its file is called. */
  readonly file: string;
  /** The message for an invalid one. */
  readonly wrong: string;
}

/**
 * The token that the settings name, trimmed. null when they name none. Throws `NeverStartError`:
 * `usage-token-missing` when the file cannot be read or holds nothing, `usage-invalid` when it
 * holds more than one line or what no HTTP header can carry.
 */
export function readToken(settings: Readonly<Record<'token' | 'tokenFile', string | null>>): string | null {
  const token = readSecret(settings.token, settings.tokenFile, {
    kind: tokenValue,
    variable: 'BRAND_API_TOKEN',
    key: 'token',
    file: 'token file',
    wrong: 'its content (not shown) is not a token',
  });
  if (token !== null) keepSecret(token);
  return token;
}

/** null: there is none. Throws `NeverStartError` if the file cannot be read or holds no secret. */
export function readNotifySecret(
  settings: Readonly<Record<'notifySecret' | 'notifySecretFile', string | null>>,
): string | null {
  return readSecret(settings.notifySecret, settings.notifySecretFile, {
    kind: notifySecretValue,
    variable: 'BRAND_ENRICH_NOTIFY_SECRET',
    key: 'notifySecret',
    file: 'file of the secret',
    wrong: 'its content (not shown) is not a secret',
  });
}

/**
 * The password that the settings name; null when they name none, which only a dashboard on loopback
 * may do. Throws `NeverStartError` `usage-invalid` when others could reach a dashboard without one,
 * and when the file cannot be read or holds no password.
 */
export function readDashboardPassword(settings: {
  readonly dashboardHost: string;
  readonly dashboardPassword: string | null;
  readonly dashboardPasswordFile: string | null;
}): string | null {
  const password = readSecret(settings.dashboardPassword, settings.dashboardPasswordFile, {
    kind: dashboardPasswordValue,
    variable: 'BRAND_ENRICH_DASHBOARD_PASSWORD',
    key: 'dashboardPassword',
    file: 'file of the password',
    wrong: 'its content (not shown) cannot be used as a password',
  });
  if (password !== null || isLoopbackHost(settings.dashboardHost)) return password;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'a dashboard outside loopback needs a password',
    subject: phrase`${{ set: { dashboardHost: settings.dashboardHost } }}`,
    todo: phrase`set BRAND_ENRICH_DASHBOARD_PASSWORD or ${{ setting: 'dashboardPasswordFile' }}, or use host 127.0.0.1`,
  });
}

function readSecret(given: string | null, path: string | null, source: Source): string | null {
  if (given === null && path === null) return null;
  const text = given ?? readSecretFile(path ?? '', source);
  const secret = source.kind.parse([text]);
  if (!(secret instanceof Refusal)) return secret;
  const isMissing = source.kind === tokenValue && text.trim() === '';
  throw new NeverStartError({
    code: isMissing ? 'usage-token-missing' : 'usage-invalid',
    what: isMissing ? 'the token is empty' : source.wrong,
    subject: given === null ? maskTokenPath(path ?? '') : source.variable,
    todo: `write ${secret.write}`,
  });
}

/** The file's text without a byte order mark. */
function readSecretFile(path: string, { kind, file, key, variable }: Source): string {
  try {
    return readPlainFileSync(path).replace(/^\uFEFF/, '');
  } catch (error) {
    // Message and cause of a system error name the path: perhaps the secret in the wrong place.
    const reason =
      error instanceof Error && 'code' in error
        ? Object.assign(new Error('it cannot be opened'), { code: error.code })
        : error;
    throw new NeverStartError({
      code: kind === tokenValue ? 'usage-token-missing' : 'usage-invalid',
      what: `the ${file} cannot be read`,
      subject: `${maskTokenPath(path)} (${systemWords(reason)})`,
      todo: phrase`give a readable file with ${{ setting: `${key}File` }}, or set ${variable}`,
    });
  }
}

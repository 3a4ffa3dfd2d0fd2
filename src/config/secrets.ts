/**
 * The secrets: the token, what webhooks are signed with, the dashboard's password. What each may
 * look like, and how it is read from the environment or from a file of its own. No message quotes
 * one.
 */
import { type ErrorCode, NeverStartError } from '../core/errors.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { keepSecret } from '../core/secrets.js';
import { systemWords } from '../core/system-error.js';
import { isLoopbackHost, maskTokenPath } from './address-values.js';
import { accepted, oneText, refused, type ValueKind } from './parse-value.js';

/** A longer one is a file named by mistake. */
const LONGEST_SECRET = 4_096;
const LONGEST_PASSWORD = 1_024;
/** A shorter one could be found by trying. */
const SHORTEST_SECRET = 16;
const SHORTEST_PASSWORD = 12;

/**
 * Trimmed. The word Bearer is refused rather than cut off, so that everybody knows what the token
 * is.
 */
export const tokenValue: ValueKind<string> = oneText('TOKEN', (seen) => {
  const token = seen.trim();
  if (/^bearer\s/i.test(token))
    return refused('a token', 'it without the word Bearer, which is added on sending');
  const isRight = token.length <= LONGEST_SECRET && /^[\x21-\x7e]+$/.test(token);
  return isRight
    ? accepted(token)
    : refused('a token', 'one line of letters, digits and signs without blanks');
});

/**
 * Trimmed. `whsec_` and base64 as the Standard Webhooks specification has it, or any text of one
 * line.
 */
export const notifySecretValue: ValueKind<string> = oneText('SECRET', (seen) => {
  const secret = seen.trim();
  const isRight =
    secret.length >= SHORTEST_SECRET && secret.length <= LONGEST_SECRET && /^[^\r\n\0]+$/.test(secret);
  if (!isRight) return refused('a secret', `one line of ${SHORTEST_SECRET} characters or more`);
  return !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)
    ? accepted(secret)
    : refused('a secret', 'base64 after whsec_, or a text that does not begin with it');
});

/** Trimmed: one line. */
export const dashboardPasswordValue: ValueKind<string> = oneText('PASSWORD', (seen) => {
  const password = seen.trim();
  const isRight =
    password.length >= SHORTEST_PASSWORD && password.length <= LONGEST_PASSWORD && !/\p{Cc}/u.test(password);
  return isRight
    ? accepted(password)
    : refused('a password', `one line of ${SHORTEST_PASSWORD} characters or more`);
});

/**
 * The token that the settings name, trimmed. null when they name none. Throws `NeverStartError`:
 * `usage-token-missing` when the file cannot be read or holds nothing, `usage-invalid` when it
 * holds more than one line or what no HTTP header can carry.
 */
export function readToken(settings: {
  readonly token: string | null;
  readonly tokenFile: string | null;
}): string | null {
  const { token, tokenFile: path } = settings;
  if (token === null && path === null) return null;
  const text =
    token ??
    readSecretFile(path ?? '', 'token file', 'usage-token-missing', '--token-file', 'BRAND_API_TOKEN');
  const subject = token === null ? maskTokenPath(path ?? '') : 'BRAND_API_TOKEN';
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

/**
 * null when the settings name none. Throws `NeverStartError` when the file cannot be read or holds
 * no secret.
 */
export function readNotifySecret(settings: {
  readonly notifySecret: string | null;
  readonly notifySecretFile: string | null;
}): string | null {
  const { notifySecret, notifySecretFile: path } = settings;
  if (notifySecret !== null || path === null) return notifySecret;
  const text = readSecretFile(
    path,
    'file of the secret',
    'usage-invalid',
    '--notify-secret-file',
    'BRAND_ENRICH_NOTIFY_SECRET',
  );
  return parseSecret(notifySecretValue, text, path, 'a secret');
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
  const { dashboardHost: host, dashboardPassword, dashboardPasswordFile: path } = settings;
  if (dashboardPassword !== null) return dashboardPassword;
  if (path !== null) {
    const text = readSecretFile(
      path,
      'file of the password',
      'usage-invalid',
      '--dashboard-password-file',
      'BRAND_ENRICH_DASHBOARD_PASSWORD',
    );
    return parseSecret(dashboardPasswordValue, text, path, 'a password');
  }
  if (isLoopbackHost(host)) return null;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'a dashboard that others can reach needs a password',
    subject: `--dashboard-host ${host}`,
    todo: 'set BRAND_ENRICH_DASHBOARD_PASSWORD or name a file with --dashboard-password-file, or leave the host at 127.0.0.1',
  });
}

function parseSecret(kind: ValueKind<string>, text: string, path: string, expected: string): string {
  const parsed = kind.parse([text]);
  if (parsed.ok) return parsed.value;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: `what this file holds (not shown) is not ${expected}`,
    subject: maskTokenPath(path),
    todo: `write ${parsed.refusal.write}`,
  });
}

/** The file's text without a byte order mark. Throws `NeverStartError` when it cannot be read. */
function readSecretFile(path: string, name: string, code: ErrorCode, flag: string, variable: string): string {
  try {
    return readPlainFileSync(path).replace(/^\uFEFF/, '');
  } catch (error) {
    // Message and cause of a system error name the path, which may be the secret in the wrong
    // place.
    const reason =
      error instanceof Error && 'code' in error
        ? Object.assign(new Error('it cannot be opened'), { code: error.code })
        : error;
    throw new NeverStartError({
      code,
      what: `the ${name} cannot be read`,
      subject: `${maskTokenPath(path)} (${systemWords(reason)})`,
      todo: `name one that can with ${flag}, or set ${variable}`,
    });
  }
}

/** Reads the token, the webhook secret and the dashboard password. No message quotes one. */
import { ConfigError } from '../core/errors.js';
import { phrase } from '../core/phrase.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { keepSecret } from '../core/secrets.js';
import { systemWords } from '../core/system-error.js';
import { isLoopbackHost, maskTokenPath } from './address-values.js';
import { oneText, Refusal } from './parse-value.js';

/** A longer secret is a file named by mistake. */
const LONGEST_SECRET = 4_096;
const LONGEST_PASSWORD = 1_024;
/** A shorter secret could be guessed. */
const SHORTEST_SECRET = 16;
const SHORTEST_PASSWORD = 12;

/** The trimmed token. The word Bearer is refused, so that it is clear what a token is. */
export const tokenValue = oneText('TOKEN', (seen) => {
  const token = seen.trim();
  if (/^bearer\s/i.test(token)) return new Refusal('a token', 'the token without the word Bearer');
  if (token.length <= LONGEST_SECRET && /^[\x21-\x7e]+$/.test(token)) return token;
  return new Refusal('a token', 'one line of letters, digits and signs, without blanks');
});

/** The trimmed secret: `whsec_` and base64 (Standard Webhooks), or any one-line text. */
export const notifySecretValue = oneText('SECRET', (seen) => {
  const secret = seen.trim();
  if (secret.length < SHORTEST_SECRET || secret.length > LONGEST_SECRET || /[\r\n\0]/.test(secret))
    return new Refusal('a secret', `one line of ${SHORTEST_SECRET} characters or more`);
  return !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)
    ? secret
    : new Refusal('a secret', 'base64 after whsec_, or a text that does not begin with it');
});

/** The trimmed password, of one line. */
export const dashboardPasswordValue = oneText('PASSWORD', (seen) => {
  const password = seen.trim();
  const { length } = password;
  if (length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD && !/\p{Cc}/u.test(password)) return password;
  return new Refusal('a password', `one line of ${SHORTEST_PASSWORD} characters or more`);
});

/** Each secret stands in its setting, or in the file that the setting with `File` names. */
const SECRETS = {
  token: { kind: tokenValue, variable: 'BRAND_API_TOKEN', noun: 'token' },
  notifySecret: { kind: notifySecretValue, variable: 'BRAND_ENRICH_NOTIFY_SECRET', noun: 'secret' },
  dashboardPassword: {
    kind: dashboardPasswordValue,
    variable: 'BRAND_ENRICH_DASHBOARD_PASSWORD',
    noun: 'password',
  },
};
type SecretKey = keyof typeof SECRETS;
type SecretSettings<Key extends SecretKey> = Readonly<Record<Key | `${Key}File`, string | null>>;

/** Reads the token, or null. Throws `usage-token-missing`, `usage-invalid` for other content. */
export function readToken(settings: SecretSettings<'token'>): string | null {
  const token = readSecret(settings, 'token');
  if (token !== null) keepSecret(token);
  return token;
}

/** Reads the webhook secret; null if none is set. Throws `usage-invalid` for a useless file. */
export function readNotifySecret(settings: SecretSettings<'notifySecret'>): string | null {
  return readSecret(settings, 'notifySecret');
}

/** Reads the dashboard password; null is allowed only on loopback. Throws `usage-invalid`. */
export function readDashboardPassword(
  settings: SecretSettings<'dashboardPassword'> & { readonly dashboardHost: string },
): string | null {
  const { dashboardHost } = settings;
  const { variable } = SECRETS.dashboardPassword;
  const password = readSecret(settings, 'dashboardPassword');
  if (password !== null || isLoopbackHost(dashboardHost)) return password;
  throw new ConfigError({
    code: 'usage-invalid',
    what: 'a dashboard outside loopback needs a password',
    subject: phrase`${{ set: { dashboardHost } }}`,
    todo: phrase`set ${variable} or ${{ setting: 'dashboardPasswordFile' }}, or use host 127.0.0.1`,
  });
}

function readSecret<Key extends SecretKey>(settings: SecretSettings<Key>, key: Key): string | null {
  const { kind, variable, noun } = SECRETS[key];
  const directText = settings[key];
  const path = settings[`${key}File`];
  if (directText === null && path === null) return null;
  const text = directText ?? readSecretFile(path ?? '', key);
  const secret = kind.parse([text]);
  if (!(secret instanceof Refusal)) return secret;
  const isMissing = key === 'token' && text.trim() === '';
  throw new ConfigError({
    code: isMissing ? 'usage-token-missing' : 'usage-invalid',
    what: isMissing ? 'the token is empty' : `its content (not shown) is not a ${noun}`,
    subject: directText === null ? maskTokenPath(path ?? '') : variable,
    todo: `write ${secret.write}`,
  });
}

function readSecretFile(path: string, key: SecretKey): string {
  const { variable, noun } = SECRETS[key];
  try {
    return readPlainFileSync(path).replace(/^\uFEFF/, '');
  } catch (error) {
    // A system error names the path, which may be the secret in the wrong place.
    const reason =
      error instanceof Error && 'code' in error
        ? Object.assign(new Error('it cannot be opened'), { code: error.code })
        : error;
    throw new ConfigError({
      code: key === 'token' ? 'usage-token-missing' : 'usage-invalid',
      what: `the file of the ${noun} cannot be read`,
      subject: `${maskTokenPath(path)} (${systemWords(reason)})`,
      todo: phrase`give a readable file with ${{ setting: `${key}File` }}, or set ${{
        setting: key,
        shell: variable,
      }}`,
    });
  }
}

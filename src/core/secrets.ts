/** Removes secrets by their value, wherever they appear: a service may echo the token. */
import { isJsonText } from './json-text.js';

/** A shorter secret occurs in words by chance, and cannot be kept secret. */
const SHORTEST = 4;
const REMOVED = '***';

/** Returns a text without certain secrets. Pure. */
export type Redact = (text: string) => string;

export function createRedact(secrets: readonly string[], instead = REMOVED): Redact {
  const pattern = patternOf(secrets);
  return pattern === null ? (text) => text : (text) => text.replace(pattern, () => instead);
}

/** Matches each secret as it stands, encoded for an address, and escaped for JSON. */
function patternOf(secrets: readonly string[]): RegExp | null {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [[...secret].map(signPattern).join(''), literal(encodeURIComponent(secret))]);
  return forms.length === 0 ? null : new RegExp([...new Set(forms)].join('|'), 'gi');
}

function signPattern(sign: string): string {
  const code = sign.charCodeAt(0).toString(16).padStart(4, '0');
  const escapable = /["\\/]/.test(sign) ? '\\\\?' : '';
  return `(?:${escapable}${literal(sign)}|\\\\u${code})`;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** A shorter secret (`test`) may be part of a file or host name in our texts. */
const SHORTEST_KEPT = 16;
const keptSecrets = new Set<string>();
let redactKept: Redact = (text) => text;

/** Makes {@link withoutSecrets} remove this secret from now on, if it has 16 characters. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST_KEPT || keptSecrets.has(secret)) return;
  keptSecrets.add(secret);
  redactKept = createRedact([...keptSecrets]);
}

/** Removes all kept secrets from a text. */
export function withoutSecrets(text: string): string {
  return redactKept(text);
}

/** Removes kept secrets from JSON, which stays valid: a secret may be a number or a key. */
export function jsonWithoutSecrets(json: string): string {
  const redacted = redactKept(json);
  if (redacted === json || isJsonText(redacted) || !isJsonText(json)) return redacted;
  const inTexts = (_key: string, value: unknown) => (typeof value === 'string' ? redactKept(value) : value);
  return JSON.stringify(JSON.parse(json), inTexts) + (json.endsWith('\n') ? '\n' : '');
}

/** Removes secrets by their value: a service may send the token as its error code. */
import { isJsonText } from './json-text.js';

/** A shorter one occurs in words by chance, and cannot be kept secret. */
const SHORTEST = 4;
const REMOVED = '***';

/** The same text without these secrets. Pure. */
export type Redact = (text: string) => string;

export function createRedact(secrets: readonly string[], instead = REMOVED): Redact {
  const pattern = patternOf(secrets);
  return pattern === null ? (text) => text : (text) => text.replace(pattern, () => instead);
}

/** As it stands, as a part of an address, and with signs escaped as JSON may do it. */
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

/** Our texts name files and hosts, which may contain a shorter one (`test`) by chance. */
const SHORTEST_KEPT = 16;
const kept = new Set<string>();
let redactKept: Redact = (text) => text;

/** From now on {@link withoutSecrets} removes it in this process, if it is long enough. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST_KEPT || kept.has(secret)) return;
  kept.add(secret);
  redactKept = createRedact([...kept]);
}

/** The text without any kept secret. */
export function withoutSecrets(text: string): string {
  return redactKept(text);
}

/** The same of a JSON text, which stays one: a secret may look like a number or a key. */
export function jsonWithoutSecrets(json: string): string {
  const redacted = redactKept(json);
  if (redacted === json || isJsonText(redacted) || !isJsonText(json)) return redacted;
  const inTexts = (_key: string, value: unknown) => (typeof value === 'string' ? redactKept(value) : value);
  return JSON.stringify(JSON.parse(json), inTexts) + (json.endsWith('\n') ? '\n' : '');
}

/**
 * Who may look: whoever knows the password, or holds a cookie that was given for it. The cookie holds nothing of the password;
 * it is signed with a key of this process, so that it ends with it.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Sessions {
  /** In a time that does not depend on how much of it is right. */
  isPassword(text: string): boolean;
  /** A value for a cookie, good for `SESSION_MS`. */
  open(now: number): string;
  isOpen(value: string, now: number): boolean;
}

export const SESSION_MS = 7 * 86_400_000;

export function createSessions(password: string): Sessions {
  const key = randomBytes(32);
  const digest = digestOf(password);
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return {
    isPassword: (text) => timingSafeEqual(digestOf(text), digest),
    open(now) {
      const until = String(now + SESSION_MS);
      return `${until}.${sign(until)}`;
    },
    isOpen(value, now) {
      const [until = '', signature = ''] = value.split('.');
      const isOurs = timingSafeEqual(digestOf(signature), digestOf(sign(until)));
      return isOurs && Number(until) > now;
    },
  };
}

/** A password that nobody can guess, for a process that was given none. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** The password of a header `Authorization: Basic …`, whatever the user's name; null where there is none. */
export function basicPassword(header: string | undefined): string | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : text.slice(colon + 1);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

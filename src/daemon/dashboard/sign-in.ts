/**
 * Who may look: whoever knows the password, or holds a cookie that was given for it. The cookie holds
 * nothing of the password; it is signed with a key of this process, so it ends with the process. After
 * a few wrong passwords each further attempt from the same address has to wait, longer and longer; until
 * then not even the right password is accepted, or trying in parallel would get round the wait.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';

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

export interface GuessLimit {
  /** How long this address has to wait before its next attempt is looked at; 0: not at all. */
  waitMs(address: string, now: number): number;
  noteWrong(address: string, now: number): void;
  noteRight(address: string): void;
}

const FREE_GUESSES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** An address that has been silent for so long begins anew. */
const FORGET_AFTER_MS = 15 * 60_000;
/** What is remembered is bounded: beyond it the address that was silent for longest is forgotten. */
const ADDRESSES_AT_MOST = 1_000;

/** The wait after so many wrong guesses in a row: none for the first five, then 1 s, doubled each time, up to a minute. */
export function waitAfter(wrong: number): number {
  if (wrong < FREE_GUESSES) return 0;
  return Math.min(FIRST_WAIT_MS * 2 ** (wrong - FREE_GUESSES), LONGEST_WAIT_MS);
}

export function createGuessLimit(): GuessLimit {
  const known = new Map<string, { wrong: number; at: number }>();

  function recall(address: string, now: number) {
    const name = sourceOf(address);
    const found = known.get(name);
    if (found !== undefined && now - found.at > FORGET_AFTER_MS) known.delete(name);
    return known.get(name);
  }

  return {
    waitMs(address, now) {
      const found = recall(address, now);
      return found === undefined ? 0 : Math.max(0, found.at + waitAfter(found.wrong) - now);
    },
    noteWrong(address, now) {
      const wrong = (recall(address, now)?.wrong ?? 0) + 1;
      const name = sourceOf(address);
      // Set anew, so that the map stays in the order of the last guess.
      known.delete(name);
      known.set(name, { wrong, at: now });
      const oldest = known.keys().next();
      if (known.size > ADDRESSES_AT_MOST && !oldest.done) known.delete(oldest.value);
    },
    noteRight(address) {
      known.delete(sourceOf(address));
    },
  };
}

/** Who has one IPv6 address has the 2^64 beside it too. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array.from({ length: zeros }, () => '0'), ...rest].slice(0, 4).join(':');
}

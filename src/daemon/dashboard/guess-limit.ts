/**
 * Slows down who guesses passwords: after a few wrong ones each further attempt from the same address has to wait, longer and
 * longer. While it has to, not even the right password is looked at, or trying in parallel would get round the wait. Who has
 * signed in is not concerned.
 */
import { isIPv6 } from 'node:net';

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

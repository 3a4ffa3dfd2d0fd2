/**
 * The breaker of one process: when most answers are of no use because the service is down or refuses everything as
 * too much, asking goes on with one probe at a time, and nobody's attempts are consumed.
 *
 *   closed   everybody passes. Left when the last 8 answers were all bad, or more than half of the last 20.
 *   open     one probe passes when its time has come; the others are turned away until then. A good answer
 *            closes; a bad one doubles the time to the next probe, up to 10 s.
 */

const WINDOW = 20;
const ALL_BAD = 8;
const PROBE_FIRST_MS = 1_000;
const PROBE_LAST_MS = 10_000;

export type Passage =
  | { readonly type: 'pass' }
  | { readonly type: 'turned_away'; readonly retryInMs: number };

export interface Breaker {
  /** Asked before each request. Who passes must `note` the answer, or `forgo` when nothing was sent. */
  enter(now: number): Passage;
  note(isGood: boolean, now: number): void;
  forgo(): void;
  readonly isOpen: boolean;
  /** Whether there has been a good answer at all. */
  readonly hasBeenGood: boolean;
  /** How long there has been no good answer while bad ones came; 0 when the last one was good. */
  badForMs(now: number): number;
}

export function createBreaker(): Breaker {
  let recent: boolean[] = [];
  let isOpen = false;
  let isProbing = false;
  let probeMs = PROBE_FIRST_MS;
  let nextProbeAt = 0;
  let badSince: number | null = null;
  let hasBeenGood = false;
  return {
    get isOpen() {
      return isOpen;
    },
    get hasBeenGood() {
      return hasBeenGood;
    },
    enter(now) {
      if (!isOpen) return { type: 'pass' };
      if (isProbing) return { type: 'turned_away', retryInMs: Math.max(500, Math.min(probeMs, 5_000)) };
      if (now < nextProbeAt) return { type: 'turned_away', retryInMs: nextProbeAt - now };
      isProbing = true;
      return { type: 'pass' };
    },
    note(isGood, now) {
      isProbing = false;
      if (isGood) {
        hasBeenGood = true;
        badSince = null;
        if (isOpen) recent = [];
        isOpen = false;
        probeMs = PROBE_FIRST_MS;
      } else badSince ??= now;
      recent.push(isGood);
      if (recent.length > WINDOW) recent.shift();
      if (isGood) return;
      if (isOpen) {
        probeMs = Math.min(probeMs * 2, PROBE_LAST_MS);
        nextProbeAt = now + probeMs;
        return;
      }
      const bad = recent.filter((good) => !good).length;
      const isAllBad = recent.length >= ALL_BAD && recent.slice(-ALL_BAD).every((good) => !good);
      if (isAllBad || (recent.length === WINDOW && bad > WINDOW / 2)) {
        isOpen = true;
        nextProbeAt = now + probeMs;
      }
    },
    forgo() {
      isProbing = false;
    },
    badForMs: (now) => (badSince === null ? 0 : now - badSince),
  };
}

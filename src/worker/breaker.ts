/**
 * The breaker of one process: when most answers are of no use because the service is down or refuses everything as
 * too much, asking goes on with one probe at a time, and nobody's attempts are consumed.
 *
 *   closed   everybody passes. Left when the last 8 answers were all bad, or more than half of the last 20.
 *   open     one probe passes when its time has come; the others are rejected until then. A good answer
 *            closes; a bad probe doubles the time to the next one, up to 10 s. Bad answers to requests from before
 *            change nothing: many of them come at once.
 */

const WINDOW = 20;
const ALL_BAD = 8;
const PROBE_FIRST_MS = 1_000;
const PROBE_LAST_MS = 10_000;

/** Handed back with the answer, so that a probe is known from those who passed before it. */
export interface Pass {
  readonly type: 'pass';
  readonly isProbe: boolean;
}

type Admission = Pass | { readonly type: 'rejected'; readonly retryInMs: number };

export interface Breaker {
  /** Asked before each request. Who passes must `note` the answer, or `cancel` when nothing was sent. */
  enter(now: number): Admission;
  note(pass: Pass, isGood: boolean, now: number): void;
  cancel(pass: Pass): void;
  readonly isOpen: boolean;
  /** Whether there has been a good answer at all. */
  readonly hasBeenGood: boolean;
  /** How long there has been no good answer while bad ones came; 0 when the last one was good. */
  badForMs(now: number): number;
}

export function createBreaker(): Breaker {
  let recent: boolean[] = [];
  let isOpen = false;
  let probe: Pass | null = null;
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
      if (!isOpen) return { type: 'pass', isProbe: false };
      if (probe !== null) return { type: 'rejected', retryInMs: Math.max(500, Math.min(probeMs, 5_000)) };
      if (now < nextProbeAt) return { type: 'rejected', retryInMs: nextProbeAt - now };
      probe = { type: 'pass', isProbe: true };
      return probe;
    },
    note(pass, isGood, now) {
      const isProbe = pass === probe;
      if (isProbe || isGood) probe = null;
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
        if (!isProbe) return;
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
    cancel(pass) {
      if (pass === probe) probe = null;
    },
    badForMs: (now) => (badSince === null ? 0 : now - badSince),
  };
}

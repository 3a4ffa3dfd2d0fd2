/**
 * The breaker of one process: when most answers are of no use because the service is down or
 * refuses everything as too much, asking goes on with one probe at a time, and no lookup's attempts
 * are consumed.
 *
 *   closed   all requests pass. Left when the last 8 answers or most of the last 20 were bad.
 *   open     one probe passes when its time has come; the others are rejected until then. A good
 *            answer closes; a bad probe doubles the time to the next, up to 10 s. Bad answers to
 *            requests from before change nothing: many of them come at once.
 */

const WINDOW = 20;
const ALL_BAD = 8;
const PROBE_FIRST_MS = 1_000;
const PROBE_LAST_MS = 10_000;
/** Without a request for so long an outage may be over. A service may ask for a pause of 15 min. */
const UNSEEN_MS = 1_200_000;

/** Handed back with the answer, which tells a probe from requests that passed before it. */
export interface Pass {
  readonly type: 'pass';
  readonly isProbe: boolean;
}

export class Breaker {
  isOpen = false;
  hasBeenGood = false;
  #recent: boolean[] = [];
  #probe: Pass | null = null;
  #probeMs = PROBE_FIRST_MS;
  #nextProbeAt = 0;
  #badSince: number | null = null;
  #awaySince: number | null = null;
  #notedAt = 0;

  /** How long bad answers have come; 0 when the last was good, or long ago. */
  badForMs(now: number): number {
    return this.#lastedMs(this.#badSince, now);
  }

  /** The same without any answer of the service; a refusal is one. */
  awayForMs(now: number): number {
    return this.#lastedMs(this.#awaySince, now);
  }

  #lastedMs(since: number | null, now: number): number {
    return since === null || now - this.#notedAt >= UNSEEN_MS ? 0 : now - since;
  }

  /** Called before each request. A pass is ended by `note`, or by `cancel` if unsent. */
  enter(now: number): Pass | { readonly type: 'rejected'; readonly retryInMs: number } {
    if (!this.isOpen) return { type: 'pass', isProbe: false };
    if (this.#probe !== null)
      return { type: 'rejected', retryInMs: Math.max(500, Math.min(this.#probeMs, 5_000)) };
    if (now < this.#nextProbeAt) return { type: 'rejected', retryInMs: this.#nextProbeAt - now };
    this.#probe = { type: 'pass', isProbe: true };
    return this.#probe;
  }

  /** `isThere`: the service answered, if only to refuse. */
  note(pass: Pass, isGood: boolean, now: number, isThere = isGood): void {
    const isProbe = pass === this.#probe;
    if (isProbe || isGood) this.#probe = null;
    if (isGood) {
      this.hasBeenGood = true;
      if (this.isOpen) this.#recent = [];
      this.isOpen = false;
      this.#probeMs = PROBE_FIRST_MS;
    }
    this.#badSince = isGood ? null : now - this.badForMs(now);
    this.#awaySince = isThere ? null : now - this.awayForMs(now);
    this.#notedAt = now;
    this.#recent.push(isGood);
    if (this.#recent.length > WINDOW) this.#recent.shift();
    if (isGood || (this.isOpen && !isProbe)) return;
    if (this.isOpen) {
      this.#probeMs = Math.min(this.#probeMs * 2, PROBE_LAST_MS);
    } else {
      const bad = this.#recent.filter((good) => !good).length;
      const last = this.#recent.slice(-ALL_BAD);
      const isAllBad = last.length === ALL_BAD && !last.includes(true);
      if (!isAllBad && (this.#recent.length < WINDOW || bad <= WINDOW / 2)) return;
      this.isOpen = true;
    }
    this.#nextProbeAt = now + this.#probeMs;
  }

  cancel(pass: Pass): void {
    if (pass === this.#probe) this.#probe = null;
  }
}

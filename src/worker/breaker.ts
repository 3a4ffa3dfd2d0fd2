/**
 * The breaker of one process. While the service is down, or refuses everything as too much, one
 * probe at a time replaces all requests, and lookups use up no attempts.
 *
 *   closed   all requests pass, until the last 8 answers or most of the last 20 were bad
 *   open     one probe passes at its time; other requests are rejected. A good answer closes; a bad
 *            probe doubles the time to the next, up to 10 s. Bad answers to earlier requests change
 *            nothing, since many come at once
 */

const WINDOW = 20;
const ALL_BAD = 8;
const PROBE_FIRST_MS = 1_000;
const PROBE_LAST_MS = 10_000;
/** After this time without a request an outage may be over; a service may ask for 15 minutes. */
const UNSEEN_MS = 1_200_000;

/** Returned with the answer, to tell a probe from earlier requests. */
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

  /** Returns how long bad answers have come; 0 if the last was good, or long ago. */
  badForMs(now: number): number {
    return this.#lastedMs(this.#badSince, now);
  }

  /** Returns how long the service has not answered at all; refusals are answers. */
  awayForMs(now: number): number {
    return this.#lastedMs(this.#awaySince, now);
  }

  #lastedMs(since: number | null, now: number): number {
    return since === null || now - this.#notedAt >= UNSEEN_MS ? 0 : now - since;
  }

  /** Asks for a pass before a request, which `note` ends, or `cancel` if nothing was sent. */
  enter(now: number): Pass | { readonly type: 'rejected'; readonly retryInMs: number } {
    if (!this.isOpen) return { type: 'pass', isProbe: false };
    if (this.#probe !== null)
      return { type: 'rejected', retryInMs: Math.max(500, Math.min(this.#probeMs, 5_000)) };
    if (now < this.#nextProbeAt) return { type: 'rejected', retryInMs: this.#nextProbeAt - now };
    this.#probe = { type: 'pass', isProbe: true };
    return this.#probe;
  }

  /** Notes an answer. `isThere`: the service answered, if only to refuse. */
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

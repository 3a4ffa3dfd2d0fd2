/** The permit waiters of this process, in order. Each leaves when answered or aborted. */
import type { PermitRequest } from './ledger.js';
import type { PeriodSetting } from './period.js';
import type { Denial } from './policy.js';

/** The limits from a run's settings; workers have no limits of their own. */
export interface AskingRun {
  readonly id: string;
  readonly period: PeriodSetting;
  /** Requests per second that the pace may grow to; null: no ceiling. */
  readonly maxRate: number | null;
}

export type Grant =
  /** `isFree`: the service is proven not to bill it. */
  | { readonly type: 'granted'; readonly permit: string; readonly isFree?: boolean }
  /** Another worker claims the key. */
  | { readonly type: 'lost' }
  /** Billed or perhaps billed twice in this run without a usable answer. */
  | { readonly type: 'attempts_exhausted' }
  | Exclude<Denial, { type: 'wait' }>;

/** A request on behalf of `run`, under the name that the permit will have. */
export interface PermitWaiter extends PermitRequest {
  readonly run: AskingRun;
  readonly signal: AbortSignal;
  /** Lower ones are asked for first. */
  readonly place: number;
  /** Monotonic; earlier it is not asked for. */
  notBefore: number;
  readonly resolve: (grant: Grant | Promise<Grant>) => void;
  readonly reject: (reason: unknown) => void;
}

interface Group {
  size: number;
  readonly onAbort: () => void;
}

export class PermitWaiters {
  readonly #waiting = new Set<PermitWaiter>();
  /** By signal, with one listener each: the lookups of a chunk share theirs. */
  readonly #groups = new Map<AbortSignal, Group>();
  /** No `notBefore` is later. */
  #latest = 0;
  /** No place so far is higher. */
  #last = 0;
  /** They have not come in the order of their places. */
  #isMixed = false;

  get size(): number {
    return this.#waiting.size;
  }

  has(waiter: PermitWaiter): boolean {
    return this.#waiting.has(waiter);
  }

  /** Joins the queue; the signal must not be aborted. Rejects with its reason as soon as it is. */
  enter(asked: Omit<PermitWaiter, 'notBefore' | 'resolve' | 'reject'>): Promise<Grant> {
    const { permit, run, key, own, signal, place } = asked;
    return new Promise((resolve, reject) => {
      // Named one by one: a spread takes a hundredth of all time of a fast run.
      const waiter = { permit, run, key, own, signal, place, notBefore: 0, resolve, reject };
      this.#waiting.add(waiter);
      this.#isMixed ||= waiter.place < this.#last;
      this.#last = Math.max(this.#last, waiter.place);
      this.#groupOf(waiter.signal).size += 1;
    });
  }

  /** Does nothing for a waiter that has left. */
  answer(waiter: PermitWaiter, grant: Grant | Promise<Grant>): void {
    if (this.#leave(waiter)) waiter.resolve(grant);
  }

  /** Delays its next request until then, or until the next settlement. */
  delay(waiter: PermitWaiter, until: number): void {
    waiter.notBefore = until;
    this.#latest = Math.max(this.#latest, until);
  }

  /** Those to ask for now, of one run, so that its caps and policy apply. Others follow at once. */
  choose(now: number, atMost: number): PermitWaiter[] {
    const chosen: PermitWaiter[] = [];
    for (const waiter of this.#inOrder()) {
      if (chosen.length === atMost) break;
      if (waiter.notBefore > now) continue;
      if (chosen[0] === undefined || chosen[0].run.id === waiter.run.id) chosen.push(waiter);
    }
    return chosen;
  }

  /** By their places, in which most have come. */
  #inOrder(): Iterable<PermitWaiter> {
    if (!this.#isMixed) return this.#waiting;
    const sorted = [...this.#waiting].sort((one, other) => one.place - other.place);
    this.#waiting.clear();
    for (const waiter of sorted) this.#waiting.add(waiter);
    this.#isMixed = false;
    return this.#waiting;
  }

  /** Time until the next waiter is due; Infinity without waiters. */
  dueInMs(now: number): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { notBefore } of this.#waiting) {
      if (notBefore <= now) return 0;
      due = Math.min(due, notBefore - now);
    }
    return due;
  }

  /** The latest time for the next request of permits. */
  hurry(at: number): void {
    if (this.#latest <= at) return;
    for (const waiter of this.#waiting) waiter.notBefore = Math.min(waiter.notBefore, at);
    this.#latest = at;
  }

  rejectAll(reason: unknown): void {
    this.#rejectThose(() => true, reason);
  }

  #rejectThose(isMeant: (waiter: PermitWaiter) => boolean, reason: unknown): void {
    for (const waiter of [...this.#waiting].filter(isMeant)) if (this.#leave(waiter)) waiter.reject(reason);
  }

  #leave(waiter: PermitWaiter): boolean {
    if (!this.#waiting.delete(waiter)) return false;
    const { signal } = waiter;
    const group = this.#groupOf(signal);
    group.size -= 1;
    if (group.size === 0) {
      signal.removeEventListener('abort', group.onAbort);
      this.#groups.delete(signal);
    }
    return true;
  }

  #groupOf(signal: AbortSignal): Group {
    const known = this.#groups.get(signal);
    if (known !== undefined) return known;
    const onAbort = () => this.#rejectThose((waiter) => waiter.signal === signal, signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const group = { size: 0, onAbort };
    this.#groups.set(signal, group);
    return group;
  }
}

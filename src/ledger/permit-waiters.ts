/** The requests of this process that wait for a permit, in order, until answered or aborted. */
import type { PermitRequest } from './ledger.js';
import type { PeriodSetting } from './period.js';
import type { Denial } from './policy.js';

/** A run's limits; workers have none of their own. */
export interface AskingRun {
  readonly id: string;
  readonly period: PeriodSetting;
  /** Requests per second that the pace may grow to; null without a ceiling. */
  readonly maxRate: number | null;
}

export type Grant =
  /** `isFree`: the service has proven not to bill it. */
  | { readonly type: 'granted'; readonly permit: string; readonly isFree?: boolean }
  /** Another worker claims the key. */
  | { readonly type: 'lost' }
  /** In this run, the key was billed or perhaps billed twice without a usable answer. */
  | { readonly type: 'attempts_exhausted' }
  | Exclude<Denial, { type: 'wait' }>;

/** A request for `run`, under the name of its future permit. */
export interface PermitWaiter extends PermitRequest {
  readonly run: AskingRun;
  readonly signal: AbortSignal;
  /** Lower places come first. */
  readonly place: number;
  /** Monotonic time before which no permit is requested. */
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
  /** By signal, which all lookups of a chunk share, with one listener each. */
  readonly #groups = new Map<AbortSignal, Group>();
  /** An upper bound of all `notBefore`. */
  #latest = 0;
  /** The highest place so far. */
  #last = 0;
  /** Set once a waiter comes after one with a higher place. */
  #isMixed = false;

  get size(): number {
    return this.#waiting.size;
  }

  has(waiter: PermitWaiter): boolean {
    return this.#waiting.has(waiter);
  }

  /** Adds a waiter, whose signal is not aborted yet. Rejects with its reason as soon as it is. */
  enter(asked: Omit<PermitWaiter, 'notBefore' | 'resolve' | 'reject'>): Promise<Grant> {
    const { permit, run, key, own, signal, place } = asked;
    return new Promise((resolve, reject) => {
      // Named one by one: a spread would take 1 % of a fast run's time.
      const waiter = { permit, run, key, own, signal, place, notBefore: 0, resolve, reject };
      this.#waiting.add(waiter);
      this.#isMixed ||= waiter.place < this.#last;
      this.#last = Math.max(this.#last, waiter.place);
      this.#groupOf(waiter.signal).size += 1;
    });
  }

  /** Answers a waiter, unless it has left. */
  answer(waiter: PermitWaiter, grant: Grant | Promise<Grant>): void {
    if (this.#leave(waiter)) waiter.resolve(grant);
  }

  /** Delays a waiter's next request until this time or the next settlement. */
  delay(waiter: PermitWaiter, until: number): void {
    waiter.notBefore = until;
    this.#latest = Math.max(this.#latest, until);
  }

  /** Returns due waiters of one run, whose caps and policy apply; other runs follow at once. */
  choose(now: number, atMost: number): PermitWaiter[] {
    const chosen: PermitWaiter[] = [];
    for (const waiter of this.#inOrder()) {
      if (chosen.length === atMost) break;
      if (waiter.notBefore > now) continue;
      if (chosen[0] === undefined || chosen[0].run.id === waiter.run.id) chosen.push(waiter);
    }
    return chosen;
  }

  /** Sorts waiters by place where needed: most come in order. */
  #inOrder(): Iterable<PermitWaiter> {
    if (!this.#isMixed) return this.#waiting;
    const sorted = [...this.#waiting].sort((one, other) => one.place - other.place);
    this.#waiting.clear();
    for (const waiter of sorted) this.#waiting.add(waiter);
    this.#isMixed = false;
    return this.#waiting;
  }

  /** Returns the time until the next waiter is due; Infinity without waiters. */
  dueInMs(now: number): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { notBefore } of this.#waiting) {
      if (notBefore <= now) return 0;
      due = Math.min(due, notBefore - now);
    }
    return due;
  }

  /** Makes all waiters due at `at` or earlier. */
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
    const existing = this.#groups.get(signal);
    if (existing !== undefined) return existing;
    const onAbort = () => this.#rejectThose((waiter) => waiter.signal === signal, signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const group = { size: 0, onAbort };
    this.#groups.set(signal, group);
    return group;
  }
}

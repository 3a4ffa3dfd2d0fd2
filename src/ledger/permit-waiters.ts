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
  /** `isFree`: the service is proven not to bill it; absent: no. */
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
  notBefore: number;
  /** Both take the waiter out of the queue; the second of them does nothing. */
  answer(grant: Grant | Promise<Grant>): void;
  reject(reason: unknown): void;
}

export class PermitWaiters {
  readonly #waiting = new Set<PermitWaiter>();

  get size(): number {
    return this.#waiting.size;
  }

  has(waiter: PermitWaiter): boolean {
    return this.#waiting.has(waiter);
  }

  /** Joins the queue; the signal must not be aborted. Rejects with its reason as soon as it is. */
  enter(request: Omit<PermitWaiter, 'notBefore' | 'answer' | 'reject'>): Promise<Grant> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const leave = () => {
        signal.removeEventListener('abort', onAbort);
        return this.#waiting.delete(waiter);
      };
      const waiter: PermitWaiter = {
        ...request,
        notBefore: 0,
        answer(grant) {
          if (leave()) resolve(grant);
        },
        reject(reason) {
          if (leave()) reject(reason);
        },
      };
      const onAbort = () => waiter.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /** Those to ask for now, of one run, so that its caps and policy apply. Others follow at once. */
  choose(now: number, atMost: number): PermitWaiter[] {
    const chosen: PermitWaiter[] = [];
    for (const waiter of this.#waiting) {
      if (chosen.length === atMost) break;
      if (waiter.notBefore > now) continue;
      if (chosen[0] === undefined || chosen[0].run.id === waiter.run.id) chosen.push(waiter);
    }
    return chosen;
  }

  /** Time until the next waiter is due; Infinity: there are no waiters. */
  dueInMs(now: number): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { notBefore } of this.#waiting) due = Math.min(due, Math.max(0, notBefore - now));
    return due;
  }

  /** The latest time for the next request of permits. */
  hurry(at: number): void {
    for (const waiter of this.#waiting) waiter.notBefore = Math.min(waiter.notBefore, at);
  }

  rejectAll(reason: unknown): void {
    for (const waiter of [...this.#waiting]) waiter.reject(reason);
  }
}

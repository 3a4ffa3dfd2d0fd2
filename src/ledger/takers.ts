/**
 * Those who wait for a permit in this process, in the order they came. Who is asked for next is decided here; asking
 * is `governor.ts`'s. A taker leaves when it is answered or when its signal is aborted, whichever comes first.
 */
import type { PeriodSetting } from './period.js';

/** What a run's settings say of asking; workers bring no limits of their own. */
export interface AskingRun {
  readonly id: string;
  readonly period: PeriodSetting;
  /** Requests per second that the pace may grow to; null: no ceiling. */
  readonly maxRate: number | null;
}

export type Grant =
  | { readonly type: 'granted'; readonly permit: string }
  /** Somebody else claims the key. */
  | { readonly type: 'lost' }
  /** Billed or perhaps billed twice in this run without a usable answer. */
  | { readonly type: 'spent' }
  | { readonly type: 'exhausted'; readonly why: string }
  | { readonly type: 'revoked'; readonly why: 'dead' | 'cancelled' | 'halted' };

/** What somebody wants: the right to ask for `key` on behalf of `run`. */
export interface Wish {
  /** The name that the permit will have. */
  readonly permit: string;
  readonly run: AskingRun;
  readonly key: string;
  readonly signal: AbortSignal;
}

export interface Taker extends Wish {
  /** Not asked for again before this time. */
  notBefore: number;
  /** Both take the taker out of the queue; the second of them does nothing. */
  answer(grant: Grant | Promise<Grant>): void;
  turnAway(reason: unknown): void;
}

export interface Takers {
  readonly size: number;
  has(taker: Taker): boolean;
  /** Joins the queue with a signal that is not aborted. Rejects with its reason as soon as it is. */
  enter(wish: Wish): Promise<Grant>;
  /**
   * Those to ask for now, at most `atMost`: all of one run, so that its caps and policy are the ones compared; the
   * others follow at once.
   */
  choose(now: number, atMost: number): Taker[];
  /** How long until somebody is to be asked for; Infinity: nobody waits. */
  dueInMs(now: number): number;
  /** Nobody is asked for later than at this time. */
  hurry(at: number): void;
  turnAwayAll(reason: unknown): void;
}

export function createTakers(): Takers {
  const waiting = new Set<Taker>();

  function enter(wish: Wish): Promise<Grant> {
    return new Promise((resolve, reject) => {
      const { signal } = wish;
      const leave = () => {
        signal.removeEventListener('abort', onAbort);
        return waiting.delete(taker);
      };
      const taker: Taker = {
        ...wish,
        notBefore: 0,
        answer(grant) {
          if (leave()) resolve(grant);
        },
        turnAway(reason) {
          if (leave()) reject(reason);
        },
      };
      const onAbort = () => taker.turnAway(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(taker);
    });
  }

  return {
    enter,
    get size() {
      return waiting.size;
    },
    has: (taker) => waiting.has(taker),
    choose(now, atMost) {
      const chosen: Taker[] = [];
      for (const taker of waiting) {
        if (chosen.length === atMost) break;
        if (taker.notBefore > now) continue;
        if (chosen[0] === undefined || chosen[0].run.id === taker.run.id) chosen.push(taker);
      }
      return chosen;
    },
    dueInMs(now) {
      let due = Number.POSITIVE_INFINITY;
      for (const { notBefore } of waiting) due = Math.min(due, Math.max(0, notBefore - now));
      return due;
    },
    hurry(at) {
      for (const taker of waiting) taker.notBefore = Math.min(taker.notBefore, at);
    },
    turnAwayAll(reason) {
      for (const taker of [...waiting]) taker.turnAway(reason);
    },
  };
}

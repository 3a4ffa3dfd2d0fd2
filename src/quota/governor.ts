/**
 * The governor of one process: whoever wants to send a billable request asks here and waits for a permit.
 *
 * It keeps no stock of permits. Everybody who waits is asked for in one `exchange`, together with all
 * settlements since the last one; the next exchange starts when the last is answered. So a process holds no more
 * permits than it has requests to send, and a dead one strands at most what it had in flight.
 *
 * Judgement is `policy.ts` and `pace.ts`; adding and comparing is the store's; retries and outcomes are `resolve/`'s.
 */
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type {
  ExchangeAnswer,
  Ledger,
  LedgerState,
  PaceChange,
  Reading,
  SeenState,
  SettledAs,
} from './ledger.js';
import { slowDown, speedUp } from './pace.js';
import { mayHaveTurned, type PeriodSetting } from './period.js';
import { judgeDenial, type Verdict } from './policy.js';

export type Grant =
  | { readonly type: 'granted'; readonly permit: string }
  /** Somebody else claims the key. */
  | { readonly type: 'lost' }
  /** Billed or perhaps billed twice in this run without a usable answer. */
  | { readonly type: 'spent' }
  | { readonly type: 'exhausted'; readonly why: string }
  | { readonly type: 'revoked'; readonly why: 'dead' | 'cancelled' };

export interface GovernorOptions {
  readonly ledger: Ledger;
  readonly account: string;
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Total time-out of one request. */
  readonly timeoutMs: number;
  readonly usageLagMs: number;
}

/** What a run's settings say of asking; workers bring no limits of their own. */
export interface AskingRun {
  readonly id: string;
  readonly period: PeriodSetting;
  /** Requests per second that the pace may grow to; null: no ceiling. */
  readonly maxRate: number | null;
}

export interface Heard {
  readonly reading: Reading | null;
  readonly heard: boolean;
}

export interface Governor {
  /**
   * Waits until this key may be asked for by this run, its slot of the pace included. Rejects with the signal's
   * reason when aborted; a permit that was granted meanwhile is given back.
   */
  take(run: AskingRun, key: string, signal: AbortSignal): Promise<Grant>;
  /** What became of a permit, and what the answer said of usage. */
  settle(permit: string, as: SettledAs, heard: Heard): void;
  /** A reading that cost no permit (the service's own brand). */
  note(heard: Heard): void;
  /** A 429: closes the account, or lowers the pace. The permit is given back. */
  refuse(permit: string, refusal: { isQuota: boolean; retryAfterMs: number | null }, heard: Heard): void;
  /** The account as last seen; null before the first exchange. */
  readonly state: LedgerState | null;
  /** Sends what is left to settle and refuses new takers. Waits at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

interface Taker {
  readonly permit: string;
  readonly run: AskingRun;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly resolve: (grant: Grant) => void;
  readonly reject: (reason: unknown) => void;
  /** Not asked for again before this time. */
  notBefore: number;
}

/** One exchange asks for no more than this, so that an answer stays short. */
const TAKE_AT_MOST = 200;
/** Settlements alone wait this long for a taker to travel with. */
const SETTLE_DELAY_MS = 15;
/** A slot missed by more than this is timed anew, never sent in a bunch. */
const LATE_MS = 10;
const RETRY_FIRST_MS = 200;
const RETRY_LAST_MS = 5_000;

export function createGovernor(options: GovernorOptions): Governor {
  return new SharedGovernor(options);
}

class SharedGovernor implements Governor {
  state: LedgerState | null = null;
  readonly #options: GovernorOptions;
  readonly #takers: Taker[] = [];
  readonly #settlements = new Map<string, SettledAs>();
  #reading: Reading | null = null;
  #heard = false;
  #refusedForQuota = false;
  #pace: { retryAfterMs: number | null } | null = null;
  /** When the rate was last lowered, by whomever; refusals of requests sent before that say nothing new. */
  #loweredAt = Number.NEGATIVE_INFINITY;
  #quietSince: number;
  #seen: SeenState | null = null;
  #isExchanging = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #serial = 0;
  #idle: (() => void)[] = [];

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.#quietSince = options.clock.now();
  }

  take(run: AskingRun, key: string, signal: AbortSignal): Promise<Grant> {
    return new Promise<Grant>((resolve, reject) => {
      if (signal.aborted || this.#isClosed) {
        reject(signal.reason ?? new Error('the governor is closed'));
        return;
      }
      this.#serial += 1;
      const permit = `${this.#options.worker}.${this.#serial.toString(36)}`;
      const onAbort = () => this.#abandon(taker);
      const finish = () => signal.removeEventListener('abort', onAbort);
      const taker: Taker = {
        permit,
        run,
        key,
        signal,
        notBefore: 0,
        resolve(grant) {
          finish();
          resolve(grant);
        },
        reject(reason) {
          finish();
          reject(reason);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#takers.push(taker);
      this.#schedule(0);
    });
  }

  settle(permit: string, as: SettledAs, heard: Heard): void {
    this.#settlements.set(permit, as);
    this.note(heard);
  }

  note({ reading, heard }: Heard): void {
    if (reading) this.#reading = newer(this.#reading, reading);
    if (heard) this.#heard = true;
    this.#schedule(this.#takers.length > 0 ? 0 : SETTLE_DELAY_MS);
  }

  refuse(permit: string, refusal: { isQuota: boolean; retryAfterMs: number | null }, heard: Heard): void {
    if (refusal.isQuota) this.#refusedForQuota = true;
    else {
      this.#pace = {
        retryAfterMs: Math.max(this.#pace?.retryAfterMs ?? 0, refusal.retryAfterMs ?? 0) || null,
      };
      this.#quietSince = this.#options.clock.now();
    }
    this.settle(permit, 'free', heard);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    for (const taker of this.#takers.splice(0)) taker.reject(new Error('the governor is closed'));
    if (!this.#isExchanging && this.#settlements.size === 0) {
      this.#clearTimer();
      return;
    }
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#idle.push(resolve);
        this.#schedule(0);
      }),
      this.#options.clock.sleep(deadlineMs),
    ]);
    this.#clearTimer();
  }

  #abandon(taker: Taker): void {
    const index = this.#takers.indexOf(taker);
    if (index < 0) return;
    this.#takers.splice(index, 1);
    taker.reject(taker.signal.reason);
  }

  /** Sees to it that an exchange starts in `ms` milliseconds at the latest. */
  #schedule(ms: number): void {
    if (this.#isExchanging) return;
    const at = this.#options.clock.now() + ms;
    if (at >= this.#timerAt) return;
    this.#clearTimer();
    this.#timerAt = at;
    // A microtask would be too early: everybody who asks in this turn of the loop travels together.
    if (ms <= 0) setImmediate(() => this.#exchange());
    else this.#timer = setTimeout(() => this.#exchange(), ms);
  }

  #clearTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  async #exchange(): Promise<void> {
    if (this.#isExchanging) return;
    this.#clearTimer();
    if (this.#takers.length === 0 && this.#settlements.size === 0 && !this.#reading && !this.#heard) return;
    this.#isExchanging = true;
    const { clock, ledger, account, worker, timeoutMs, usageLagMs, log } = this.#options;
    const now = clock.now();
    // One run at a time, so that its caps and policy are the ones compared; the others follow at once.
    const first = this.#takers.find((taker) => taker.notBefore <= now);
    const takers = first
      ? this.#takers
          .filter((taker) => taker.run.id === first.run.id && taker.notBefore <= now)
          .slice(0, TAKE_AT_MOST)
      : [];
    const settlements = [...this.#settlements];
    const sent = {
      reading: this.#reading,
      heard: this.#heard,
      refused: this.#refusedForQuota,
      pace: this.#pace,
    };
    this.#reading = null;
    this.#heard = false;
    this.#refusedForQuota = false;
    this.#pace = null;
    const request = {
      account,
      worker,
      run: first?.run.id ?? null,
      seen: this.#seen,
      settle: settlements.map(([permit, as]) => ({ permit, as })),
      reading: sent.reading,
      heard: sent.heard,
      refusedForQuota: sent.refused,
      pace: this.#judgePace(sent.pace, first?.run.maxRate ?? null, now),
      take: takers.map(({ permit, key }) => ({ permit, key })),
      permitMs: timeoutMs + 10_000,
      mayHaveTurned: first !== undefined && mayHaveTurned(this.state?.period ?? null, first.run.period, now),
      usageLagMs,
    };
    let waitMs = RETRY_FIRST_MS;
    for (;;) {
      try {
        const answer = await ledger.exchange(request);
        for (const [permit] of settlements) this.#settlements.delete(permit);
        this.#learn(answer.state);
        this.#distribute(takers, answer, clock.now());
        break;
      } catch (error) {
        // The same request is safe to repeat: permits are known by name.
        log.warn({ err: error, account }, 'the ledger does not answer; nothing is sent until it does');
        if (this.#isClosed) {
          // What is left to settle runs out in the store and counts as sent.
          this.#settlements.clear();
          break;
        }
        await clock.sleep(waitMs);
        waitMs = Math.min(waitMs * 2, RETRY_LAST_MS);
      }
    }
    this.#isExchanging = false;
    this.#goOn();
  }

  #judgePace(
    refusal: { retryAfterMs: number | null } | null,
    maxRate: number | null,
    now: number,
  ): PaceChange | null {
    const pace = this.state?.pace;
    if (!pace) return null;
    if (refusal) {
      if (now - this.#loweredAt >= 1_000) return slowDown(pace, refusal.retryAfterMs);
      if (refusal.retryAfterMs === null) return null;
      return { ifVersion: pace.version, rate: pace.rate, burst: pace.burst, floorMs: refusal.retryAfterMs };
    }
    const change = speedUp(pace, now - this.#quietSince, maxRate);
    if (change) this.#quietSince = now;
    return change;
  }

  #learn(state: LedgerState): void {
    const before = this.state?.pace.rate ?? Number.POSITIVE_INFINITY;
    if (this.state && (state.pace.rate ?? Number.POSITIVE_INFINITY) < before) {
      this.#loweredAt = this.#options.clock.now();
      this.#quietSince = this.#loweredAt;
    }
    this.state = state;
    this.#seen = {
      epoch: state.epoch,
      version: state.version,
      period: state.period,
      spent: state.sent + state.held + state.probes,
      others: state.others,
    };
  }

  #distribute(takers: readonly Taker[], answer: ExchangeAnswer, now: number): void {
    let denial: Verdict | undefined;
    const answers = new Map(answer.permits.map((permit) => [permit.permit, permit]));
    for (const taker of takers) {
      const given = answers.get(taker.permit);
      const index = this.#takers.indexOf(taker);
      const isGranted = given?.answer === 'granted';
      if (index < 0 || taker.signal.aborted) {
        if (isGranted) this.settle(taker.permit, 'free', { reading: null, heard: false });
        continue;
      }
      if (!given || given.answer === 'denied') {
        denial ??= judgeDenial(answer.state);
        if (denial.type === 'wait' || denial.type === 'go') {
          taker.notBefore = now + (denial.type === 'wait' ? denial.retryInMs : 0);
          continue;
        }
      }
      this.#takers.splice(index, 1);
      if (given?.answer === 'granted')
        void this.#awaitSlot(taker, now + given.waitMs, given.waitMs, answer.state);
      else if (given?.answer === 'lost' || given?.answer === 'spent') taker.resolve({ type: given.answer });
      else if (denial?.type === 'exhausted') taker.resolve({ type: 'exhausted', why: denial.why });
      else if (denial?.type === 'revoked') taker.resolve({ type: 'revoked', why: denial.why });
    }
  }

  async #awaitSlot(taker: Taker, slotAt: number, waitMs: number, state: LedgerState): Promise<void> {
    const { clock } = this.#options;
    try {
      if (waitMs > 0) await clock.sleep(waitMs, taker.signal);
    } catch (reason) {
      this.settle(taker.permit, 'free', { reading: null, heard: false });
      taker.reject(reason);
      return;
    }
    const rate = state.pace.rate;
    if (rate !== null && clock.now() - slotAt > Math.max(LATE_MS, 1_000 / rate)) {
      // Unsent is proof enough: the permit goes back and a later slot is asked for.
      this.settle(taker.permit, 'free', { reading: null, heard: false });
      this.take(taker.run, taker.key, taker.signal).then(taker.resolve, taker.reject);
      return;
    }
    taker.resolve({ type: 'granted', permit: taker.permit });
  }

  #goOn(): void {
    if (this.#takers.length === 0 && this.#settlements.size === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    const now = this.#options.clock.now();
    const due = Math.min(...this.#takers.map((taker) => Math.max(0, taker.notBefore - now)));
    // A settlement of ours may be what the waiting takers wait for.
    if (this.#settlements.size > 0) {
      for (const taker of this.#takers) taker.notBefore = Math.min(taker.notBefore, now + SETTLE_DELAY_MS);
      this.#schedule(this.#isClosed ? 0 : Math.min(due, SETTLE_DELAY_MS));
    } else this.#schedule(due);
  }
}

/** Of two readings that travel together the one with the higher usage, in the later period. */
function newer(one: Reading | null, other: Reading): Reading {
  if (one === null) return other;
  if ((one.period ?? '') !== (other.period ?? ''))
    return (one.period ?? '') > (other.period ?? '') ? one : other;
  return (one.usage ?? -1) > (other.usage ?? -1) ? { ...one, quota: other.quota ?? one.quota } : other;
}

/**
 * The governor of one process: whoever wants to send a billable request asks here and waits for a permit.
 *
 * It keeps no stock of permits. Everybody who waits is asked for in one `exchange`, together with all
 * settlements since the last one; the next exchange starts when the last is answered. So a process holds no more
 * permits than it has requests to send, and a dead one strands at most what it had in flight.
 *
 * Here is the loop of exchanges and its end. Who is asked for: `takers.ts`. What is told: `mailbox.ts`. Judgement is
 * `policy.ts` and `pace.ts`; adding and comparing is the store's; retries and outcomes are `resolve/`'s.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { type Alarm, createAlarm } from './alarm.js';
import { exchangeUntilAnswered } from './exchange-until-answered.js';
import type { ExchangeAnswer, ExchangeRequest, Ledger, LedgerState, SeenState, SettledAs } from './ledger.js';
import { createMailbox, type Heard, type Letter, NOTHING_HEARD } from './mailbox.js';
import { createPaceWatch, type PaceWatch } from './pace-watch.js';
import { mayHaveTurned } from './period.js';
import { type Denial, judgeDenial } from './policy.js';
import { RULES } from './rules.js';
import { createSlots, type Slots } from './slots.js';
import { type AskingRun, createTakers, type Grant, type Taker, type Wish } from './takers.js';

export type { Heard } from './mailbox.js';
export type { Grant } from './takers.js';

export interface GovernorOptions {
  readonly ledger: Ledger;
  readonly account: string;
  /** Unique over all workers and time: permits are named after it. */
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Total time-out of one request. */
  readonly timeoutMs: number;
  readonly usageLagMs: number;
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
  /** Resolves when the ledger knows what this process knew by now, at the latest after `deadlineMs`. */
  told(deadlineMs: number): Promise<void>;
  /** The account as last seen; null before the first exchange. */
  readonly state: LedgerState | null;
  /** Refuses takers, those who wait included, and sends what is left to settle. Waits at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** One exchange asks for no more than this, so that an answer stays short. */
const TAKE_AT_MOST = 200;
/** Settlements alone wait this long for a taker to travel with. */
const SETTLE_DELAY_MS = 15;

/** How long a permit for a request with this total time-out is held at most. */
export function permitMsOf(timeoutMs: number): number {
  return timeoutMs + RULES.permitMarginMs;
}

export function createGovernor(options: GovernorOptions): Governor {
  return new SharedGovernor(options);
}

class SharedGovernor implements Governor {
  state: LedgerState | null = null;
  readonly #options: GovernorOptions;
  readonly #takers = createTakers();
  readonly #mailbox = createMailbox();
  readonly #paceWatch: PaceWatch;
  readonly #slots: Slots;
  readonly #alarm: Alarm;
  readonly #closing = new AbortController();
  #seen: SeenState | null = null;
  /** What the run that was last served allows: settlements that travel alone may not lift it. */
  #maxRate: number | null = null;
  #isExchanging = false;
  #serial = 0;
  #whenTold: (() => void)[] = [];

  constructor(options: GovernorOptions) {
    const { clock } = options;
    this.#options = options;
    this.#paceWatch = createPaceWatch(clock.monotonic());
    this.#slots = createSlots(clock);
    this.#alarm = createAlarm(clock, () => void this.#exchange());
  }

  async take(run: AskingRun, key: string, signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    this.#serial += 1;
    const permit = `${this.#options.worker}.${this.#serial.toString(36)}`;
    const grant = this.#takers.enter({ permit, run, key, signal });
    this.#plan();
    return grant;
  }

  settle(permit: string, as: SettledAs, heard: Heard): void {
    this.#mailbox.settle(permit, as, heard.period ?? null);
    this.note(heard);
  }

  note(heard: Heard): void {
    this.#mailbox.note(heard);
    this.#plan();
  }

  refuse(permit: string, refusal: { isQuota: boolean; retryAfterMs: number | null }, heard: Heard): void {
    if (refusal.isQuota) this.#mailbox.refuseQuota();
    else {
      this.#mailbox.refusePace(refusal);
      this.#paceWatch.refused(this.#options.clock.monotonic());
    }
    this.settle(permit, 'free', heard);
  }

  async close(deadlineMs: number): Promise<void> {
    const reason = new Error('the governor is closed');
    this.#closing.abort(reason);
    this.#takers.turnAwayAll(reason);
    this.#slots.close(reason);
    // Those who were turned away give their permits back before it is judged whether anything is left.
    await nextTurn();
    this.#plan();
    await this.told(deadlineMs);
    this.#alarm.clear();
  }

  async told(deadlineMs: number): Promise<void> {
    if (!this.#isExchanging && this.#mailbox.isEmpty) return;
    const enough = new AbortController();
    const told = new Promise<void>((resolve) => {
      this.#whenTold.push(resolve);
    });
    const late = this.#options.clock.sleep(deadlineMs, enough.signal).catch(() => undefined);
    await Promise.race([told, late]);
    enough.abort();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Sees to it that the next exchange starts when it should: at once for takers that are due. */
  #plan(): void {
    if (this.#isExchanging) return;
    const now = this.#options.clock.monotonic();
    if (this.#mailbox.isEmpty) {
      for (const resolve of this.#whenTold.splice(0)) resolve();
      if (this.#takers.size > 0) this.#alarm.ringWithin(this.#takers.dueInMs(now));
      return;
    }
    // A settlement of ours may be what the waiting takers wait for: they travel with it.
    this.#takers.hurry(now + SETTLE_DELAY_MS);
    this.#alarm.ringWithin(this.#isClosed ? 0 : Math.min(this.#takers.dueInMs(now), SETTLE_DELAY_MS));
  }

  async #exchange(): Promise<void> {
    if (this.#isExchanging) return;
    this.#alarm.clear();
    const { clock, ledger, log } = this.#options;
    const takers = this.#takers.choose(clock.monotonic(), TAKE_AT_MOST);
    if (takers.length === 0 && this.#mailbox.isEmpty) {
      this.#plan();
      return;
    }
    this.#isExchanging = true;
    const request = this.#write(this.#mailbox.collect(), takers, clock.monotonic());
    const closing = this.#closing.signal;
    const answer = await exchangeUntilAnswered(ledger, request, { clock, log, closing });
    if (answer !== null) {
      this.#learn(answer.state);
      this.#distribute(takers, answer, request.mayHaveTurned);
    }
    this.#isExchanging = false;
    this.#plan();
  }

  #write(letter: Letter, takers: readonly Taker[], now: number): ExchangeRequest {
    const { account, worker, timeoutMs, usageLagMs } = this.#options;
    const run = takers[0]?.run;
    if (run !== undefined) this.#maxRate = run.maxRate;
    const accepted = letter.settle.filter(({ as }) => as === 'billed').length;
    return {
      account,
      worker,
      run: run?.id ?? null,
      seen: this.#seen,
      settle: letter.settle,
      reading: letter.reading,
      heard: letter.heard,
      refusedForQuota: letter.refusedForQuota,
      pace:
        this.state &&
        this.#paceWatch.propose(this.state.pace, letter.paceRefusal, accepted, this.#maxRate, now),
      take: takers.map(({ permit, key }) => ({ permit, key })),
      permitMs: permitMsOf(timeoutMs),
      mayHaveTurned:
        run !== undefined &&
        this.state !== null &&
        mayHaveTurned(this.state.period, run.period, this.state.now),
      usageLagMs,
    };
  }

  #learn(state: LedgerState): void {
    this.#paceWatch.learn(state.pace, this.#options.clock.monotonic());
    this.state = state;
    this.#seen = {
      epoch: state.epoch,
      version: state.version,
      period: state.period,
      spent: state.sent + state.held + state.probes,
      others: state.others,
    };
  }

  #distribute(takers: readonly Taker[], { permits, state }: ExchangeAnswer, hasAskedForTurn: boolean): void {
    const now = this.#options.clock.monotonic();
    const answers = new Map(permits.map((permit) => [permit.permit, permit]));
    let denial: Denial | undefined;
    for (const taker of takers) {
      const given = answers.get(taker.permit);
      if (given?.answer === 'granted') {
        if (this.#takers.has(taker)) taker.answer(this.#awaitSlot(taker, given.waitMs, state));
        else this.#giveBack(taker.permit);
      } else if (given?.answer === 'lost' || given?.answer === 'spent') taker.answer({ type: given.answer });
      else {
        denial ??= judgeDenial(state, { period: taker.run.period, hasAskedForTurn });
        if (denial.type === 'exhausted' || denial.type === 'revoked') taker.answer(denial);
        else taker.notBefore = now + denial.retryInMs;
      }
    }
  }

  async #awaitSlot({ permit, run, key, signal }: Wish, waitMs: number, state: LedgerState): Promise<Grant> {
    let isInTime = false;
    try {
      isInTime = await this.#slots.await(waitMs, state, signal);
    } finally {
      // Unsent is proof enough.
      if (!isInTime) this.#giveBack(permit);
    }
    return isInTime ? { type: 'granted', permit } : this.take(run, key, signal);
  }

  #giveBack(permit: string): void {
    this.settle(permit, 'free', NOTHING_HEARD);
  }
}

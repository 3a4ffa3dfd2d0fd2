/**
 * The governor of one process, which gets a permit for each billable request before it is sent. It
 * keeps no stock: one `exchange` asks for all waiters, and brings all settlements since the last
 * one with their answers; the next starts when it is answered. So a process never holds more
 * permits than it has requests to send.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.js';
import { succeeds } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { NewOutcome } from '../core/outcome.js';
import type {
  ExchangeAnswer,
  ExchangeRequest,
  Ledger,
  LedgerState,
  LookRequest,
  PermitAnswer,
  SeenState,
  SettledAs,
  Settlement,
} from './ledger.js';
import {
  type AnswerSpool,
  type Batch,
  NO_OBSERVATION,
  type Observation,
  Outbox,
  type PaceRefusal,
  PaidAnswer,
} from './outbox.js';
import { createPaceWatch, type PaceWatch } from './pace.js';
import { type PeriodSetting, turnOf } from './period.js';
import { type AskingRun, type Grant, type PermitWaiter, PermitWaiters } from './permit-waiters.js';
import { type Denial, judgeDenial } from './policy.js';
import { RULES } from './rules.js';
import { type Alarm, createAlarm, createSlots, type Slots } from './timing.js';

export interface GovernorOptions {
  readonly ledger: Ledger;
  readonly spool: AnswerSpool;
  readonly account: string;
  /** Unique over all workers and time; permits are named after it. */
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly usageLagMs: number;
}

/** What workers use; tests have their own. */
export type Governor = Pick<SharedGovernor, keyof SharedGovernor>;

interface Look {
  readonly request: LookRequest;
  readonly answer: (answer: PermitAnswer | null) => void;
}

export type Spent = Pick<Settlement, 'permit' | 'as'> & { readonly observation: Observation };

type Refusal = PaceRefusal & { readonly isQuota: boolean };

/** Most permits of an exchange, so that its answer stays short. */
const TAKE_AT_MOST = 200;
/** Wait before a free permit is requested again: the ledger grants one at a time. */
const QUEUED_MS = 100;
/** How long settlements without an answer wait, to share an exchange with a permit. */
const SETTLE_DELAY_MS = 15;

/** Waits between two tries of an exchange. */
const RETRY_FIRST_MS = 200;
const RETRY_LAST_MS = 5_000;

/** Returns the longest life of a permit for a request with this total time-out. */
export function permitMsOf(timeoutMs: number): number {
  return timeoutMs + RULES.permitMarginMs;
}

export class SharedGovernor {
  /** The account as last seen; null before the first exchange. */
  state: LedgerState | null = null;
  /** Number of answers that the store had not recorded when the governor closed. */
  left = 0;
  readonly #options: GovernorOptions;
  readonly #waiters = new PermitWaiters();
  readonly #looks: Look[] = [];
  readonly #outbox = new Outbox();
  readonly #answers = new Set<PaidAnswer>();
  readonly #paceWatch: PaceWatch;
  readonly #slots: Slots;
  readonly #alarm: Alarm;
  readonly #closing = new AbortController();
  #seen: SeenState | null = null;
  /** Rate and period of the last run that took permits. Exchanges without waiters keep both. */
  #maxRate: number | null = null;
  #period: PeriodSetting = 'none';
  #learnedAt = 0;
  #isExchanging = false;
  /** True if the last exchange failed: answers then go to the spool at once. */
  #isDown = false;
  #serial = 0;
  #whenFlushed: (() => void)[] = [];

  constructor(options: GovernorOptions) {
    const { clock } = options;
    this.#options = options;
    this.#paceWatch = createPaceWatch(clock.monotonic());
    this.#slots = createSlots(clock);
    this.#alarm = createAlarm(clock, () => void this.#exchange());
  }

  /** Waits for a permit and its slot; lower places come first. Rejects with the signal's reason. */
  take(run: AskingRun, key: string, signal: AbortSignal, own?: string, place = 0): Promise<Grant> {
    const ended = signal.aborted ? signal : this.#closing.signal;
    if (ended.aborted) return Promise.reject(ended.reason);
    const grant = this.#waiters.enter({ permit: this.#newPermit(), run, key, own, signal, place });
    this.#plan();
    return grant;
  }

  /** Returns the account's period, and the clocks of store and service. */
  calendar(): Pick<LedgerState, 'now' | 'behindMs' | 'period'> {
    const { clock } = this.#options;
    if (this.state === null) return { now: clock.now(), behindMs: 0, period: null };
    const { now, behindMs, period } = this.state;
    return { now: now + clock.monotonic() - this.#learnedAt, behindMs, period };
  }

  /** Waits for a permit for a look or a check; null if it is denied, or the governor is closed. */
  async takeLook(look: Omit<LookRequest, 'permit'>, period: PeriodSetting, signal: AbortSignal) {
    if (signal.aborted || this.#closing.signal.aborted) return null;
    this.#period = period;
    const permit = this.#newPermit();
    const reply = await new Promise<PermitAnswer | null>((answer) => {
      this.#looks.push({ request: { permit, ...look }, answer });
      this.#plan();
    });
    if (reply?.answer !== 'granted' || this.state === null) return null;
    try {
      await this.#slots.await(reply.waitMs, this.state, signal);
      return permit;
    } catch {
      this.#giveBack(permit);
      return null;
    }
  }

  #newPermit(): string {
    this.#serial += 1;
    return `${this.#options.worker}.${this.#serial.toString(36)}`;
  }

  /** Records an answer and settles its permit by an exchange. Resolves to the store's time. */
  record(outcome: NewOutcome, spent?: Spent): Promise<number> {
    const answer = new PaidAnswer(outcome, this.#options.clock.monotonic(), spent?.permit ?? '');
    this.#answers.add(answer);
    const forget = () => this.#answers.delete(answer);
    answer.recorded.then(forget, () => {
      this.left += 1;
      forget();
    });
    this.#outbox.add(answer);
    if (this.#isDown) answer.moveTo(this.#options.spool);
    if (spent) this.settle(spent.permit, spent.as, spent.observation);
    else this.#plan();
    return answer.recorded;
  }

  settle(permit: string, as: SettledAs, observation: Observation): void {
    this.#outbox.settle(permit, as, observation);
    this.note(observation);
  }

  /** Notes a reading that cost no permit (the service's own brand). */
  note(observation: Observation): void {
    this.#outbox.note(observation);
    this.#plan();
  }

  /** Reports a 429, which closes the account or lowers the pace. Gives the permit back. */
  refuse(permit: string, refusal: Refusal, observation: Observation): void {
    if (refusal.isQuota) this.#outbox.refuseQuota();
    else {
      this.#outbox.refusePace(refusal);
      this.#paceWatch.refused(this.#options.clock.monotonic());
    }
    this.settle(permit, 'free', observation);
  }

  /** Resolves when every answer is recorded or on disk. */
  async recorded(): Promise<void> {
    for (const { recorded } of this.#answers) await succeeds(recorded);
  }

  /** Rejects all waiters, settles for up to `deadlineMs`, then writes other answers to disk. */
  async close(deadlineMs: number): Promise<void> {
    const reason = new Error('the governor is closed');
    this.#closing.abort(reason);
    this.#waiters.rejectAll(reason);
    for (const { answer } of this.#looks.splice(0)) answer(null);
    this.#slots.close(reason);
    // Rejected waiters first give their permits back.
    await nextTurn();
    this.#plan();
    await this.flushed(deadlineMs);
    this.#alarm.clear();
    const rest = [...this.#answers];
    if (rest.length === 0) return;
    const why = await this.#options.spool.leave(rest);
    for (const answer of rest) answer.leave(why);
  }

  /** Resolves when the ledger knows what this process knows now, or after `deadlineMs`. */
  async flushed(deadlineMs: number): Promise<void> {
    if (!this.#isExchanging && this.#outbox.isEmpty) return;
    const flushed = new AbortController();
    this.#whenFlushed.push(() => flushed.abort());
    await this.#options.clock.sleep(deadlineMs, flushed.signal).catch(() => undefined);
  }

  /** Sets the alarm for the next exchange. */
  #plan(): void {
    if (this.#isExchanging) return;
    const now = this.#options.clock.monotonic();
    if (this.#looks.length > 0) this.#alarm.ringWithin(0);
    if (this.#outbox.isEmpty) {
      for (const resolve of this.#whenFlushed.splice(0)) resolve();
      if (this.#waiters.size > 0) this.#alarm.ringWithin(this.#waiters.dueInMs(now));
      return;
    }
    // A settlement may free what waiters wait for, so one exchange carries both.
    const delayMs = this.#outbox.hasAnswers ? 0 : SETTLE_DELAY_MS;
    this.#waiters.hurry(now + delayMs);
    const dueMs = Math.min(this.#waiters.dueInMs(now), delayMs);
    this.#alarm.ringWithin(this.#closing.signal.aborted ? 0 : dueMs);
  }

  async #exchange(): Promise<void> {
    if (this.#isExchanging) return;
    this.#alarm.clear();
    const { clock } = this.#options;
    const waiters = this.#waiters.choose(clock.monotonic(), TAKE_AT_MOST);
    const look = this.#looks.shift() ?? null;
    if (waiters.length === 0 && look === null && this.#outbox.isEmpty) {
      this.#plan();
      return;
    }
    this.#isExchanging = true;
    const { answers, ...batch } = this.#outbox.collect();
    const request = this.#write(batch, waiters, look, clock.monotonic());
    const answer = await this.#exchangeUntilAnswered(request, answers);
    if (answer !== null) {
      this.#learn(answer.state);
      this.#distribute(waiters, answer);
    }
    look?.answer(answer?.look ?? null);
    this.#isExchanging = false;
    this.#plan();
  }

  /**
   * Repeats a request unchanged until it is answered; since permits have names, nothing that a lost
   * answer granted or settled counts twice. After a failure, answers go to the spool first, and the
   * settlements of those that could not be recorded are left out. Once closing, tries one last
   * time. Returns null without an answer: its permits expire in the store and count as sent.
   */
  async #exchangeUntilAnswered(request: ExchangeRequest, answers: readonly PaidAnswer[]) {
    const { clock, ledger, log, spool } = this.#options;
    const closing = this.#closing.signal;
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
      const isLast = closing.aborted;
      await this.#untilSpoolEmpty();
      const left = new Set(answers.filter(({ state }) => state === 'left').map(({ permit }) => permit));
      const settle = request.settle.filter(({ permit }) => !left.has(permit));
      const together = answers.filter(({ state }) => state === 'exchange');
      try {
        const reply = await ledger.exchange(
          { ...request, settle },
          together.map(({ outcome }) => outcome),
        );
        const { recordedAt } = reply;
        if (recordedAt !== null) for (const answer of together) answer.store(recordedAt);
        this.#isDown = false;
        return reply;
      } catch (error) {
        const { account } = request;
        log.warn({ err: error, account }, 'the ledger does not answer; no requests until it does');
      }
      this.#isDown = true;
      for (const answer of this.#answers) answer.moveTo(spool);
      if (isLast) {
        await this.#untilSpoolEmpty();
        return null;
      }
      await clock.sleep(waitMs, closing).catch(() => undefined);
    }
  }

  /** Waits until the spool has recorded its answers, so that few are ever at risk. */
  async #untilSpoolEmpty(): Promise<void> {
    for (const { state, recorded } of this.#answers) if (state === 'spool') await succeeds(recorded);
  }

  #write(
    { paceRefusal, ...batch }: Omit<Batch, 'answers'>,
    waiters: readonly PermitWaiter[],
    look: Look | null,
    now: number,
  ): ExchangeRequest {
    const { account, worker, timeoutMs, usageLagMs } = this.#options;
    const run = waiters[0]?.run;
    if (run !== undefined) {
      this.#maxRate = run.maxRate;
      this.#period = run.period;
    }
    const accepted = batch.settle.filter(({ as }) => as === 'billed').length;
    const calendar = this.calendar();
    return {
      account,
      worker,
      run: run?.id ?? null,
      seen: this.#seen,
      ...batch,
      pace: this.state && this.#paceWatch.propose(this.state.pace, paceRefusal, accepted, this.#maxRate, now),
      take: waiters.map(({ permit, key, own }) => ({ permit, key, own })),
      look: look?.request ?? null,
      permitMs: permitMsOf(timeoutMs),
      turn: turnOf(calendar.period, this.#period, calendar.now),
      usageLagMs,
    };
  }

  #learn(state: LedgerState): void {
    this.#learnedAt = this.#options.clock.monotonic();
    this.#paceWatch.learn(state.pace, this.#learnedAt);
    this.state = state;
    this.#seen = {
      epoch: state.epoch,
      version: state.version,
      period: state.period,
      spent: state.sent + state.held + state.probes,
      others: state.others,
    };
  }

  #distribute(waiters: readonly PermitWaiter[], { permits, state }: ExchangeAnswer): void {
    const now = this.#options.clock.monotonic();
    const answers = new Map(permits.map((permit) => [permit.permit, permit]));
    let denial: Denial | undefined;
    for (const waiter of waiters) {
      const reply = answers.get(waiter.permit);
      if (reply?.answer === 'granted') {
        if (this.#waiters.has(waiter)) this.#waiters.answer(waiter, this.#grant(waiter, reply, state));
        else this.#giveBack(waiter.permit);
      } else if (reply?.answer === 'queued') this.#waiters.delay(waiter, now + QUEUED_MS);
      else if (reply?.answer === 'lost' || reply?.answer === 'attempts_exhausted')
        this.#waiters.answer(waiter, { type: reply.answer });
      else {
        denial ??= judgeDenial(state);
        if (denial.type === 'wait') this.#waiters.delay(waiter, now + denial.retryInMs);
        else this.#waiters.answer(waiter, denial);
      }
    }
  }

  #grant(
    waiter: PermitWaiter,
    { waitMs, isFree }: Extract<PermitAnswer, { answer: 'granted' }>,
    state: LedgerState,
  ): Grant | Promise<Grant> {
    const grant: Grant = { type: 'granted', permit: waiter.permit, isFree };
    const slot = this.#slots.await(waitMs, state, waiter.signal);
    return slot === true ? grant : this.#awaitSlot(slot, waiter, grant);
  }

  async #awaitSlot(
    slot: Promise<boolean>,
    { permit, run, key, own, signal, place }: PermitWaiter,
    grant: Grant,
  ): Promise<Grant> {
    let isInTime = false;
    try {
      isInTime = await slot;
    } finally {
      // An unsent request is free.
      if (!isInTime) this.#giveBack(permit);
    }
    return isInTime ? grant : this.take(run, key, signal, own, place);
  }

  #giveBack(permit: string): void {
    this.settle(permit, 'free', NO_OBSERVATION);
  }
}

/**
 * The governor's judgement: numbers in, verdict with a sentence out. Nobody waits and nothing is
 * stored here.
 *
 * An account is in one of these modes; the store's numbers say which:
 *
 *   opening   no useful answer since a run began (or for 5 minutes): requests go one at a time,
 *             not counting those of dead processes, so that a wrong token or a spent quota costs
 *             one request. Left by the first useful answer.
 *   open      requests go while sent + held + others < limit. Left at the limit or on a refusal.
 *   waiting   the last permits are held by somebody: they settle or run out. Left when one does.
 *   exhausted sent + others >= limit, or refused for quota. One probe a minute where a refusal is
 *             free. Left by a raised quota, a raised budget or a new period.
 *   draining  a new period has begun: what is in flight settles in the old one first.
 *   resting   the ledger went back in time: the usage header must catch up first.
 *   paused    a person stopped all spending, or that of the asking run. Left by `resume`.
 */

import { countOf } from '../core/figures.js';
import type { LedgerState, RunSpending } from './ledger.js';
import { nextPeriodAt, type PeriodSetting } from './period.js';
import { RULES } from './rules.js';

/** The action without a permit. */
export type Denial =
  | { readonly type: 'wait'; readonly why: string; readonly retryInMs: number }
  /** A wait of this run alone, which others must not wait for. */
  | { readonly type: 'paused'; readonly why: string; readonly retryInMs: number }
  | { readonly type: 'exhausted'; readonly why: string }
  | { readonly type: 'revoked'; readonly why: 'dead' | 'cancelled' | 'halted' };

/** Share of the limit at which a warning is due (specification: usage notice at 80 %). */
const WARN_AT = 0.8;

/** `--quota`, if it is what counts: below the service's quota, or that is unknown. Else null. */
export function capOf({ quota, quotaCap }: Pick<LedgerState, 'quota' | 'quotaCap'>): number | null {
  return quotaCap !== null && quotaCap < (quota ?? Infinity) ? quotaCap : null;
}

/** Requests that fit: min(header, --quota) + overage; null while the quota is unknown. */
export function limitOf(state: Pick<LedgerState, 'quota' | 'quotaCap' | 'overage'>): number | null {
  const quota = capOf(state) ?? state.quota;
  return quota === null ? null : quota + state.overage;
}

/** Requests that `--max-cost` still allows, or Infinity. Possible overage counts as overage. */
export function overageLeftFor(run: RunSpending | null): number {
  if (run === null || run.maxOverageRequests === null) return Infinity;
  return Math.max(0, run.maxOverageRequests - run.overageRequests - run.overageInFlight);
}

/** Requests of the period, others' and those in flight included. */
export function spentOf(state: Pick<LedgerState, 'sent' | 'held' | 'others'>): number {
  return state.sent + state.held + state.others;
}

type Account = Pick<LedgerState, 'quota' | 'quotaCap' | 'overage' | 'sent' | 'held' | 'others'>;

/** Requests that may still be taken; null while no quota is known. */
export function roomOf(state: Account): number | null {
  const limit = limitOf(state);
  return limit === null ? null : Math.max(0, limit - spentOf(state));
}

/** The account's requests of the period, for documents. */
export function useOf(state: Account & Pick<LedgerState, 'period'>) {
  const { period, quota, sent, held: inFlight, others } = state;
  const [limit, cap, used, left] = [limitOf(state), capOf(state), spentOf(state), roomOf(state)];
  return { period, quota, limit, cap, used, left, sent, inFlight, others };
}

/** Whether the account has used `WARN_AT` of its limit. */
export function isNearLimit(state: LedgerState): boolean {
  const limit = limitOf(state);
  return limit !== null && limit > 0 && spentOf(state) >= WARN_AT * limit;
}

/** The run's period setting, and whether the denied request could ask for the next period. */
export interface TurnQuestion {
  readonly period: PeriodSetting;
  readonly hasAskedForTurn: boolean;
}

/**
 * Why a permit was denied and what to do: judged on the state that came with the denial. A used-up
 * account whose period is over by the store's clock is not exhausted before the service could be
 * asked whether the next one has begun.
 */
export function judgeDenial(
  state: LedgerState,
  turn: TurnQuestion = { period: 'none', hasAskedForTurn: true },
): Denial {
  const { run, now, pace } = state;
  if (run === null || run.status === 'dead') return { type: 'revoked', why: 'dead' };
  if (run.status === 'cancelled' || run.status === 'halted') return { type: 'revoked', why: run.status };
  if (run.status === 'paused')
    return {
      type: 'paused',
      why: 'the run is paused; `brand-enrich resume RUN` continues it',
      retryInMs: 1_000,
    };
  if (state.isPaused) return wait('spending is paused; `brand-enrich resume` allows it again', 1_000);
  if (state.restsUntil > now) {
    const retryInMs = Math.min(state.restsUntil - now, 5_000);
    return wait('the ledger went back in time; waiting for the usage header', retryInMs);
  }
  if (state.isDraining) return wait('a new billing period has begun; waiting for requests in flight', 200);
  const out = state.held + state.probes;
  if (state.closedAt !== null && !state.isTurnUnconfirmed) {
    return state.probes > 0
      ? wait('one request checks whether the quota was raised', 200)
      : exhausted(state, turn, 'the service refuses further requests: its quota is reached');
  }
  const limit = limitOf(state);
  if (limit !== null && !state.isTurnUnconfirmed && spentOf(state) >= limit) {
    if (out > 0) return wait('all remaining permits are in use', 100);
    return exhausted(state, turn, exhaustedWords(state));
  }
  if (run.maxRequests !== null && run.requests >= run.maxRequests)
    return capped(out, `--max-requests ${run.maxRequests} is reached`);
  // The service bills overage from its own quota on.
  if (
    overageLeftFor(run) === 0 &&
    state.sent + out + state.others >= (state.quota ?? state.quotaCap ?? Infinity)
  )
    return capped(out, '--max-cost is reached');
  if (pace.floorMs > 0) return wait('the service asked for a pause', Math.min(pace.floorMs, 1_000));
  return wait('pace', pace.rate === null ? 50 : Math.min(Math.max(1_000 / pace.rate, 20), 1_000));
}

function wait(why: string, retryInMs: number): Denial {
  return { type: 'wait', why, retryInMs };
}

function exhausted(state: LedgerState, { period, hasAskedForTurn }: TurnQuestion, why: string): Denial {
  const endsAt = nextPeriodAt(state.period, period);
  if (endsAt === null || state.now < endsAt) return { type: 'exhausted', why };
  const asksAt = endsAt + RULES.turnMarginMs;
  if (asksAt > state.now) {
    const at = new Date(asksAt).toISOString().slice(11, 16);
    const sentence = `${why}; the billing period has ended; at ${at} UTC one request checks for the next one`;
    return wait(sentence, Math.min(asksAt - state.now, 5_000));
  }
  if (hasAskedForTurn && state.nextProbeAt > state.now) return { type: 'exhausted', why };
  // The request that asks goes a minute after all others: what its header shows has hardly lagged.
  const aloneInMs = state.closedAt === null ? state.heardAt + RULES.probeEveryMs - state.now : 0;
  if (aloneInMs > 0 && state.nextProbeAt <= state.now) {
    const sentence = `${why}; the billing period has ended; in ${Math.ceil(aloneInMs / 1_000)} s one request checks for the next one`;
    return wait(sentence, Math.min(aloneInMs, 5_000));
  }
  if (hasAskedForTurn) return { type: 'exhausted', why };
  return wait('one request checks whether the next billing period has begun', 0);
}

/** A cap counts held permits: one that is given back makes room again. */
function capped(out: number, what: string): Denial {
  return out > 0
    ? wait(`${what}; waiting for requests in flight`, 100)
    : { type: 'exhausted', why: `${what} by this run and earlier starts of it` };
}

function exhaustedWords(state: LedgerState): string {
  const { overage } = state;
  const cap = capOf(state);
  if (cap !== null && overage > 0)
    return `--quota ${cap} and the ${countOf(overage, 'request')} beyond it that the overage budget allows are used up`;
  if (cap !== null) return `--quota ${cap} is used up`;
  return overage > 0 ? 'the quota and the overage budget are used up' : 'the quota is used up';
}

/**
 * Which of the two 429s it is: the service's own code; else usage at or over the limit means quota;
 * else throughput. Our own count speaks too, because the header may lag: what was refused would
 * have been the last request of the limit, and a header that lags at the first reading leaves that
 * count one short.
 */
export function isQuotaRefusal(
  code: 'quota' | 'throughput' | null,
  reading: { readonly quota: number | null; readonly usage: number | null },
  state: LedgerState | null,
): boolean {
  if (code !== null) return code === 'quota';
  const { quota, usage } = reading;
  if (quota !== null && usage !== null && usage >= quota + (state?.overage ?? 0)) return true;
  if (state === null) return false;
  return state.sent + state.others + 1 >= (limitOf(state) ?? Infinity);
}

/** How long all may be refused as too many before the rest is deferred: 5 minutes, and one. */
export const THROTTLED_GIVE_UP_MS = 360_000;
/** The same if no code or header hints at a pace and too little was sent for a 5-minute window. */
export const THROTTLED_GIVE_UP_SILENT_MS = 45_000;

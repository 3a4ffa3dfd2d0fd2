/** The possible cost of a run, and its limits by quota, overage and caps, before it spends. */
import { costOf, requestsFor } from '../../core/decimal.js';
import { countOf } from '../../core/figures.js';
import { joinPhrases, type Phrase, phrase } from '../../core/phrase.js';
import { CHUNK_SIZE } from '../../engine/chunk-queue.js';
import type { Engine } from '../../engine/engine.js';
import type { RunSettings } from '../../engine/stores/run-store.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { capOf, overageLeftFor, overageOf } from '../../ledger/policy.js';
import type { Settings } from '../../settings/settings.js';
import { judgeAccount } from '../facts/judge-account.js';
import type { TrialResult } from './trial.js';

type SpendingEstimate = Readonly<ReturnType<typeof estimateSpending>>;

/** The facts of a question or notice before spending. */
export interface SpendingQuestion extends SpendingEstimate {
  readonly quotaLeft: number | null;
  /** The result of the trial, if the question is about the rest; else null. */
  readonly trial: TrialResult | null;
}

/** Returns the facts to decide on `requests` lookups. `state` includes the run's spending. */
export function spendingQuestion(
  requests: number,
  state: LedgerState,
  {
    runSettings,
    settings: { overagePrice },
  }: { readonly runSettings: RunSettings; readonly settings: Pick<Settings, 'overagePrice'> },
  trial: TrialResult | null = null,
): SpendingQuestion {
  const { overage, quotaCap } = state;
  const estimate = estimateSpending(requests, state, {
    settings: { ...runSettings, overage, quotaCap },
    overagePrice,
  });
  return { ...estimate, quotaLeft: judgeAccount(state).quotaLeft, trial };
}

/** True if a run may use more than half of the quota left. */
export function usesMostOfQuota({ withinQuota, quotaLeft }: SpendingQuestion): boolean {
  return withinQuota !== null && quotaLeft !== null && withinQuota > quotaLeft / 2;
}

/** Estimates cost and limits of `requests`, after those of earlier starts of the same command. */
export function estimateSpending(
  requests: number,
  state: LedgerState,
  request: {
    readonly settings: Pick<RunSettings, 'overage' | 'quotaCap' | 'maxRequests' | 'maxOverageRequests'>;
    readonly overagePrice: string;
  },
) {
  const { overage, quotaCap, maxRequests, maxOverageRequests } = request.settings;
  const { run } = state;
  const wanted = Math.min(requests, Math.max(0, orInfinity(maxRequests) - (run?.requests ?? 0)));
  const { quotaLeft, overageLeft } = judgeAccount({ ...state, overage, quotaCap });
  const withinQuota = quotaLeft === null ? null : Math.min(wanted, quotaLeft);
  const beyond = wanted - (withinQuota ?? 0);
  const capLeft = run === null ? orInfinity(maxOverageRequests) : overageLeftFor(run);
  const overageRequests = Math.min(beyond, overageLeft, capLeft);
  return {
    requests,
    /** Requests that the quota covers; null while it is unknown. */
    withinQuota,
    /** Overage requests at most, and their cost as exact text. */
    overageRequests,
    maxCost: costOf(overageRequests, request.overagePrice),
    /** Requests beyond quota and overage; null while unknown. */
    deferred: withinQuota === null ? null : requests - withinQuota - overageRequests,
  };
}

/** Settings by which a user limits spending below quota and overage budget. */
export type OwnLimit = 'maxRequests' | 'maxCost' | 'quota';

/** Returns the own limit that defers some of the requests; null if another limit or none does. */
export function ownLimitOf(
  estimate: Pick<SpendingEstimate, 'withinQuota' | 'overageRequests' | 'deferred'>,
  state: LedgerState,
  settings: Pick<RunSettings, 'overage' | 'quotaCap' | 'maxRequests' | 'maxOverageRequests'>,
): OwnLimit | null {
  const { withinQuota, overageRequests, deferred } = estimate;
  if (withinQuota === null || deferred === null || deferred === 0) return null;
  const { maxRequests, maxOverageRequests, quotaCap, overage } = settings;
  const isReached = withinQuota + overageRequests >= orInfinity(maxRequests) - (state.run?.requests ?? 0);
  if (isReached) return 'maxRequests';
  const capLeft = state.run === null ? orInfinity(maxOverageRequests) : overageLeftFor(state.run);
  const allowed = overageOf({ quota: state.quota, quotaCap, overage });
  if (overageRequests >= capLeft && capLeft < allowed) return 'maxCost';
  return capOf({ quota: state.quota, quotaCap }) === null ? null : 'quota';
}

/** Returns how many requests a run may still send, or null. `state`: from `accountOfRun`. */
export function requestsLeft(state: LedgerState): number | null {
  const { overage, quotaCap, run } = state;
  const caps = { maxRequests: run?.maxRequests ?? null, maxOverageRequests: run?.maxOverageRequests ?? null };
  const { withinQuota, overageRequests } = estimateSpending(Number.POSITIVE_INFINITY, state, {
    settings: { overage, quotaCap, ...caps },
    overagePrice: '0',
  });
  return withinQuota === null ? null : withinQuota + overageRequests;
}

/** Returns how many chunks the account can pay for, at least 1; lower priorities wait for them. */
export function chunksAhead(state: LedgerState): number {
  return Math.max(1, Math.floor((requestsLeft(state) ?? 0) / CHUNK_SIZE));
}

/** Returns the account with the run's own limits, and a lower `--quota` of another live run. */
export async function accountOfRun(
  engine: Pick<Engine, 'ledger'>,
  runId: string,
  { account, overage, quotaCap }: Pick<RunSettings, 'account' | 'overage' | 'quotaCap'>,
): Promise<LedgerState> {
  const state = await engine.ledger.show(account, runId);
  const lowest = Math.min(orInfinity(quotaCap), orInfinity(state.quotaCap));
  return { ...state, overage, quotaCap: Number.isFinite(lowest) ? lowest : null };
}

/** Returns a notice if another live run has lower limits, which all runs share; else null. */
export function foreignTerms(
  held: Pick<LedgerState, 'overage' | 'quotaCap'>,
  own: Pick<LedgerState, 'overage' | 'quotaCap'>,
): Phrase | null {
  const lower: Phrase[] = [];
  if (held.quotaCap !== null && held.quotaCap < orInfinity(own.quotaCap))
    lower.push(phrase`${{ setting: 'quota' }} ${held.quotaCap}`);
  if (held.overage < own.overage) lower.push(`a budget of ${countOf(held.overage, 'overage request')}`);
  if (lower.length === 0) return null;
  return phrase`another run of this account has ${joinPhrases(
    lower,
    ' and ',
  )}: the lower limit applies until that run has ended, or 30 s after it dies`;
}

/** True if one amount is more than another; both as plain decimal text. */
export function isMoreThan(amount: string, other: string): boolean {
  // In millionths: no price is more exact.
  return requestsFor(amount, '0.000001') > requestsFor(other, '0.000001');
}

function orInfinity(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY;
}

/**
 * Acts on what `judge.ts` says of an answer. A paid answer is recorded by the exchange that settles
 * its permit, or before it, and its halt is known before: a crash leaves a permit that expires as
 * sent, and no waiter takes a permit past a halt.
 */
import type { Answer, Meaning, Means } from '../brand-api/read-answer.js';
import type { NewOutcome, OutcomeKey } from '../core/outcome.js';
import { RETRY_LATER_FRESH_MS } from '../engine/stores/outcome-store.js';
import { packProfile } from '../engine/stores/profile-codec.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import type { Spent } from '../ledger/governor.js';
import { periodNamed } from '../ledger/period.js';
import { FAR_MS, isQuotaRefusal, limitOf, sayWait } from '../ledger/policy.js';
import { hasAnswers } from './address-trust.js';
import { type AskContext, type LookupUnderWay, later, type NextStep } from './asked.js';
import type { Pass } from './breaker.js';
import {
  type Address,
  isLost,
  isWrongAddress,
  judge,
  observe,
  seriesOf,
  trustOf,
  trustsBy,
  untrustedReason,
} from './judge.js';
import { LeftOnDisk } from './recorder.js';
import { SLOW_RATE, type UsageOfQuota } from './refusal-series.js';
import { QUICK_TRIES, quickRetryMs } from './retry-policy.js';

interface Received {
  readonly pass: Pass;
  readonly permit: string;
  readonly answer: Answer;
  readonly cost: Answer['cost'];
  /** The most requests of the account that were sent between it and its answer. */
  readonly later: number;
}

const REPEAT: NextStep = { type: 'repeat' };

/** True if a run trusts the address after an answer; then records the answers kept until now. */
async function learnTrust(answer: Answer, run: RunRecord, { addressTrust, governor }: AskContext) {
  const trust = addressTrust.of(run);
  trust.isTrusted ||= trustsBy(answer, run.tally) || (await addressTrust.hasAnswersOf(run.id));
  // An earlier answer that cannot be recorded must not take this one with it.
  if (trust.isTrusted) await Promise.allSettled(trust.kept.splice(0).map((each) => governor.record(each)));
  return trust.isTrusted;
}

export function addressOf(
  isTrusted: boolean,
  { settings, tally }: Pick<RunRecord, 'settings' | 'tally'>,
  { addressTrust, breaker, governor }: Pick<AskContext, 'addressTrust' | 'breaker' | 'governor'>,
): Address {
  // An account with a reading of its usage has had an answer.
  const earlier = governor.state?.usage == null ? null : 'account';
  return {
    service: addressTrust.service,
    isTrusted,
    allowsUnknown: settings.allowUnknown,
    answered: breaker.hasBeenGood ? 'process' : hasAnswers(tally) ? 'run' : earlier,
  };
}

/** Acts on an answer, and settles its permit. Throws engine errors. */
export async function handleAnswer(lookup: LookupUnderWay, received: Received): Promise<NextStep> {
  const { context, run, key } = lookup;
  const { pass, permit, answer, cost, later } = received;
  const { governor, breaker, addressTrust, refusals, clock } = context;
  const { meaning } = answer;
  const isTrusted = await learnTrust(answer, run, context);
  const address = addressOf(isTrusted, run, context);
  const trust = trustOf(answer, address);
  const period = periodNamed(answer.date, run.settings.period, governor.calendar(), isLost(answer));
  const observation = observe(answer, period, trust, later);
  const isQuota = meaning.type === 'refused' && isQuotaRefusal(meaning.code, answer, governor.state);
  const isGood = meaning.type !== 'unavailable' && (meaning.type !== 'refused' || isQuota);
  breaker.note(pass, isGood, clock.monotonic(), meaning.type !== 'unavailable');
  context.gauge.outage = outageOf(context, meaning, address);
  const isSlow = pass.isProbe || (governor.state?.pace.rate ?? Number.POSITIVE_INFINITY) <= SLOW_RATE;
  const usedUp = refusals.note(answer, isSlow, clock.monotonic(), ownCountOf(context));
  const series = seriesOf(answer, address);
  const step = judge(answer, address, {
    count: series === null ? 0 : await countIn(series, lookup, answer),
    isSecond: lookup.unusable !== null,
    badForMs: breaker.badForMs(clock.monotonic()),
    isQuota,
    usedUp,
  });

  const billed = answer.cost !== 'free';
  if (step.type === 'record') {
    const spent = { permit, as: cost, observation };
    return recordOutcome(lookup, newOutcome(key, step.meaning, billed), step.meaning, spent);
  }
  const settle = () => {
    // A service that refuses even one request in ten seconds is not asked too fast, and the pace
    // would fall to nothing.
    if (meaning.type === 'refused' && (isQuota || !pass.isProbe || meaning.retryAfterMs !== null))
      governor.refuse(permit, { isQuota, retryAfterMs: meaning.retryAfterMs }, observation);
    else governor.settle(permit, cost, observation);
  };
  // An untrusted failure was kept before it was counted.
  if (step.type === 'fail' && step.kept !== null && trust !== 'untrusted') {
    const isFinal = step.kept === 'final' && ({ isFinal: true } as const);
    await context.keepFailure(run.id, { key, reason: step.reason, billed, ...isFinal });
  }
  const halt = 'halt' in step ? step.halt : null;
  if (halt === null) settle();
  else {
    await context.halt(run.id, halt).finally(settle);
    if (halt.why === 'useless') addressTrust.forget(run.id);
  }
  switch (step.type) {
    case 'fail':
      return { type: 'failed', reason: step.reason, billed };
    case 'halt':
      return { type: 'halted', halt: step.halt };
    case 'repeat':
      if (step.unusable === null) lookup.tries = 0;
      else lookup.unusable = step.unusable;
      return REPEAT;
    case 'retry':
      return retry(lookup, step.meaning);
  }
}

async function countIn(
  series: NonNullable<ReturnType<typeof seriesOf>>,
  { context: { addressTrust, keepFailure }, run, key }: LookupUnderWay,
  answer: Answer,
): Promise<number> {
  if (series === 'unusable') return addressTrust.noteUnusable();
  const { meaning } = answer;
  const billed = answer.cost !== 'free';
  // Durable before it is counted, since it may have been paid for.
  await keepFailure(run.id, { key, reason: untrustedReason(answer), billed });
  const trust = addressTrust.of(run);
  if (meaning.type === 'not_found') trust.kept.push(newOutcome(key, meaning, billed));
  trust.untrusted += 1;
  return trust.untrusted;
}

/** Says why the breaker is open, or null. A wrong address is not an outage, since its run ends. */
function outageOf({ breaker, clock, gauge }: AskContext, meaning: Meaning, address: Address): string | null {
  const isOut = meaning.type === 'unavailable' || meaning.type === 'refused';
  const waitMs = isOut ? (meaning.retryAfterMs ?? 0) : 0;
  const until = clock.now() + waitMs;
  if (waitMs >= FAR_MS) gauge.retryAt = Math.max(gauge.retryAt, until);
  if (!breaker.isOpen || isWrongAddress(meaning, address)) return null;
  const reason = meaning.type === 'unavailable' ? meaning.reason : 'the service refuses requests as too many';
  return waitMs >= FAR_MS ? `${reason}; ${sayWait(until)}` : reason;
}

async function recordOutcome(
  { context, key, leaveGate }: LookupUnderWay,
  outcome: NewOutcome,
  meaning: Means<'matched' | 'not_found'>,
  spent: Spent,
): Promise<NextStep> {
  context.addressTrust.noteGood();
  const retryLater = meaning.type === 'not_found' && meaning.retryLater;
  const profile = meaning.type === 'matched' ? meaning : null;
  const report = (fetchedAt: number) =>
    context.listener?.onAnswer({ key, status: meaning.type, retryLater, profile, fetchedAt });
  try {
    const recorded = context.governor.record(outcome, spent);
    leaveGate();
    report(await recorded);
    return { type: meaning.type };
  } catch (error) {
    // The file of a run that ends without its engine still gets the paid answer.
    if (error instanceof LeftOnDisk) report(context.clock.now());
    throw error;
  }
}

export function newOutcome(key: OutcomeKey, meaning: Means<'matched' | 'not_found'>, billed: boolean) {
  const packed = meaning.type === 'matched' ? packProfile(meaning.body) : null;
  const freshMs = meaning.type === 'not_found' && meaning.retryLater ? RETRY_LATER_FRESH_MS : null;
  return { key, status: meaning.type, packed, billed, freshMs };
}

/** Asks again at once, or later from the queue. */
async function retry(
  { context, signals, tries }: LookupUnderWay,
  { reason, retryAfterMs }: Means<'unavailable'>,
): Promise<NextStep> {
  const again = later(retryAfterMs ?? 0);
  const waitMs = quickRetryMs(tries, retryAfterMs, Math.random());
  if (waitMs === null) {
    const isAttempt = tries >= QUICK_TRIES || retryAfterMs !== null;
    return isAttempt ? { ...again, failedAttempt: reason } : again;
  }
  try {
    await context.clock.sleep(waitMs, signals.stop);
  } catch {
    return again;
  }
  return REPEAT;
}

/** Returns the ledger's own count and quota; null while the quota is unknown. */
function ownCountOf({ governor: { state } }: AskContext): UsageOfQuota | null {
  if (state === null) return null;
  const quota = limitOf({ ...state, overage: 0 });
  return quota === null ? null : { usage: state.sent + state.others, quota };
}

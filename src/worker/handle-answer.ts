/**
 * What one answer leads to: an outcome, a failure, a halt or another request. An answer that was
 * paid for is durable, and a halt is known, before the permit is settled: a crash in between leaves
 * a permit that expires as sent, and no waiter takes a permit past a halt.
 */
import {
  isQuotaRefusal,
  limitOf,
  THROTTLED_GIVE_UP_MS,
  THROTTLED_GIVE_UP_SILENT_MS,
} from '../ledger/policy.js';
import type { Answer, Meaning } from '../lookup/read-answer.js';
import { RETRY_LATER_FRESH_MS } from '../stores/outcome-store.js';
import { packProfile } from '../stores/profile-codec.js';
import type { RunHalt } from '../stores/run-store.js';
import { weigh } from './answer-worth.js';
import { type AskContext, type LookupUnderWay, later, type NextStep } from './asked.js';
import type { Pass } from './breaker.js';
import * as reasons from './halt-reasons.js';
import { LeftOnDisk } from './recorder.js';
import { SLOW_RATE, type UsageOfQuota } from './refusal-series.js';
import { QUICK_TRIES, quickRetryMs } from './retry-policy.js';

/** A service that was never reached is more likely misspelt than down. */
const UNREACHABLE_MS = 60_000;
/** Nothing listens at an address that never answered: time for a service started alongside. */
const REFUSED_MS = 3_000;
/** A name not found or a certificate not trusted for so long: a second look, and no more. */
const LASTING_MS = 500;

interface Received {
  readonly pass: Pass;
  readonly permit: string;
  readonly answer: Answer;
}

interface Judged extends Received {
  readonly lookup: LookupUnderWay;
  /** Settles the permit by what the answer cost, and passes on what it said of usage. */
  readonly settle: () => void;
}

type Means<Type extends Meaning['type']> = Extract<Meaning, { type: Type }>;

const REPEAT: NextStep = { type: 'repeat' };

/** Does what the answer asks for, and settles its permit. Throws engine errors. */
export async function handleAnswer(lookup: LookupUnderWay, received: Received): Promise<NextStep> {
  const { context, run } = lookup;
  const { pass, permit, answer } = received;
  const { governor, recorder, breaker, standing, refusals, clock } = context;
  const { meaning, cost } = answer;
  const { worth, observation } = await weigh(answer, run, standing, recorder);
  const settle = () => governor.settle(permit, cost, observation);
  const isQuota = meaning.type === 'refused' && isQuotaRefusal(meaning.code, answer, governor.state);
  const isGood = meaning.type !== 'unavailable' && (meaning.type !== 'refused' || isQuota);
  breaker.note(pass, isGood, clock.monotonic());
  context.gauge.outage = outageOf(lookup, meaning);
  const isSlow = pass.isProbe || (governor.state?.pace.rate ?? Number.POSITIVE_INFINITY) <= SLOW_RATE;
  const usedUp = refusals.note(answer, isSlow, clock.monotonic(), ownCountOf(context));

  const judged = { lookup, pass, permit, answer, settle };
  if (worth === 'unproven' || worth === 'foreign') return keepUntrusted(judged, worth);
  switch (meaning.type) {
    case 'matched':
    case 'not_found':
      return recordOutcome(judged, meaning);
    case 'refused': {
      const { retryAfterMs } = meaning;
      // A service that refuses even one request in ten seconds is not asked too fast: the pace
      // would only fall to nothing.
      if (pass.isProbe && !isQuota && retryAfterMs === null) governor.settle(permit, 'free', observation);
      else governor.refuse(permit, { isQuota, retryAfterMs }, observation);
      return isQuota ? repeatRefused(lookup) : afterThrottling(judged, meaning, usedUp);
    }
    case 'credentials': {
      const halt = { why: 'credentials', sentence: `${meaning.reason} (status ${meaning.status})` } as const;
      await context.halt(run.id, halt).finally(settle);
      return { type: 'halted', halt };
    }
    case 'failed':
    case 'wasted': {
      const isUseless = meaning.type === 'wasted' || meaning.isNoBrand;
      const halt = isUseless ? await haltOfUseless(lookup, permit, meaning.reason) : null;
      const isAskedOnce = meaning.type === 'wasted' && lookup.damage === null;
      if (!isAskedOnce) return keepFailure(judged, meaning, halt);
      // A damaged or lost answer is worth one more request, which may be billed too.
      settle();
      lookup.damage = meaning.reason;
      return halt ? { type: 'halted', halt } : REPEAT;
    }
    case 'unavailable':
      settle();
      return afterOutage(lookup, meaning);
  }
}

/** For people, while the breaker is open. A wrong address is no outage: the run's end says it. */
function outageOf({ context, run }: LookupUnderWay, meaning: Meaning): string | null {
  if (!context.breaker.isOpen || isWrongAddress(context, run, meaning)) return null;
  return meaning.type === 'unavailable' ? meaning.reason : 'the service refuses requests as too many';
}

/** A name not found, a certificate not trusted or a proxy that refuses, before any answer. */
function isWrongAddress(context: AskContext, { tally }: LookupUnderWay['run'], meaning: Meaning): boolean {
  if (meaning.type !== 'unavailable' || meaning.isLasting !== true) return false;
  return !(meaning.isBarred ? hasAnswered(context, tally) : hasEverAnswered(context, tally));
}

/** An answer perhaps not from the service is kept as a failure until the address is proven. */
async function keepUntrusted(
  { lookup, answer, settle }: Judged,
  worth: 'unproven' | 'foreign',
): Promise<NextStep> {
  const { context, run, key } = lookup;
  const { standing } = context;
  const billed = answer.cost !== 'free';
  const reason = worth === 'foreign' ? reasons.foreignReason(answer) : reasons.unprovenReason(answer);
  await context.keepFailure(run.id, { key, reason, billed });
  const note = { run: run.id, billed, isFailure: answer.meaning.type !== 'not_found' };
  let halt = worth === 'foreign' ? reasons.foreign(standing.service, answer) : null;
  if (halt === null && (await standing.noteUnproven(key, note)) >= reasons.UNPROVEN_AT_MOST)
    halt = reasons.unproven(standing.service);
  if (halt !== null) {
    await context.halt(run.id, halt);
    await standing.forgetUnproven(run.id);
  }
  settle();
  return { type: 'failed', reason, billed };
}

async function recordOutcome(
  { lookup, answer, settle }: Judged,
  meaning: Means<'matched' | 'not_found'>,
): Promise<NextStep> {
  const { context, key } = lookup;
  await context.standing.noteGood();
  const retryLater = meaning.type === 'not_found' && meaning.retryLater;
  const profile = meaning.type === 'matched' ? meaning : null;
  const report = (fetchedAt: number) =>
    context.listener?.onAnswer({ key, status: meaning.type, retryLater, profile, fetchedAt });
  const recorded = context.recorder.record({
    key,
    status: meaning.type,
    packed: profile && packProfile(profile.body, context.compress),
    billed: answer.cost !== 'free',
    freshMs: retryLater ? RETRY_LATER_FRESH_MS : null,
  });
  const fetchedAt = await recorded.catch((error: unknown) => {
    // The file of a run that ends without its engine has what was paid for.
    if (error instanceof LeftOnDisk) report(context.clock.now());
    throw error;
  });
  settle();
  report(fetchedAt);
  return { type: meaning.type };
}

/** A refusal uses up no attempt; after one for quota the next permit says what is left. */
function repeatRefused(lookup: LookupUnderWay): NextStep {
  lookup.tries = 0;
  return REPEAT;
}

/** `usedUp`: the usage at which the service refuses for quota without a word; null: it does not. */
function afterThrottling(
  { lookup, answer }: Judged,
  meaning: Means<'refused'>,
  usedUp: UsageOfQuota | null,
): NextStep {
  const { breaker, clock } = lookup.context;
  if (usedUp !== null) return { type: 'halted', halt: reasons.overstated(usedUp) };
  const isSilent = meaning.code === null && meaning.retryAfterMs === null && answer.usage === null;
  const patienceMs = isSilent ? THROTTLED_GIVE_UP_SILENT_MS : THROTTLED_GIVE_UP_MS;
  const isOver = breaker.badForMs(clock.monotonic()) > patienceMs;
  return isOver ? { type: 'halted', halt: reasons.throttled(patienceMs) } : repeatRefused(lookup);
}

/** Paid for and not asked for again, so it is kept as an answer is. */
async function keepFailure(
  { lookup, answer, settle }: Judged,
  meaning: Means<'failed' | 'wasted'>,
  halt: RunHalt | null,
): Promise<NextStep> {
  const { context, run, key } = lookup;
  const failure = { reason: meaning.reason, billed: answer.cost !== 'free' };
  const isFinal = meaning.type === 'failed' && ({ isFinal: true } as const);
  if (failure.billed) await context.keepFailure(run.id, { key, ...failure, ...isFinal });
  if (halt) await context.halt(run.id, halt);
  settle();
  return { type: 'failed', ...failure };
}

/** Counts a useless answer. Where the address never gave a good one, fewer of them end the run. */
async function haltOfUseless(
  { context: { standing }, run }: LookupUnderWay,
  permit: string,
  reason: string,
): Promise<RunHalt | null> {
  const count = await standing.noteUseless(permit);
  if (count < reasons.UNPROVEN_AT_MOST) return null;
  const isTrusted = run.settings.allowUnknown || (await standing.isProven());
  const atMost = isTrusted ? reasons.WASTED_AT_MOST : reasons.UNPROVEN_AT_MOST;
  return count < atMost ? null : reasons.useless(count, reason);
}

/** Asks again at once, or later through the queue; ends the run where waiting cannot help. */
async function afterOutage(
  { context, run, signals, tries }: LookupUnderWay,
  meaning: Means<'unavailable'>,
): Promise<NextStep> {
  const { breaker, standing, clock } = context;
  const badForMs = breaker.badForMs(clock.monotonic());
  const { reason, retryAfterMs } = meaning;
  if (meaning.isUnsent && !breaker.hasBeenGood && badForMs > UNREACHABLE_MS)
    return { type: 'halted', halt: reasons.unreached(reason) };
  const isUnknown = !hasEverAnswered(context, run.tally);
  if (meaning.isRefused && badForMs > REFUSED_MS && isUnknown && !(await standing.isProven()))
    return { type: 'halted', halt: reasons.refused(reason) };
  if (isWrongAddress(context, run, meaning) && badForMs > LASTING_MS)
    return { type: 'halted', halt: reasons.unreachableForGood(reason) };
  const again = later(retryAfterMs ?? 0, reason);
  const waitMs = quickRetryMs(tries, retryAfterMs, Math.random());
  if (waitMs === null) return { ...again, countsAsAttempt: tries >= QUICK_TRIES || retryAfterMs !== null };
  try {
    await clock.sleep(waitMs, signals.stop);
  } catch {
    return again;
  }
  return REPEAT;
}

/**
 * Whether the service ever gave an answer: here, to this run elsewhere, or to this account before.
 * Where it did, a host that is not found is an outage, of its name server or of this machine's.
 */
function hasEverAnswered(context: AskContext, tally: LookupUnderWay['run']['tally']): boolean {
  return hasAnswered(context, tally) || context.governor.state?.usage != null;
}

/** The same without earlier runs: the password of a proxy may have changed since. */
function hasAnswered(
  { breaker }: AskContext,
  { matched, notFound }: LookupUnderWay['run']['tally'],
): boolean {
  return breaker.hasBeenGood || matched + notFound > 0;
}

/** The ledger's own count against the quota; null while the quota is unknown. */
function ownCountOf({ governor: { state } }: AskContext): UsageOfQuota | null {
  if (state === null) return null;
  const quota = limitOf({ ...state, overage: 0 });
  return quota === null ? null : { usage: state.sent + state.others, quota };
}

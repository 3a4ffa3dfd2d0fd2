/**
 * One identifier from claim to durable outcome: breaker, permit, request, settlement, record. Says
 * what it came to; `resolve-chunk.ts` decides what follows for the chunk and the run.
 *
 *   again      not billed and not answered, or somebody else is asking: the job comes back for it
 *   failed     will not be asked again by this run; the next one may, if it is deferred
 *   halted     the whole run must stop asking
 */
import type { Clock } from '../core/clock.js';
import type { Identifier } from '../core/identifier.js';
import type { Governor } from '../ledger/governor.js';
import { NO_OBSERVATION } from '../ledger/outbox.js';
import {
  isQuotaRefusal,
  limitOf,
  THROTTLED_GIVE_UP_MS,
  THROTTLED_GIVE_UP_SILENT_MS,
} from '../ledger/policy.js';
import type { Client } from '../lookup/client.js';
import { COME_BACK_FRESH_MS } from '../stores/outcome-store.js';
import { packProfile } from '../stores/profile-codec.js';
import type { LookupFailure, RunHalt, RunRecord } from '../stores/run-store.js';
import { weigh } from './answer-worth.js';
import type { Breaker } from './breaker.js';
import * as reasons from './halt-reasons.js';
import type { Halts } from './halts.js';
import type { Recorder } from './recorder.js';
import { type RefusalSeries, SLOW_RATE, type UsageOfQuota } from './refusal-series.js';
import { BUSY_RETRY_MS, HOPELESS_MS, HOPELESS_REASON, QUICK_TRIES, quickRetryMs } from './retry-policy.js';
import { NO_TURN, type ServiceStanding } from './service-standing.js';
import type { WorkerListener } from './worker-listener.js';

/** What asking needs of its process. */
export interface AskContext {
  readonly client: Client;
  readonly governor: Governor;
  readonly recorder: Pick<Recorder, 'record' | 'untilRoom'>;
  readonly breaker: Breaker;
  readonly standing: ServiceStanding;
  readonly refusals: RefusalSeries;
  readonly clock: Clock;
  readonly compress: boolean;
  readonly halts: Pick<Halts, 'get'>;
  /** Notified of answers. */
  readonly listener?: Pick<WorkerListener, 'onAnswer'> | undefined;
  /** Called for each request that was sent, and whether it was or may have been billed. */
  readonly onSent?: ((run: string, isBilled: boolean) => void) | undefined;
  /** Keeps a failed lookup for its run. Resolves when it is as durable as the engine promises. */
  readonly keepFailure: (run: string, failure: LookupFailure) => Promise<void>;
  /** Stops asking for a run: here at once and, when it resolves, in every other worker. */
  readonly halt: (run: string, halt: RunHalt) => Promise<void>;
  /** For people: requests in flight, and the service's trouble while the breaker is open. */
  readonly gauge: { inFlight: number; trouble: string | null };
}

export interface Asked {
  readonly result:
    | { readonly type: 'matched' | 'not_found' }
    | {
        readonly type: 'failed';
        readonly reason: string;
        readonly billed: boolean;
        /** It may be asked for by the next run of the same command. */
        readonly isDeferred?: boolean;
      }
    | {
        readonly type: 'again';
        readonly countsAsAttempt: boolean;
        readonly retryInMs: number;
        readonly reason: string;
      }
    | { readonly type: 'halted'; readonly halt: RunHalt }
    | { readonly type: 'revoked' };
  readonly requests: number;
  readonly billed: number;
}

/** A service that was never reached is more likely misspelt than down. */
const UNREACHABLE_MS = 60_000;
/** Nothing listens at an address that never answered: time for a service started alongside. */
const REFUSED_MS = 3_000;
/** A name not found or a certificate not trusted for so long: a second look, and no more. */
const LASTING_MS = 500;

/** `stop` ends waiting before a request; `abort` also ends a request that is under way. */
export async function ask(
  context: AskContext,
  run: RunRecord,
  key: string,
  identifier: Identifier,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<Asked> {
  let leave = NO_TURN;
  const needsNoTurn = run.settings.allowUnknown || context.halts.get(run.id);
  try {
    if (!needsNoTurn) leave = await context.standing.enter(signals.stop);
  } catch {
    return unasked(STOPPED);
  }
  try {
    const halt = context.halts.get(run.id);
    if (halt) return unasked({ type: 'halted', halt });
    return await askInTurn(context, run, key, identifier, signals);
  } finally {
    await leave();
  }
}

/** What it comes to when nothing is sent. */
export function unasked(result: Asked['result']): Asked {
  return { result, requests: 0, billed: 0 };
}

/** To be asked for again later; no attempt of its own is used up. */
export function later(retryInMs: number, reason: string): Asked['result'] & { type: 'again' } {
  return { type: 'again', countsAsAttempt: false, retryInMs, reason };
}

/** What somebody who has the claim, or the key in this process, leaves for us. */
export const BUSY = later(BUSY_RETRY_MS, 'another worker is asking');
const STOPPED = later(0, 'stopped');

async function askInTurn(
  context: AskContext,
  run: RunRecord,
  key: string,
  identifier: Identifier,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<Asked> {
  const { client, governor, recorder, breaker, refusals, standing, halts, clock } = context;
  const { allowNsfw, freeStatuses, period } = run.settings;
  let requests = 0;
  let billed = 0;
  let wasted = 0;
  /** What was wrong with an answer that came and was billed; null: none came. */
  let damage: string | null = null;
  let tries = 0;
  const came = (result: Asked['result']): Asked => ({ result, requests, billed });
  const halted = (halt: RunHalt) => came({ type: 'halted', halt });

  for (;;) {
    const admission = breaker.enter(clock.monotonic());
    if (admission.type === 'rejected') {
      const isHopeless = breaker.badForMs(clock.monotonic()) > HOPELESS_MS;
      if (isHopeless) return came({ type: 'failed', reason: HOPELESS_REASON, billed: false });
      return came(later(admission.retryInMs, 'the service is unavailable'));
    }
    let permit: string;
    try {
      await recorder.untilRoom(signals.stop);
      const asker = { id: run.id, period, maxRate: run.settings.maxRate ?? null };
      const grant = await governor.take(asker, key, signals.stop);
      if (grant.type !== 'granted') {
        breaker.cancel(admission);
        return came(withoutPermit(grant, damage));
      }
      permit = grant.permit;
    } catch {
      breaker.cancel(admission);
      return came(STOPPED);
    }
    // Halted, or opened, while this one waited for its permit: a refused token must not be shown
    // again.
    const known = halts.get(run.id);
    if (known || (breaker.isOpen && !admission.isProbe)) {
      breaker.cancel(admission);
      governor.settle(permit, 'free', NO_OBSERVATION);
      if (known) return halted(known);
      continue;
    }

    context.gauge.inFlight += 1;
    const answer = await client.lookup(identifier, { allowNsfw, freeStatuses, signal: signals.abort });
    context.gauge.inFlight -= 1;
    requests += 1;
    tries += 1;
    const isBilled = answer.cost !== 'free';
    if (isBilled) billed += 1;
    context.onSent?.(run.id, isBilled);
    const { meaning } = answer;
    if (signals.abort.aborted && (meaning.type === 'wasted' || meaning.type === 'unavailable')) {
      // Cut off by ourselves: it says nothing of the service, and whoever asks next counts the
      // doubt.
      breaker.cancel(admission);
      governor.settle(permit, answer.cost, NO_OBSERVATION);
      return came(STOPPED);
    }
    const { worth, observation: heard } = await weigh(answer, run, standing, recorder);
    const isQuota = meaning.type === 'refused' && isQuotaRefusal(meaning.code, answer, governor.state);
    const isGood = meaning.type !== 'unavailable' && (meaning.type !== 'refused' || isQuota);
    breaker.note(admission, isGood, clock.monotonic());
    const isWrong =
      meaning.type === 'unavailable' &&
      meaning.isLasting === true &&
      !(meaning.isBarred ? hasAnswered(context, run) : hasEverAnswered(context, run));
    // A wrong address is no outage to be waited out: it is said when it ends the run.
    const trouble =
      meaning.type === 'unavailable' ? meaning.reason : 'the service refuses requests as too many';
    context.gauge.trouble = breaker.isOpen && !isWrong ? trouble : null;
    const isSlow = admission.isProbe || (governor.state?.pace.rate ?? Number.POSITIVE_INFINITY) <= SLOW_RATE;
    const usedUp = refusals.note(answer, isSlow, clock.monotonic(), ownCountOf(governor));

    if (worth === 'unproven' || worth === 'foreign') {
      const reason = worth === 'foreign' ? reasons.foreignReason(answer) : reasons.unprovenReason(answer);
      await context.keepFailure(run.id, { key, reason, billed: isBilled });
      const note = { run: run.id, billed: isBilled, isFailure: meaning.type !== 'not_found' };
      let halt = worth === 'foreign' ? reasons.foreign(standing.service, answer) : null;
      if (halt === null && (await standing.noteUnproven(key, note)) >= reasons.UNPROVEN_AT_MOST)
        halt = reasons.unproven(standing.service);
      if (halt !== null) {
        await context.halt(run.id, halt);
        await standing.forgetUnproven(run.id);
      }
      // Settled at last: whoever waits for the permit, in another process too, must meet the halt
      // first.
      governor.settle(permit, answer.cost, heard);
      return came({ type: 'failed', reason, billed: isBilled });
    }
    if (meaning.type === 'matched' || meaning.type === 'not_found') {
      await standing.noteGood();
      const comeBack = meaning.type === 'not_found' && meaning.comeBack;
      // Recorded before it is settled: a crash in between leaves a permit that runs out as sent,
      // which it was.
      const fetchedAt = await recorder.record({
        key,
        status: meaning.type,
        packed: meaning.type === 'matched' ? packProfile(meaning.body, context.compress) : null,
        billed: isBilled,
        freshMs: comeBack ? COME_BACK_FRESH_MS : null,
      });
      governor.settle(permit, answer.cost, heard);
      const profile = meaning.type === 'matched' ? meaning : null;
      context.listener?.onAnswer({ key, status: meaning.type, comeBack, profile, fetchedAt });
      return came({ type: meaning.type });
    }
    if (meaning.type === 'refused') {
      const { retryAfterMs } = meaning;
      // A service that refuses even one request in ten seconds is not asked too fast: the pace
      // would only fall to nothing.
      if (admission.isProbe && !isQuota && retryAfterMs === null) governor.settle(permit, 'free', heard);
      else governor.refuse(permit, { isQuota, retryAfterMs }, heard);
      if (!isQuota) {
        if (usedUp !== null) return halted(reasons.overstated(usedUp));
        const isSilent = meaning.code === null && retryAfterMs === null && answer.usage === null;
        const patienceMs = isSilent ? THROTTLED_GIVE_UP_SILENT_MS : THROTTLED_GIVE_UP_MS;
        if (breaker.badForMs(clock.monotonic()) > patienceMs) return halted(reasons.throttled(patienceMs));
      }
      // A refusal costs no attempt; for quota the next take says what there is to say.
      tries = 0;
      continue;
    }
    if (meaning.type === 'credentials') {
      const halt = { why: 'credentials', sentence: `${meaning.reason} (status ${meaning.status})` } as const;
      // Known before the permit is given back: whoever waits for it, anywhere, would show the same
      // token.
      await context.halt(run.id, halt).finally(() => governor.settle(permit, answer.cost, heard));
      return halted(halt);
    }
    const isUseless = meaning.type === 'wasted' || (meaning.type === 'failed' && meaning.isNoBrand);
    const halt = isUseless ? await haltOfUseless(context, run, permit, meaning.reason) : null;
    if (meaning.type === 'failed' || (meaning.type === 'wasted' && wasted > 0)) {
      const failure = { reason: meaning.reason, billed: answer.cost !== 'free' };
      const isFinal = meaning.type === 'failed';
      // Paid for and not asked for again, so it is kept like an answer: before it is settled.
      if (failure.billed) await context.keepFailure(run.id, { key, ...failure, ...(isFinal && { isFinal }) });
      if (halt) await context.halt(run.id, halt);
      governor.settle(permit, answer.cost, heard);
      return came({ type: 'failed', ...failure });
    }
    governor.settle(permit, answer.cost, heard);
    if (meaning.type === 'wasted') {
      if (halt) return halted(halt);
      wasted += 1;
      damage = meaning.reason;
      continue;
    }
    const badForMs = breaker.badForMs(clock.monotonic());
    const { reason, retryAfterMs } = meaning;
    if (meaning.isUnsent && !breaker.hasBeenGood && badForMs > UNREACHABLE_MS)
      return halted(reasons.unreached(reason));
    const isUnknown = !hasEverAnswered(context, run);
    if (meaning.isRefused && badForMs > REFUSED_MS && isUnknown && !(await standing.isProven()))
      return halted(reasons.refused(reason));
    if (isWrong && badForMs > LASTING_MS) return halted(reasons.unreachableForGood(reason));
    const again = later(retryAfterMs ?? 0, reason);
    const waitMs = quickRetryMs(tries, retryAfterMs, Math.random());
    if (waitMs === null)
      return came({ ...again, countsAsAttempt: tries >= QUICK_TRIES || retryAfterMs !== null });
    try {
      await clock.sleep(waitMs, signals.stop);
    } catch {
      return came(again);
    }
  }
}

/** Counts a useless answer. Where the address never gave a good one, fewer of them end the run. */
async function haltOfUseless(
  { standing }: AskContext,
  { settings }: RunRecord,
  permit: string,
  reason: string,
): Promise<RunHalt | null> {
  const count = await standing.noteUseless(permit);
  if (count < reasons.UNPROVEN_AT_MOST) return null;
  const isTrusted = settings.allowUnknown || (await standing.isProven());
  const atMost = isTrusted ? reasons.WASTED_AT_MOST : reasons.UNPROVEN_AT_MOST;
  return count < atMost ? null : reasons.useless(count, reason);
}

function withoutPermit(
  grant: Exclude<Awaited<ReturnType<Governor['take']>>, { type: 'granted' }>,
  damage: string | null,
): Asked['result'] {
  switch (grant.type) {
    case 'lost':
      return BUSY;
    case 'spent':
      // Twice in vain, and now by an answer that was there: another run would fare no better.
      if (damage !== null) return { type: 'failed', reason: damage, billed: true };
      return { type: 'failed', reason: reasons.DOUBTFUL_REASON, billed: true, isDeferred: true };
    case 'exhausted':
      return { type: 'halted', halt: { why: 'limit', sentence: grant.why } };
    case 'revoked':
      return { type: 'revoked' };
  }
}

/**
 * Whether the service ever gave an answer: here, to this run elsewhere, or to this account before.
 * Where it did, a host that is not found is an outage, of its name server or of this machine's.
 */
function hasEverAnswered(context: AskContext, run: RunRecord): boolean {
  return hasAnswered(context, run) || context.governor.state?.usage != null;
}

/** The same without earlier runs: a proxy's password may be another one since. */
function hasAnswered({ breaker }: AskContext, { tally }: RunRecord): boolean {
  return breaker.hasBeenGood || tally.matched + tally.notFound > 0;
}

/** What the ledger counts of the quota; null while none is known. */
function ownCountOf({ state }: Governor): UsageOfQuota | null {
  if (state === null) return null;
  const quota = limitOf({ ...state, overage: 0 });
  return quota === null ? null : { usage: state.sent + state.others, quota };
}

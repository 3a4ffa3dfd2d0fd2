/**
 * One identifier from claim to durable outcome: breaker, permit, request, settlement, record. Says what it came
 * to; what follows for the chunk and the run is `resolve-chunk.ts`'s.
 *
 *   again      not billed and not answered, or somebody else is asking: the job comes back for it
 *   failed     will not be asked again by this run
 *   halted     the whole run must stop asking
 */
import type { Clock } from '../clock.js';
import type { Client } from '../lookup/client.js';
import type { Answer } from '../lookup/read-answer.js';
import type { Identifier } from '../model.js';
import { packProfile } from '../outcomes/codec.js';
import { COME_BACK_FRESH_MS } from '../outcomes/freshness.js';
import type { Governor } from '../quota/governor.js';
import { isQuotaRefusal, THROTTLED_GIVE_UP_MS, THROTTLED_GIVE_UP_SILENT_MS } from '../quota/policy.js';
import type { RunHalt, RunRecord } from '../runs/run-store.js';
import type { Breaker } from './breaker.js';
import { throttled, unreachableForGood, unreached, useless, WASTED_AT_MOST } from './halt-reasons.js';
import type { Halts } from './halts.js';
import { heardFrom } from './heard-from.js';
import type { Recorder } from './recorder.js';
import { BUSY_RETRY_MS, HOPELESS_MS, HOPELESS_REASON, QUICK_TRIES, quickRetryMs } from './retry-policy.js';
import type { WorkerListener } from './worker-listener.js';

/** What asking needs of its process. */
export interface AskContext {
  readonly client: Client;
  readonly governor: Governor;
  readonly recorder: Recorder;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly compress: boolean;
  readonly halts: Pick<Halts, 'get'>;
  /** Whom to tell of answers; absent: nobody. */
  readonly listener?: Pick<WorkerListener, 'onAnswer'> | undefined;
  /** Keeps a run from being asked for any more, here and, once it resolves, by every other worker. */
  readonly halt: (run: string, halt: RunHalt) => Promise<void>;
  /** Requests in flight, and what the service does instead of answering while the breaker is open: for people. */
  readonly gauge: { inFlight: number; trouble: string | null; wastedInARow: number };
}

export interface Asked {
  readonly result:
    | { readonly type: 'matched' | 'not_found' }
    | { readonly type: 'failed'; readonly reason: string; readonly billed: boolean }
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
/** A name that is not found, or a certificate that is not trusted, for so long: a second look, and no more. */
const LASTING_MS = 500;

/** `stop` ends waiting before a request; `abort` also ends a request that is under way. */
export async function ask(
  context: AskContext,
  run: RunRecord,
  key: string,
  identifier: Identifier,
  signals: { stop: AbortSignal; abort: AbortSignal },
): Promise<Asked> {
  const { client, governor, recorder, breaker, halts, clock } = context;
  const { allowNsfw, freeStatuses, period } = run.settings;
  let requests = 0;
  let billed = 0;
  let wasted = 0;
  let tries = 0;
  const come = (result: Asked['result']): Asked => ({ result, requests, billed });

  for (;;) {
    const passage = breaker.enter(clock.now());
    if (passage.type === 'turned_away') {
      if (breaker.badForMs(clock.now()) > HOPELESS_MS) {
        return come({ type: 'failed', reason: HOPELESS_REASON, billed: false });
      }
      return come({
        type: 'again',
        countsAsAttempt: false,
        retryInMs: passage.retryInMs,
        reason: 'the service is unavailable',
      });
    }
    let permit: string;
    try {
      await recorder.untilRoom(signals.stop);
      const grant = await governor.take(
        { id: run.id, period, maxRate: run.settings.maxRate ?? null },
        key,
        signals.stop,
      );
      if (grant.type !== 'granted') {
        breaker.forgo(passage);
        return come(withoutPermit(grant));
      }
      const halt = halts.get(run.id);
      if (halt) {
        // Halted while this one waited for its permit: a refused token must not be shown again.
        breaker.forgo(passage);
        governor.settle(grant.permit, 'free', { reading: null, heard: false });
        return come({ type: 'halted', halt });
      }
      if (breaker.isOpen && !passage.isProbe) {
        // Opened while this one waited for its permit.
        governor.settle(grant.permit, 'free', { reading: null, heard: false });
        continue;
      }
      permit = grant.permit;
    } catch {
      breaker.forgo(passage);
      return come({ type: 'again', countsAsAttempt: false, retryInMs: 0, reason: 'stopped' });
    }

    context.gauge.inFlight += 1;
    const answer = await client.lookup(identifier, { allowNsfw, freeStatuses, signal: signals.abort });
    context.gauge.inFlight -= 1;
    requests += 1;
    tries += 1;
    if (answer.cost !== 'free') billed += 1;
    const { meaning } = answer;
    const heard = heardFrom(answer, period);
    const isGood = meaning.type !== 'unavailable' && !isThroughputRefusal(answer, governor);
    breaker.note(passage, isGood, clock.now());
    const isWrong =
      meaning.type === 'unavailable' && meaning.isLasting === true && !hasEverAnswered(context, run);
    // A wrong address is no outage to be waited out: it is said when it ends the run.
    context.gauge.trouble = breaker.isOpen && !isWrong ? troubleOf(answer) : null;

    if (meaning.type === 'matched' || meaning.type === 'not_found') {
      context.gauge.wastedInARow = 0;
      // Recorded before it is settled: a crash in between leaves a permit that runs out as sent, which it was.
      const fetchedAt = await recorder.record({
        key,
        status: meaning.type,
        packed: meaning.type === 'matched' ? packProfile(meaning.body, context.compress) : null,
        billed: answer.cost !== 'free',
        freshMs: meaning.type === 'not_found' && meaning.comeBack ? COME_BACK_FRESH_MS : null,
      });
      governor.settle(permit, answer.cost, heard);
      const profile = meaning.type === 'matched' ? meaning : null;
      context.listener?.onAnswer({ key, status: meaning.type, profile, fetchedAt });
      return come({ type: meaning.type });
    }
    if (meaning.type === 'refused') {
      const isQuota = isQuotaRefusal(meaning.code, answer, governor.state);
      const { retryAfterMs } = meaning;
      // A service that refuses even one request in ten seconds is not asked too fast: the pace would only fall to nothing.
      if (passage.isProbe && !isQuota && retryAfterMs === null) governor.settle(permit, 'free', heard);
      else governor.refuse(permit, { isQuota, retryAfterMs }, heard);
      if (!isQuota) {
        const isSilent = meaning.code === null && meaning.retryAfterMs === null && answer.usage === null;
        const patienceMs = isSilent ? THROTTLED_GIVE_UP_SILENT_MS : THROTTLED_GIVE_UP_MS;
        if (breaker.badForMs(clock.now()) > patienceMs)
          return come({ type: 'halted', halt: throttled(patienceMs) });
      }
      // A refusal costs no attempt; for quota the next take says what there is to say.
      tries = 0;
      continue;
    }
    if (meaning.type === 'credentials') {
      const halt = { why: 'credentials', sentence: `${meaning.reason} (status ${meaning.status})` } as const;
      // Known before the permit is given back: whoever waits for it, anywhere, would show the same token.
      await context.halt(run.id, halt).finally(() => governor.settle(permit, answer.cost, heard));
      return come({ type: 'halted', halt });
    }
    governor.settle(permit, answer.cost, heard);
    switch (meaning.type) {
      case 'failed':
        return come({ type: 'failed', reason: meaning.reason, billed: answer.cost !== 'free' });
      case 'wasted':
        wasted += 1;
        context.gauge.wastedInARow += 1;
        if (context.gauge.wastedInARow >= WASTED_AT_MOST)
          return come({ type: 'halted', halt: useless(meaning.reason) });
        if (wasted > 1) return come({ type: 'failed', reason: meaning.reason, billed: true });
        break;
      case 'unavailable': {
        if (meaning.isUnsent && !breaker.hasBeenGood && breaker.badForMs(clock.now()) > UNREACHABLE_MS) {
          return come({ type: 'halted', halt: unreached(meaning.reason) });
        }
        if (isWrong && breaker.badForMs(clock.now()) > LASTING_MS) {
          return come({ type: 'halted', halt: unreachableForGood(meaning.reason) });
        }
        const waitMs = quickRetryMs(tries, meaning.retryAfterMs, Math.random());
        const again = {
          type: 'again',
          countsAsAttempt: tries >= QUICK_TRIES || meaning.retryAfterMs !== null,
          retryInMs: meaning.retryAfterMs ?? 0,
          reason: meaning.reason,
        } as const;
        if (waitMs === null) return come(again);
        try {
          await clock.sleep(waitMs, signals.stop);
        } catch {
          return come({ ...again, countsAsAttempt: false });
        }
      }
    }
  }
}

function withoutPermit(
  grant: Exclude<Awaited<ReturnType<Governor['take']>>, { type: 'granted' }>,
): Asked['result'] {
  switch (grant.type) {
    case 'lost':
      return {
        type: 'again',
        countsAsAttempt: false,
        retryInMs: BUSY_RETRY_MS,
        reason: 'another worker is asking',
      };
    case 'spent':
      return {
        type: 'failed',
        reason: 'asked twice, may have been billed twice, no usable answer',
        billed: true,
      };
    case 'exhausted':
      return { type: 'halted', halt: { why: 'limit', sentence: grant.why } };
    case 'revoked':
      return { type: 'revoked' };
  }
}

/**
 * Whether the service ever gave an answer: here, to this run elsewhere, or to this account before. Where it did, a
 * host that is not found is an outage, of its name server or of this machine's.
 */
function hasEverAnswered({ breaker, governor }: AskContext, { tally }: RunRecord): boolean {
  return breaker.hasBeenGood || tally.matched + tally.notFound > 0 || governor.state?.usage != null;
}

function isThroughputRefusal(answer: Answer, governor: Governor): boolean {
  return answer.meaning.type === 'refused' && !isQuotaRefusal(answer.meaning.code, answer, governor.state);
}

function troubleOf({ meaning }: Answer): string {
  if (meaning.type === 'unavailable') return meaning.reason;
  return 'the service refuses requests as too many';
}

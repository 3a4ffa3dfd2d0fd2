/**
 * One identifier from claim to durable outcome: breaker, permit and request here, what follows from
 * the answer in `handle-answer.ts`. `resolve-chunk.ts` decides what follows for chunk and run.
 */
import type { Identifier } from '../core/identifier.js';
import { NO_OBSERVATION } from '../ledger/outbox.js';
import type { Grant } from '../ledger/permit-waiters.js';
import type { RunRecord } from '../stores/run-store.js';
import {
  type AskContext,
  type Asked,
  type AskSignals,
  BUSY,
  type LookupUnderWay,
  later,
  type NextStep,
  STOPPED,
  unasked,
} from './asked.js';
import type { Pass } from './breaker.js';
import * as reasons from './halt-reasons.js';
import { handleAnswer } from './handle-answer.js';
import { HOPELESS_MS, HOPELESS_REASON } from './retry-policy.js';
import { NO_TURN } from './service-standing.js';

/** Asks until there is an outcome, or a reason to ask later or not at all. */
export async function ask(
  context: AskContext,
  run: RunRecord,
  key: string,
  identifier: Identifier,
  signals: AskSignals,
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
    const lookup = { context, run, key, identifier, signals, requests: 0, billed: 0, tries: 0, damage: null };
    return await askInTurn(lookup);
  } finally {
    await leave();
  }
}

async function askInTurn(lookup: LookupUnderWay): Promise<Asked> {
  for (;;) {
    const admitted = await admit(lookup);
    const step = admitted.type === 'admitted' ? await sendRequest(lookup, admitted) : admitted;
    const { requests, billed } = lookup;
    if (step.type !== 'repeat') return { result: step, requests, billed };
  }
}

/** The right to send one request: a pass of the breaker, and a permit. */
interface Admitted {
  readonly type: 'admitted';
  readonly pass: Pass;
  readonly permit: string;
}

async function admit({ context, run, key, signals, damage }: LookupUnderWay): Promise<Admitted | NextStep> {
  const { governor, recorder, breaker, halts, clock } = context;
  const { period, maxRate } = run.settings;
  const pass = breaker.enter(clock.monotonic());
  if (pass.type === 'rejected') {
    const isHopeless = breaker.badForMs(clock.monotonic()) > HOPELESS_MS;
    if (isHopeless) return { type: 'failed', reason: HOPELESS_REASON, billed: false };
    return later(pass.retryInMs, 'the service is unavailable');
  }
  let grant: Grant;
  try {
    await recorder.untilRoom(signals.stop);
    grant = await governor.take({ id: run.id, period, maxRate: maxRate ?? null }, key, signals.stop);
  } catch {
    breaker.cancel(pass);
    return STOPPED;
  }
  if (grant.type !== 'granted') {
    breaker.cancel(pass);
    return withoutPermit(grant, damage);
  }
  // Halted, or the breaker opened, during the wait: a refused token must not be shown again.
  const halt = halts.get(run.id);
  if (!halt && (!breaker.isOpen || pass.isProbe)) return { type: 'admitted', pass, permit: grant.permit };
  breaker.cancel(pass);
  governor.settle(grant.permit, 'free', NO_OBSERVATION);
  return halt ? { type: 'halted', halt } : { type: 'repeat' };
}

function withoutPermit(grant: Exclude<Grant, { type: 'granted' }>, damage: string | null): Asked['result'] {
  switch (grant.type) {
    case 'lost':
      return BUSY;
    case 'spent':
      // The second answer was there and of no use: another run would fare no better.
      if (damage !== null) return { type: 'failed', reason: damage, billed: true };
      return { type: 'failed', reason: reasons.DOUBTFUL_REASON, billed: true, isDeferred: true };
    case 'exhausted':
      return { type: 'halted', halt: { why: 'limit', sentence: grant.why } };
    case 'paused':
      return later(grant.retryInMs, grant.why);
    case 'revoked':
      return { type: 'revoked' };
  }
}

async function sendRequest(lookup: LookupUnderWay, { pass, permit }: Admitted): Promise<NextStep> {
  const { context, run, identifier, signals } = lookup;
  const { client, governor, breaker, gauge } = context;
  const { allowNsfw, freeStatuses } = run.settings;
  gauge.inFlight += 1;
  const answer = await client.lookup(identifier, { allowNsfw, freeStatuses, signal: signals.abort });
  gauge.inFlight -= 1;
  const isBilled = answer.cost !== 'free';
  lookup.requests += 1;
  lookup.tries += 1;
  if (isBilled) lookup.billed += 1;
  context.onSent?.(run.id, isBilled);
  const { type } = answer.meaning;
  if (signals.abort.aborted && (type === 'wasted' || type === 'unavailable')) {
    // We cut it off: that says nothing of the service, and the next who asks counts the doubt.
    breaker.cancel(pass);
    governor.settle(permit, answer.cost, NO_OBSERVATION);
    return STOPPED;
  }
  return handleAnswer(lookup, { pass, permit, answer });
}

/** One identifier from claim to durable outcome: breaker, permit, request, then its answer. */
import type { Identifier } from '../core/identifier.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { ownOf } from '../ledger/ledger.js';
import { NO_OBSERVATION } from '../ledger/outbox.js';
import type { Grant } from '../ledger/permit-waiters.js';
import { inFlightOf } from '../ledger/policy.js';
import type { RunTrust } from './address-trust.js';
import {
  type AskContext,
  type Asked,
  type AskSignals,
  BUSY,
  type LookupUnderWay,
  later,
  type NextStep,
  STOPPED,
  withoutRequest,
} from './asked.js';
import type { Pass } from './breaker.js';
import { handleAnswer } from './handle-answer.js';
import { HOPELESS_MS } from './retry-policy.js';

/** Lookups begun so far. A refused lookup keeps its place, so that a cap buys a file's top. */
let begun = 0;

/** Asks until there is an outcome, or a reason to ask later or not at all. */
export function ask(
  context: AskContext,
  run: RunRecord,
  key: string,
  identifier: Identifier,
  signals: AskSignals,
  leaveGate: () => void = () => undefined,
): Promise<Asked> {
  const { service, ownDomain, allowUnknown } = run.settings;
  const isOwn = identifier.kind === 'domain' && identifier.value === ownDomain;
  const own = isOwn ? ownOf(service, identifier.value) : undefined;
  begun += 1;
  const lookup: LookupUnderWay = {
    context,
    run,
    key,
    identifier,
    own,
    signals,
    leaveGate,
    place: begun,
    requests: 0,
    billed: 0,
    tries: 0,
    unusable: null,
  };
  const trust = context.addressTrust.of(run);
  const isAtOnce = trust.isTrusted || allowUnknown || context.halts.get(run.id);
  return isAtOnce ? askUntilDone(lookup) : askInTurn(lookup, trust);
}

/** Asks when it is this lookup's turn: until the address is trusted, requests go one at a time. */
async function askInTurn(lookup: LookupUnderWay, trust: RunTrust): Promise<Asked> {
  const turn = await trust.oneByOne(async () => {
    const asked = askUntilDone(lookup);
    if (!trust.isTrusted) await asked;
    return { asked };
  });
  return turn.asked;
}

async function askUntilDone(lookup: LookupUnderWay): Promise<Asked> {
  const halt = lookup.context.halts.get(lookup.run.id);
  if (halt) return withoutRequest({ type: 'halted', halt });
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
  readonly isFree: boolean;
}

async function admit(lookup: LookupUnderWay): Promise<Admitted | NextStep> {
  const { context, run, key, own, signals, unusable, place } = lookup;
  const { governor, breaker, halts, clock } = context;
  const { period, maxRate } = run.settings;
  const pass = breaker.enter(clock.monotonic());
  if (pass.type === 'rejected') {
    const isHopeless = breaker.awayForMs(clock.monotonic()) > HOPELESS_MS;
    if (isHopeless) return { type: 'failed', reason: { code: 'unavailable' }, billed: false };
    return later(pass.retryInMs);
  }
  let grant: Grant;
  try {
    grant = await governor.take({ id: run.id, period, maxRate }, key, signals.stop, own, place);
  } catch {
    breaker.cancel(pass);
    return STOPPED;
  }
  if (grant.type !== 'granted') {
    breaker.cancel(pass);
    return withoutPermit(grant, unusable);
  }
  // The run may have been halted, or the breaker opened, during the wait: a refused token must not
  // be shown again.
  const halt = halts.get(run.id);
  if (!halt && (!breaker.isOpen || pass.isProbe))
    return { type: 'admitted', pass, permit: grant.permit, isFree: grant.isFree ?? false };
  breaker.cancel(pass);
  governor.settle(grant.permit, 'free', NO_OBSERVATION);
  return halt ? { type: 'halted', halt } : { type: 'repeat' };
}

function withoutPermit(grant: Exclude<Grant, { type: 'granted' }>, unusable: string | null): Asked['result'] {
  switch (grant.type) {
    case 'lost':
      return BUSY;
    case 'attempts_exhausted':
      // The second answer was unusable too: another run would fare no better.
      if (unusable !== null)
        return { type: 'failed', reason: { code: 'answer', text: unusable }, billed: true };
      return { type: 'failed', reason: { code: 'lost' }, billed: true, isDeferred: true };
    case 'exhausted':
      return { type: 'halted', halt: { why: 'limit', reached: grant.limit } };
    case 'paused':
      return later(grant.retryInMs);
    case 'revoked':
      return { type: 'revoked' };
  }
}

async function sendRequest(lookup: LookupUnderWay, { pass, permit, isFree }: Admitted): Promise<NextStep> {
  const { context, run, identifier, signals } = lookup;
  const { client, governor, breaker, gauge } = context;
  const { allowNsfw, freeStatuses } = run.settings;
  gauge.inFlight += 1;
  gauge.sent += 1;
  const nth = gauge.sent;
  const received = await client.lookup(identifier, { allowNsfw, freeStatuses, signal: signals.abort });
  // Requests that the usage header may count after this one: ours, and those of other workers.
  const ofAll = governor.state === null ? 0 : inFlightOf(governor.state);
  const later = gauge.sent - nth + Math.max(0, ofAll - gauge.inFlight);
  gauge.inFlight -= 1;
  const { cost } = received;
  // The ledger counts what it would have cost; for the run it costs nothing.
  const answer = isFree ? ({ ...received, cost: 'free' } as const) : received;
  const isBilled = answer.cost !== 'free';
  const { type } = answer.meaning;
  if (signals.abort.aborted && (type === 'unusable' || type === 'unavailable')) {
    // We cut the request off: it shows nothing of the service. The next request of the key counts
    // for the run; this one counts in the ledger, and is reported as perhaps billed.
    if (isBilled) {
      gauge.cutOff += 1;
      context.onSent?.(run.id, 'cutOff');
    }
    breaker.cancel(pass);
    governor.settle(permit, cost, NO_OBSERVATION);
    return STOPPED;
  }
  lookup.requests += 1;
  lookup.tries += 1;
  if (isBilled) {
    lookup.billed += 1;
    context.listener?.onBilled?.(lookup.key);
  }
  context.onSent?.(run.id, isBilled ? 'billed' : 'free');
  return handleAnswer(lookup, { pass, permit, answer, cost, later });
}

/** Requests outside of any run: looks at the usage, and the check that a person ordered. */
import { type Identifier, identifierText } from '../core/identifier.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import { NO_TALLY, type RunRecord } from '../engine/stores/run-store.js';
import { type LookRequest, ownOf } from '../ledger/ledger.js';
import { periodNamed } from '../ledger/period.js';
import { isQuotaRefusal } from '../ledger/policy.js';
import { hasAnswers } from './address-trust.js';
import type { AskSignals } from './asked.js';
import { addressOf, newOutcome } from './handle-answer.js';
import { isLost, judge, NO_SERIES, observe, trustOf, trustsBy } from './judge.js';
import type { ChunkContext } from './resolve-chunk.js';

/** How long callers wait for the ledger to know what this process knows. */
export const FLUSHED_WITHIN_MS = 5_000;

/** Creates the looks of one worker. `stop` prevents new requests; `abort` cuts off a check. */
export function createLooks(context: ChunkContext, account: string, { stop, abort }: AskSignals) {
  const { engine, client, governor, gauge, worker } = context;

  /** Sends a look, whose permit the caller settles. Returns null without a permit. */
  async function send(
    look: Omit<LookRequest, 'permit'>,
    identifier: Identifier,
    { settings, tally }: Pick<RunRecord, 'settings' | 'tally'>,
    signal: AbortSignal,
  ) {
    const permit = await governor.takeLook(look, settings.period, stop);
    if (permit === null) return null;
    const { allowNsfw, freeStatuses, period } = settings;
    gauge.inFlight += 1;
    const answer = await client.lookup(identifier, { allowNsfw, freeStatuses, signal });
    gauge.inFlight -= 1;
    const isTrusted = hasAnswers(tally) || trustsBy(answer, tally);
    const address = addressOf(isTrusted, { settings, tally }, context);
    const answerPeriod = periodNamed(answer.date, period, governor.calendar(), isLost(answer));
    const observation = observe(answer, answerPeriod, trustOf(answer, address), 0);
    return { permit, answer, step: judge(answer, address, NO_SERIES), observation };
  }

  return {
    async readUsage(ownDomain: string, { settings }: Pick<RunRecord, 'settings'>) {
      const own = { own: ownOf(settings.service, ownDomain), key: null, quotaCap: settings.quotaCap };
      const look = await send(own, { kind: 'domain', value: ownDomain }, { settings, tally: NO_TALLY }, stop);
      if (look === null) return null;
      const { permit, answer, step, observation } = look;
      governor.settle(permit, answer.cost, observation);
      await governor.flushed(FLUSHED_WITHIN_MS);
      return { quota: answer.quota, halt: 'halt' in step ? step.halt : null };
    },

    async check(identifier: Identifier, run: Pick<RunRecord, 'settings' | 'tally'>) {
      const { settings } = run;
      const { allowNsfw, quotaCap, maxAgeMs, maxAgeMissingMs } = settings;
      const key = outcomeKeys(context.addressTrust.service, allowNsfw)(identifierText(identifier));
      const { now: asOf } = await engine.ledger.show(account);
      const freshness = { asOf, maxAgeMs, maxAgeMissingMs, notBefore: 0 };
      const [claim] = await engine.outcomes.claim(worker, [key], freshness);
      if (claim !== 'ours') return { type: claim ?? 'busy' } as const;
      const look = await send({ own: null, key, quotaCap }, identifier, run, abort);
      if (look?.step.type !== 'record') await engine.outcomes.release(worker, [key]);
      if (look === null) return { type: 'denied', ledger: governor.state } as const;
      const { permit, answer, step, observation } = look;
      const { meaning } = answer;
      if (step.type === 'record') {
        const outcome = newOutcome(key, step.meaning, answer.cost !== 'free');
        await governor.record(outcome, { permit, as: answer.cost, observation });
      } else if (meaning.type === 'refused') {
        const isQuota = isQuotaRefusal(meaning.code, answer, governor.state);
        governor.refuse(permit, { isQuota, retryAfterMs: meaning.retryAfterMs }, observation);
      } else governor.settle(permit, answer.cost, observation);
      await governor.flushed(FLUSHED_WITHIN_MS);
      return { type: 'asked', answer, ledger: governor.state } as const;
    },
  };
}

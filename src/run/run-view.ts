/** A run's display: on a terminal (`terminal-view.ts`), or log lines for inboxes and schedules. */
import type { Log } from '../core/log.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { EnrichProgress, EnrichRuntime } from './enrich-request.js';
import { judgeAccount } from './facts/judge-account.js';
import { usesMostOfQuota } from './lookups/spending.js';

export interface RunView
  extends Required<Pick<EnrichRuntime, 'confirm' | 'isInteractive'>>,
    Pick<EnrichRuntime, 'asks' | 'resumes'> {
  update(progress: EnrichProgress): void;
  /** A sentence for people, as it becomes true. */
  notice(sentence: string): void;
  /** The same for sentences that `--quiet` shows too. */
  warn(sentence: string): void;
  /** From now on nothing but sentences is shown of the run. */
  end(): void;
}

/** `about` names the run in each line. Runs of an account under way together share `standing`. */
export function createLogView(
  log: Log,
  about: Readonly<Record<string, string>>,
  standing: ReturnType<typeof createStanding>,
): RunView {
  return {
    update: standing,
    notice: (sentence) => log.info(about, sentence),
    warn: (sentence) => log.warn(about, sentence),
    isInteractive: false,
    async confirm(question) {
      const { requests, overageRequests, maxCost, quotaLeft, trial } = question;
      const facts = { ...about, requests, overageRequests, maxCost };
      if (usesMostOfQuota(question))
        log.info({ ...facts, quotaLeft }, 'starting lookups: more than half of the quota left');
      else log.info(facts, 'starting lookups');
      return trial === null;
    },
    end: () => undefined,
  };
}

/** Logs an outage, its end, a near limit, once each. `shared`: all runs' worker; null: own ones. */
export function createStanding(log: Log, shared: Pick<LookupWorker, 'outage'> | null) {
  let isNear = false;
  let isOut = false;
  return (progress: Pick<EnrichProgress, 'ledger' | 'outage'>): void => {
    const { outage } = shared ?? progress;
    if (outage !== null && !isOut) log.warn({ reason: outage }, 'the service is unavailable');
    if (outage === null && isOut) log.info('the service is available again');
    isOut = outage !== null;
    if (progress.ledger === null) return;
    const wasNear = isNear;
    isNear = judgeAccount(progress.ledger).isNearLimit;
    if (isNear && !wasNear) log.warn('80 % of the limit is used');
  };
}

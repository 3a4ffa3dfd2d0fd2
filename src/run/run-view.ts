/** A run in the log, for inboxes, schedules and programs; on a terminal see `terminal-view.ts`. */
import type { Log } from '../core/log.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { EnrichProgress, EnrichRequest } from './enrich-request.js';
import { judgeAccount } from './facts/judge-account.js';
import { usesMostOfQuota } from './lookups/spending.js';
import type { FileEvent } from './run-file.js';
import { sayHalt, sayTo } from './words/say-reason.js';

/** Returns a reader that logs events. `about`: fields that name the run. */
export function createLogView(
  log: Log,
  about: Readonly<Record<string, string>>,
  standing: ReturnType<typeof createStanding>,
  reader: EnrichRequest['reader'] = 'terminal',
): (event: FileEvent) => void {
  return (event) => {
    if (event.type === 'progress') standing(event);
    else if (event.type === 'estimated') {
      const { requests, overageRequests, maxCost, quotaLeft } = event.question;
      const facts = { ...about, requests, overageRequests, maxCost };
      if (usesMostOfQuota(event.question))
        log.info({ ...facts, quotaLeft }, 'starting lookups: more than half of the quota left');
      else log.info(facts, 'starting lookups');
    } else {
      const said = sayEvent(event, reader);
      if (said !== null) log[said.isWarning ? 'warn' : 'info'](about, said.sentence);
    }
  };
}

/** Returns an event as a sentence for people; null if it has none. */
export function sayEvent(event: FileEvent, reader: EnrichRequest['reader']) {
  if (event.type === 'notice')
    return { sentence: sayTo(reader, event.text), isWarning: event.isWarning === true };
  if (event.type !== 'parked') return null;
  const why = sayHalt(event.halt, reader);
  return { sentence: `parked: ${why}; the run continues when it can spend again`, isWarning: true };
}

/** Logs an outage, its end and a near limit once each. `shared`: the worker of all runs, if any. */
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

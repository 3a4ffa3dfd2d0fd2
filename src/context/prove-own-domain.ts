/** Looks for the service's own domain from time to time, until it is proven that they are free. */
import type { Settings } from '../config/settings.js';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Engine } from '../engine/engine.js';
import { ownOf } from '../ledger/ledger.js';
import { ownDomainWarning } from '../ledger/policy.js';
import { type RunService, runSettingsOf } from '../run/enrich-request.js';
import type { LookupWorker } from '../worker/lookup-worker.js';

const ASK_EVERY_MS = 60_000;

interface Prover {
  readonly settings: Settings;
  readonly service: RunService;
  readonly engine: Pick<Engine, 'ledger'>;
  readonly worker: Pick<LookupWorker, 'readUsage'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
}

/**
 * Without the proof nothing may be sent at the limit, so it is sought before: the ledger permits
 * three looks a day, in quiet moments. Resolves with `stop`, or when the credentials are refused.
 */
export async function proveOwnDomain(prover: Prover): Promise<void> {
  const { settings, service, engine, worker, clock, log, stop } = prover;
  const { account, ownDomain } = service;
  if (ownDomain === null) return;
  const run = { settings: runSettingsOf(settings, service) };
  let isWarned = false;
  while (!stop.aborted) {
    try {
      const state = await engine.ledger.show(account);
      const warning = ownDomainWarning(state, run.settings);
      if (warning !== null && !isWarned) log.warn(warning);
      isWarned ||= warning !== null;
      const { of, isProven, booked } = state.own;
      const isUnreadable = booked > 0 && state.usage === null;
      const isSettled = isProven || isUnreadable;
      if (of !== ownOf(service.service, ownDomain) || !isSettled) {
        const look = await worker.readUsage(ownDomain, run);
        if (look?.halt?.why === 'credentials') return;
      }
    } catch (error) {
      log.debug({ reason: errorText(error) }, 'the own domain could not be looked up');
    }
    await clock.sleep(ASK_EVERY_MS, stop).catch(() => undefined);
  }
}

/**
 * The door of `worker`: lookups for runs elsewhere, until it is told to stop.
 */

import { readToken } from '../config/secrets.js';
import type { Settings } from '../config/settings.js';
import { accountName, queueName } from '../context/account.js';
import { openMetrics } from '../context/open-metrics.js';
import { openClients } from '../context/open-service.js';
import { openTelemetry } from '../context/open-telemetry.js';
import { openLookupWorker } from '../context/workplace.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { openEngine } from '../engine/open-engine.js';

export interface WorkerDoor {
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly graceMs: (timeoutMs: number) => number;
}

/** Works until `stop`; resolves when what was in flight is recorded. */
export function runWorker(settings: Settings, door: WorkerDoor): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop } = door;
    const token = readToken(settings) ?? '';
    const traces = await openTelemetry(settings, log, releasers);
    const engine = await openEngine({
      engine: settings.engine,
      stateFolder: settings.state,
      startsEmpty: settings.startEmpty,
      log,
      waitsForDisk: settings.waitForDisk,
      telemetry: traces.telemetry,
      stop,
    });
    releasers.push(() => engine.close());
    for (const warning of engine.warnings) log.warn(warning);
    const metrics = await openMetrics(settings, engine, stop, releasers);
    const queue = queueName(token, settings.account);
    metrics.watchQueue(queue);
    const clientFor = traces.watchClients(metrics.watchClients(openClients(settings, token, releasers)));
    const accounts = new Set<string>();
    const worker = openLookupWorker({
      engine,
      service: {
        queueName: queue,
        clientFor(service) {
          accounts.add(accountName(service, token, settings.account));
          return clientFor(service);
        },
      },
      settings,
      stateFolder: settings.state,
      log,
    });
    metrics.watchWorker(worker, () => accounts);
    await worker.start();
    if (metrics.url !== null) log.info({ url: `${metrics.url}/metrics` }, 'serving metrics');
    log.info({ worker: worker.name, engine: engine.address }, 'waiting for chunks');
    await untilAborted(stop);
    log.info({ inFlight: worker.inFlight }, 'stopping: requests in flight are waited for');
    await worker.stop(door.graceMs(settings.timeoutMs));
    return EXIT.done;
  });
}

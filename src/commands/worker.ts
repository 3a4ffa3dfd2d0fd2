/** `worker`: does the lookups of runs in other processes, until it is stopped. */
import { logOpened, openEngineContext, openLookupWorker, stopWithEngine } from '../app/open-context.js';
import { openService } from '../app/open-service.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import { maskAddress } from '../settings/address-values.js';
import type { CommandCall } from './answer.js';

/** Works until `stop`; resolves when all answers in flight are recorded. */
export function runWorker(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, log, graceMs } = call;
    const { stop, watch, assertNotLost } = stopWithEngine(call.stop, releasers);
    const opened = await openService(settings, log, releasers);
    const context = await openEngineContext(settings, { ...call, stop }, releasers);
    const { engine, metrics } = context;
    watch(engine);
    logOpened(context, false, log);
    metrics.watchQueue(opened.queueName);
    const service = { ...opened, client: context.metrics.watchClient(opened.client) };
    const worker = openLookupWorker({ engine, service, settings, stateFolder: settings.state, log });
    metrics.watchWorker(worker, service.account);
    await worker.start();
    const facts = { worker: worker.name, engine: engine.address, service: maskAddress(service.service) };
    log.info(facts, 'waiting for chunks');
    await untilAborted(stop);
    log.info({ inFlight: worker.inFlight }, 'stopping: waiting for requests in flight');
    await worker.stop(graceMs(settings.timeoutMs));
    assertNotLost();
    return EXIT.done;
  });
}

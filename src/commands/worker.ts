/** `worker`: lookups for runs elsewhere, until it is stopped. */
import { readToken } from '../config/secrets.js';
import { logOpened, openEngineContext, openLookupWorker, watched } from '../context/open-context.js';
import { accountName, openClients, queueName } from '../context/open-service.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import type { CommandCall } from './answer.js';

/** Works until `stop`; resolves when all answers in flight are recorded. */
export function runWorker(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, log, stop, graceMs } = call;
    const token = readToken(settings) ?? '';
    const context = await openEngineContext(settings, call, releasers);
    const { engine, metrics } = context;
    logOpened(context, false, log);
    const queue = queueName(token, settings.account);
    metrics.watchQueue(queue);
    const accounts = new Set<string>();
    const clientFor = watched(openClients(settings, token, releasers), context);
    const service = {
      queueName: queue,
      clientFor(name: string) {
        accounts.add(accountName(name, token, settings.account));
        return clientFor(name);
      },
    };
    const worker = openLookupWorker({ engine, service, settings, stateFolder: settings.state, log });
    metrics.watchWorker(worker, () => accounts);
    await worker.start();
    log.info({ worker: worker.name, engine: engine.address }, 'waiting for chunks');
    await untilAborted(stop);
    log.info({ inFlight: worker.inFlight }, 'stopping: waiting for requests in flight');
    await worker.stop(graceMs(settings.timeoutMs));
    return EXIT.done;
  });
}

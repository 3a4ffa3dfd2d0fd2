/** The context that `watch` and `up` open once for all their runs, with one lookup worker. */
import { systemClock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import { type Releasers, untilAborted, withReleasers } from '../core/lifecycle.js';
import { ownOf } from '../ledger/ledger.js';
import { ownDomainWarning } from '../ledger/policy.js';
import { runSettingsOf, type SharedWorker } from '../run/enrich-request.js';
import { stopAtSignal } from '../run/lookups/run-lookups.js';
import { sayTo } from '../run/words/say-reason.js';
import type { LoadedSettings, Settings } from '../settings/settings.js';
import type { WorkerListener } from '../worker/asked.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import { logOpened, type OpenedContext, openContext, openState, stopWithEngine } from './open-context.js';
import type { CommandContext } from './open-stores.js';

export interface DaemonContext extends Omit<OpenedContext, 'openWorker'> {
  readonly loaded: LoadedSettings;
  /** Null if workers elsewhere do the lookups. */
  readonly worker: SharedWorker | null;
  /** Lets the worker take chunks; call it once the command has started without errors. */
  readonly begin: () => Promise<void>;
}

/** Runs `action` in an open context. Throws as opening does, and if the engine is lost. */
export function withDaemonContext<T>(
  loaded: LoadedSettings,
  command: Pick<CommandContext, 'stdin' | 'stdout' | 'log' | 'stop' | 'graceMs'>,
  action: (context: DaemonContext, releasers: Releasers) => Promise<T>,
): Promise<T> {
  return withReleasers(async (releasers) => {
    const { log } = command;
    const { settings } = loaded;
    const ending = stopWithEngine(command.stop, releasers);
    const { stop } = ending;
    if (settings.sample)
      log.warn('sample data: brands come from the built-in catalogue; nothing is sent or kept');
    const withStop = { ...command, stop };
    const state = await openState(settings, withStop, releasers);
    const context = await openContext(settings, state, withStop, releasers);
    ending.watch(context.engine);
    logOpened(context, settings.sample, log);
    const graceMs = graceFromSignal(stop, context.graceMs);
    const worker = settings.worker ? shareWorker(context.openWorker) : null;
    if (worker !== null) stopAtSignal(worker.worker, { stop, graceMs }, releasers);
    const begin = async () => {
      await worker?.worker.start();
      if (worker !== null && !settings.sample) void proveOwnDomain(context, settings, worker.worker);
    };
    const result = await action({ ...context, loaded, worker, begin, graceMs }, releasers);
    ending.assertNotLost();
    return result;
  });
}

/** Makes one worker that reports to all listeners. The caller starts and stops the worker. */
function shareWorker(open: (listener: WorkerListener) => LookupWorker): SharedWorker {
  const listeners = new Set<WorkerListener>();
  const worker = open({
    onChunk() {
      for (const listener of listeners) listener.onChunk();
    },
    onAnswer(answer) {
      for (const listener of listeners) listener.onAnswer(answer);
    },
  });
  return {
    worker,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns how long to wait after `stop`: all parts of the process share one deadline. */
function graceFromSignal(stop: AbortSignal, graceMs: () => number): () => number {
  let endsAt: number | null = null;
  void untilAborted(stop).then(() => {
    endsAt = systemClock.monotonic() + graceMs();
  });
  return () => (endsAt === null ? graceMs() : Math.max(0, endsAt - systemClock.monotonic()));
}

const ASK_EVERY_MS = 60_000;

/**
 * Looks up the service's own domain, which shows the limit, until it is proven free or has returned
 * no usage; at most three times a day. Resolves on `stop`, or when the credentials are refused.
 */
async function proveOwnDomain(
  context: OpenedContext,
  settings: Settings,
  worker: LookupWorker,
): Promise<void> {
  const { service, engine, clock, log, stop } = context;
  const { account, ownDomain } = service;
  if (ownDomain === null) return;
  const run = { settings: runSettingsOf(settings, service) };
  let isWarned = false;
  while (!stop.aborted) {
    try {
      const state = await engine.ledger.show(account);
      const warning = ownDomainWarning(state, run.settings);
      if (warning !== null && !isWarned) log.warn(sayTo('terminal', warning));
      isWarned ||= warning !== null;
      const { of, isProven, booked } = state.own;
      const hasNoUsage = booked > 0 && state.usage === null;
      const isSettled = isProven || hasNoUsage;
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

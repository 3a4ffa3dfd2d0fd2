/**
 * Patience of a guest with its host: one that is started anew is back within seconds, and then asked whether it still does the
 * guest's lookups. Every call of a run may be repeated: the second one finds done what the first one did, but for a tally, which is only looked at.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { FailFileError } from '../errors.js';
import type { Log } from '../log.js';
import type { AskStore } from './store-proxies.js';

const PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 500;

export interface KeepAskingOptions {
  /** Throws when whoever has the folder open does not do the guest's lookups. */
  readonly assertWelcome: () => Promise<unknown>;
  readonly log: Log;
  /** After it nothing is tried again. */
  readonly stop: AbortSignal;
}

/** Throws what `ask` throws for anything but an absence, and `engine-unreachable` after 30 s of one. */
export function keepAsking(ask: AskStore, { assertWelcome, log, stop }: KeepAskingOptions): AskStore {
  let isAway = false;
  return async (call) => {
    const givesUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        if (isAway) await assertWelcome();
        isAway = false;
        return await ask(call);
      } catch (error) {
        if (!(error instanceof FailFileError) || error.code !== 'engine-unreachable') throw error;
        if (!isAway)
          log.warn({ reason: error.message }, 'looking for the process with the state folder again');
        isAway = true;
        if (stop.aborted || performance.now() >= givesUpAt) throw error;
        await wait(TRY_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
      }
    }
  };
}

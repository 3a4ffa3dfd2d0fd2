/** Ends a command that stays when its engine can never work again, so that a supervisor sees it. */
import { setMaxListeners } from 'node:events';
import type { Releasers } from '../core/lifecycle.js';
import type { Engine } from '../engine/engine.js';

/** A folder that is moved away and back within one look is no loss. */
const LOOK_MS = 5_000;

/** `stop`, which is aborted too when the engine that is watched is lost. */
export function stopWithEngine(stop: AbortSignal, releasers: Releasers) {
  const lost = new AbortController();
  const both = AbortSignal.any([stop, lost.signal]);
  // Each inbox, schedule and run listens to it.
  setMaxListeners(0, both);
  return {
    stop: both,
    watch({ loss }: Pick<Engine, 'loss'>): void {
      if (loss === undefined) return;
      let wasLost = false;
      const looking = setInterval(() => {
        const why = loss();
        if (why !== null && wasLost) lost.abort(why);
        wasLost = why !== null;
      }, LOOK_MS);
      releasers.push(() => clearInterval(looking));
    },
    /** Throws the `FailFileError` that says why it is lost. */
    assertNotLost: (): void => lost.signal.throwIfAborted(),
  };
}

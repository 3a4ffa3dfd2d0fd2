/** Long loops without waiting, beside which others must go on. */
import { setImmediate } from 'node:timers/promises';

/** Others have steps of many turns: what they do within seconds takes this long many times. */
const TURN_MS = 10;

/** `isOver`: this loop has had its share of the event loop; then await `next`. */
export function createTurns() {
  let since = performance.now();
  return {
    isOver: () => performance.now() - since >= TURN_MS,
    async next(): Promise<void> {
      await setImmediate();
      since = performance.now();
    },
  };
}

/** Deliveries under way: a failed one is logged, and repeated for three days. */
import { type Clock, systemClock } from '../core/clock.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { systemWords } from '../core/system-error.js';

/** How a notice travels. */
export type Channel = 'webhook' | 'e-mail';

/** The longest that deliveries may delay the end of a process. */
export const DELIVERY_MS = 10_000;

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** Survives a weekend: a receiver that is repaired on Monday still gets the message. */
export const KEPT_MS = 3 * 24 * 60 * 60_000;

/** Returns the wait after `failed` tries of a message due since `since`; null to give up. */
export function nextTryMs(failed: number, since: number, now: number): number | null {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failed - 1, 20), LONGEST_WAIT_MS);
  return now + waitMs > since + KEPT_MS ? null : waitMs;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Tracks deliveries; `name` is the word for them in the log. */
export function createDeliveries(log: Log, name: string, clock: Clock = systemClock) {
  const underWay = new Set<Promise<unknown>>();
  const closing = new AbortController();

  async function persist(
    by: Channel,
    facts: Readonly<Record<string, unknown>>,
    deliver: () => Promise<unknown>,
    since: number,
  ): Promise<'delivered' | 'expired' | 'stopped'> {
    for (let failed = 1; !closing.signal.aborted; failed += 1) {
      try {
        await deliver();
        log.info({ ...facts, by }, `${name} delivered`);
        return 'delivered';
      } catch (error) {
        log.error({ ...facts, by, error: systemWords(error) }, `${name} not delivered`);
      }
      const waitMs = nextTryMs(failed, since, clock.now());
      if (waitMs === null) {
        log.error({ ...facts, by }, `${name} dropped after three days`);
        return 'expired';
      }
      await clock.sleep(waitMs, closing.signal).catch(() => undefined);
    }
    return 'stopped';
  }

  return {
    /** Tries until delivered, three days after `since` (`expired`), or closed. Never rejects. */
    persist(...delivery: Parameters<typeof persist>): ReturnType<typeof persist> {
      const tracked = persist(...delivery).finally(() => underWay.delete(tracked));
      underWay.add(tracked);
      return tracked;
    },
    /** Stops new tries and waits up to `atMostMs` for those under way. Never rejects. */
    async close(atMostMs = DELIVERY_MS): Promise<void> {
      closing.abort();
      await withinDeadline(Promise.all(underWay), atMostMs);
    },
  };
}

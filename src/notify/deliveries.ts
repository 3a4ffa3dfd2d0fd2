/**
 * Deliveries under way: nobody waits for one, each failure is a line in the log and nothing else, and those that are still
 * under way at the end are waited for a short while.
 */
import { errorText } from '../errors.js';
import { withinDeadline } from '../lifecycle.js';
import type { Log } from '../log.js';

export interface Deliveries {
  /**
   * Begins one and returns at once. `facts` say in the log what it is about. The promise never rejects: true when it was
   * delivered.
   */
  begin(
    by: 'webhook' | 'e-mail',
    facts: Readonly<Record<string, unknown>>,
    deliver: () => Promise<unknown>,
  ): Promise<boolean>;
  /** Waits for those under way, `atMostMs` in all. Never rejects. */
  close(atMostMs?: number): Promise<void>;
}

/** No delivery may hold up an end for longer. */
export const DELIVERY_MS = 10_000;

/** `name`: what is delivered, in the words of the log. */
export function createDeliveries(log: Log, name: string): Deliveries {
  const underWay = new Set<Promise<boolean>>();
  return {
    begin(by, facts, deliver) {
      const settled: Promise<boolean> = Promise.resolve()
        .then(deliver)
        .then(
          () => {
            log.info({ ...facts, by }, `${name} delivered`);
            return true;
          },
          (error) => {
            log.error({ ...facts, by, error: errorText(error) }, `${name} not delivered`);
            return false;
          },
        )
        .finally(() => underWay.delete(settled));
      underWay.add(settled);
      return settled;
    },
    async close(atMostMs = DELIVERY_MS) {
      await withinDeadline(Promise.all(underWay), atMostMs);
    },
  };
}

/**
 * Keeps a process that stays from keeping answers for ever: what {@link KEEP_ANSWERS_MS} forbids to keep is purged when an engine
 * opens, and here once a day while it is open. Redis does it by itself, with an expiry of each answer.
 */
import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { systemWords } from '../../core/system-error.js';
import { KEEP_ANSWERS_MS } from '../../stores/freshness.js';
import type { StoreCalls } from './database.js';

/** The store knows when a day is over, for all processes together; asking it oftener costs next to nothing. */
const ASK_EVERY_MS = 3_600_000;

/** Begins; what is returned ends it and resolves when nothing of it is under way. */
export function keepTidy(calls: Pick<StoreCalls, 'value'>, clock: Clock, log: Log): () => Promise<void> {
  const stopping = new AbortController();
  const ended = (async () => {
    for (;;) {
      await clock.sleep(ASK_EVERY_MS, stopping.signal);
      try {
        const isDone = await calls.value('tidy_daily', KEEP_ANSWERS_MS);
        if (isDone === true) log.debug('answers that may be kept no longer are forgotten, as every day');
      } catch (error) {
        log.warn(
          { reason: systemWords(error) },
          'old answers could not be forgotten; tried again in an hour',
        );
      }
    }
  })().catch(() => undefined);
  return async () => {
    stopping.abort(new Error('closing'));
    await ended;
  };
}

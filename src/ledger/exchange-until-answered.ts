/**
 * One exchange with a ledger that may be out of reach for a while. The same request is repeated, word for word: permits
 * are known by name, so that what was granted or settled in an answer that got lost is not counted twice.
 */
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import type { ExchangeAnswer, ExchangeRequest, Ledger } from './ledger.js';

const RETRY_FIRST_MS = 200;
const RETRY_LAST_MS = 5_000;

/**
 * Asks until there is an answer. Once `closing` is aborted it asks one last time, at once; null: there was no answer,
 * and what was to be settled runs out in the store and counts as sent.
 */
export async function exchangeUntilAnswered(
  ledger: Ledger,
  request: ExchangeRequest,
  { clock, log, closing }: { clock: Clock; log: Log; closing: AbortSignal },
): Promise<ExchangeAnswer | null> {
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
    const isLast = closing.aborted;
    try {
      return await ledger.exchange(request);
    } catch (error) {
      const { account } = request;
      log.warn({ err: error, account }, 'the ledger does not answer; nothing is sent until it does');
    }
    if (isLast) return null;
    await clock.sleep(waitMs, closing).catch(() => undefined);
  }
}

/**
 * When a stored answer is still good: judged at one moment, the start of the run, in every pass.
 * Engines judge `claim` and `read` with the same rule in their own language; the contract tests hold them to it.
 */
import type { Freshness } from '../core/outcome.js';

/** How long answers are kept at most: services of this kind allow 30 days. */
export const KEEP_ANSWERS_MS = 30 * 86_400_000;

/** A "come back later" 404 (the brand is being fetched, 1 to 2 minutes) is believed for so long only. */
export const COME_BACK_FRESH_MS = 120_000;

/** What its row says. */
export const COME_BACK_REASON =
  'the service is still fetching this brand (crawl_queued); run again in 2 minutes to ask for it once more';

export function isFresh(
  outcome: { status: 'matched' | 'not_found'; fetchedAt: number; freshUntil: number | null },
  freshness: Freshness,
): boolean {
  const maxAgeMs = outcome.status === 'matched' ? freshness.maxAgeMs : freshness.maxAgeMissingMs;
  return (
    outcome.fetchedAt >= freshness.asOf - maxAgeMs &&
    outcome.fetchedAt >= freshness.notBefore &&
    (outcome.freshUntil === null || outcome.freshUntil > freshness.asOf)
  );
}

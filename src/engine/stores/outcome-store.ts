/**
 * The `OutcomeStore` seam: durable answers, never bought again while fresh, and claims that keep
 * two workers from asking for one identifier at once. Each call is atomic per key and on the
 * store's own clock.
 */
import type { Freshness, NewOutcome, OutcomeKey, StoredOutcome } from '../../core/outcome.js';
import { count, nullOr, number, object, type Shaped } from '../../core/shapes.js';

/** `fresh`: nothing to buy. `busy`: a live worker is asking. `ours`: this worker may ask. */
export type ClaimAnswer = 'fresh' | 'busy' | 'ours';

interface ClaimRequest {
  readonly worker: string;
  readonly run: string;
  readonly keys: readonly OutcomeKey[];
  readonly freshness: Freshness;
}

export const outcomeStatsShape = object({
  matched: count,
  notFound: count,
  oldestFetchedAt: nullOr(number),
  newestFetchedAt: nullOr(number),
});
export type OutcomeStats = Shaped<typeof outcomeStatsShape>;

interface OutcomePage {
  readonly outcomes: readonly StoredOutcome[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/** Answers in neither count were stored already. */
export const restoreCountsShape = object({ taken: count, expired: count });

export interface OutcomeStore {
  /**
   * One answer per key, in order. A claim belongs to a worker, and is taken over when the worker's
   * last heartbeat is older than 15 s: a permit granted under it and never settled then counts one
   * unusable answer for its run and key. One's own claim is `ours` again.
   */
  claim(request: ClaimRequest): Promise<ClaimAnswer[]>;
  /** Keeps answers and drops claims on them; gives `fetchedAt` of those without an age, or 0. */
  record(worker: string, outcomes: readonly NewOutcome[]): Promise<number>;
  /** Drops this worker's claims on these keys; others' claims are left alone. */
  release(worker: string, keys: readonly OutcomeKey[]): Promise<void>;
  /** Renews the worker's heartbeat (every 5 s; dead after 15 s). */
  heartbeat(worker: string): Promise<void>;
  /** Ends the worker's heartbeat: its claims are free at once. */
  deregister(worker: string): Promise<void>;
  /** The stored answers, in the order of the keys, null where there is none or it is stale. */
  read(keys: readonly OutcomeKey[], freshness: Freshness): Promise<(StoredOutcome | null)[]>;
  stats(): Promise<OutcomeStats>;
  /** Returns how many there were, as `purge` does, which is for answers older than this. */
  forget(keys: readonly OutcomeKey[]): Promise<number>;
  purge(olderThanMs: number): Promise<number>;
  /** Walks all answers: null, then `next`. Each comes at least once; Redis may repeat one. */
  page(after: string | null): Promise<OutcomePage>;
  /**
   * Keeps answers of another store with their dates, none later than now. Later answers and claims
   * stay, and what is too old to be kept is left out.
   */
  restore(outcomes: readonly StoredOutcome[]): Promise<Shaped<typeof restoreCountsShape>>;
}

/** A "retry later" 404 (the service fetches the brand within 1 to 2 minutes) is fresh this long. */
export const RETRY_LATER_FRESH_MS = 120_000;

export const RETRY_LATER_REASON =
  'the service is still fetching this brand (crawl_queued); run again in 2 minutes to retry it';

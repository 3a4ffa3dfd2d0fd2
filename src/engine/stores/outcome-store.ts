/**
 * The `OutcomeStore`: durable answers, never bought again while fresh, and claims, which stop two
 * workers from asking for one identifier at once. Each call is atomic per key.
 */
import { isMoment } from '../../core/clock.js';
import type { Freshness, NewOutcome, OutcomeKey, StoredOutcome } from '../../core/outcome.js';
import {
  bytes,
  count,
  flag,
  integer,
  nullOr,
  number,
  object,
  type Shape,
  type Shaped,
  text,
  textLike,
  tuple,
} from '../../core/shapes.js';
import { nothing, type StoreCalls, some, unreadable } from './store-calls.js';

/** `fresh`: nothing to buy. `busy`: another live worker asks. `ours`: this worker may ask. */
export type ClaimAnswer = 'fresh' | 'busy' | 'ours';

const outcomeStatsShape = object({
  matched: count,
  notFound: count,
  oldestFetchedAt: nullOr(number),
  newestFetchedAt: nullOr(number),
});
export type OutcomeStats = Shaped<typeof outcomeStatsShape>;

/** The result of `restore`. Answers in neither count were in the store already. */
const restoreCountsShape = object({ taken: count, expired: count });

/** Answers on a page of a walk; on Redis, keys to look at for a page. */
const PAGE_OUTCOMES = 200;

const CLAIM_LETTERS: Readonly<Record<string, ClaimAnswer>> = { f: 'fresh', b: 'busy', o: 'ours' };

/** Returns from when on matched answers are fresh, from when on others, and the run's start. */
function freshSince(freshness: Freshness): [matched: number, missing: number, asOf: number] {
  const since = (maxAgeMs: number) =>
    Math.max(0, Math.ceil(Math.max(freshness.asOf - maxAgeMs, freshness.notBefore)));
  return [since(freshness.maxAgeMs), since(freshness.maxAgeMissingMs), Math.floor(freshness.asOf)];
}

/**
 * Packs answers: a list for each with its key, whether it is matched and billed, the first byte of
 * its body (from 1), its length, and two numbers from `dates`; then all bodies.
 */
function packed<O extends Pick<NewOutcome, 'key' | 'status' | 'billed' | 'packed'>>(
  outcomes: readonly O[],
  dates: (outcome: O) => [number | null, number],
): [meta: string, bytes: Buffer] {
  let firstByte = 1;
  const meta = outcomes.map((outcome) => {
    const { key, status, billed, packed } = outcome;
    const from = firstByte;
    firstByte += packed?.length ?? 0;
    const [one, other] = dates(outcome);
    return [key, status === 'matched', billed, from, packed?.length ?? null, one, other];
  });
  return [JSON.stringify(meta), Buffer.concat(outcomes.flatMap(({ packed }) => packed ?? []))];
}

/** Answers of a reply, each with its place in the request or its key. */
const found = <At>(at: Shape<At>) =>
  some(
    tuple(
      at,
      flag,
      flag,
      /* fetched at */ number,
      /* fresh until */ nullOr(number),
      /* length */ nullOr(count),
    ),
  );
const bodies = nullOr(bytes);
const readShape = object({ meta: found(count), bytes: bodies });
const pageShape = object({ meta: object({ next: nullOr(text), answers: found(text) }), bytes: bodies });

/** Returns the answers of a reply; null if it is damaged. `keyOf` turns a place into a key. */
function unpacked<At>(
  meta: Shaped<ReturnType<typeof found<At>>>,
  bytes: Uint8Array | null,
  keyOf: (at: At) => OutcomeKey,
): StoredOutcome[] | null {
  const total = meta.reduce((sum, [, , , , , length]) => sum + (length ?? 0), 0);
  // A wrong length would read other memory of this process.
  if (!Number.isSafeInteger(total) || total > (bytes?.length ?? 0)) return null;
  let offset = bytes?.byteOffset ?? 0;
  return meta.map(([at, isMatched, billed, fetchedAt, freshUntil, length]) => {
    const packed = length === null ? null : Buffer.from(bytes?.buffer ?? new ArrayBuffer(0), offset, length);
    offset += length ?? 0;
    return {
      key: keyOf(at),
      status: isMatched ? 'matched' : 'not_found',
      packed,
      fetchedAt: momentOf(fetchedAt),
      billed,
      freshUntil: isMoment(freshUntil) ? freshUntil : null,
    };
  });
}

/** A number that is no date counts as the oldest one. */
const momentOf = (at: number | null) => (isMoment(at) ? at : 0);

/** Packs new answers for `record_outcomes` and `exchange`. */
export function packedNew(outcomes: readonly NewOutcome[]): [meta: string, bytes: Buffer] {
  return packed(outcomes, ({ freshMs, ageMs }) => [freshMs, Math.round(ageMs ?? 0)]);
}

export type OutcomeStore = ReturnType<typeof createOutcomes>;

export function createOutcomes({ call, walk, address }: StoreCalls) {
  return {
    /**
     * Claims keys; returns one answer per key, `ours` also for a claim of this worker. A claim
     * whose worker has sent no heartbeat for 15 s is taken over, and its permit that was never
     * settled counts as one unusable answer for its run and key.
     */
    async claim(worker: string, keys: readonly OutcomeKey[], freshness: Freshness): Promise<ClaimAnswer[]> {
      if (keys.length === 0) return [];
      const given = [worker, JSON.stringify(keys), ...freshSince(freshness)] as const;
      const letters = await call(textLike(/^[fbo]*$/), 'claim_keys', ...given);
      const answers = Array.from(letters, (letter) => CLAIM_LETTERS[letter] ?? 'busy');
      if (answers.length !== keys.length) throw unreadable(address);
      return answers;
    },
    /** Stores answers and drops their claims. Returns `fetchedAt` of those without an age, or 0. */
    async record(outcomes: readonly NewOutcome[]): Promise<number> {
      return outcomes.length === 0 ? 0 : call(integer, 'record_outcomes', ...packedNew(outcomes));
    },
    /** Drops this worker's claims on these keys. */
    async release(worker: string, keys: readonly OutcomeKey[]): Promise<void> {
      if (keys.length > 0) await call(nothing, 'release_keys', worker, JSON.stringify(keys));
    },
    /** Renews the worker's heartbeat (every 5 s; dead after 15 s). */
    heartbeat: (worker: string) => call(nothing, 'heartbeat_worker', worker),
    /** Ends the worker's heartbeat, which frees its claims at once. */
    deregister: (worker: string) => call(nothing, 'deregister_worker', worker),
    /** Returns one entry per key: its fresh answer, or null. */
    async read(keys: readonly OutcomeKey[], freshness: Freshness): Promise<(StoredOutcome | null)[]> {
      if (keys.length === 0) return [];
      const given = [JSON.stringify(keys), ...freshSince(freshness)] as const;
      const { meta, bytes } = await call(readShape, 'read_outcomes', ...given);
      const found = new Array<StoredOutcome | null>(keys.length).fill(null);
      const outcomes = unpacked(meta, bytes, (at) => keys[at - 1] ?? '');
      if (outcomes === null) throw unreadable(address);
      for (const [index, outcome] of outcomes.entries()) found[(meta[index]?.[0] ?? 0) - 1] = outcome;
      return found;
    },
    async stats(): Promise<OutcomeStats> {
      let sum: OutcomeStats = { matched: 0, notFound: 0, oldestFetchedAt: null, newestFetchedAt: null };
      for await (const page of walk(outcomeStatsShape, 'outcome_stats')) {
        const { matched, notFound, oldestFetchedAt: oldest, newestFetchedAt: newest } = page;
        if (matched + notFound === 0) continue;
        sum = {
          matched: sum.matched + matched,
          notFound: sum.notFound + notFound,
          oldestFetchedAt: Math.min(sum.oldestFetchedAt ?? Number.POSITIVE_INFINITY, momentOf(oldest)),
          newestFetchedAt: Math.max(sum.newestFetchedAt ?? 0, momentOf(newest)),
        };
      }
      return sum;
    },
    /** Deletes answers, and returns their number. */
    async forget(keys: readonly OutcomeKey[]): Promise<number> {
      return keys.length === 0 ? 0 : call(integer, 'forget_outcomes', JSON.stringify(keys));
    },
    /** Deletes answers that are older, and returns their number. */
    async purge(olderThanMs: number): Promise<number> {
      let count = 0;
      for await (const gone of walk(integer, 'purge_outcomes', Math.round(olderThanMs))) count += gone;
      return count;
    },
    /** Returns the first page of all answers, or the one at `next`. Redis may repeat answers. */
    async page(after: string | null) {
      const { meta, bytes } = await call(pageShape, 'page_outcomes', after ?? '', PAGE_OUTCOMES);
      const outcomes = unpacked(meta.answers, bytes, (key) => key);
      if (outcomes === null) throw unreadable(address);
      return { outcomes, next: meta.next };
    },
    /**
     * Stores answers from an export with their dates, none later than now. Answers that are too old
     * are dropped; a later answer that is stored, and claims, stay.
     */
    async restore(outcomes: readonly StoredOutcome[]): Promise<Shaped<typeof restoreCountsShape>> {
      if (outcomes.length === 0) return { taken: 0, expired: 0 };
      const given = packed(outcomes, ({ freshUntil, fetchedAt }) => [
        freshUntil === null ? null : Math.round(freshUntil),
        Math.round(fetchedAt),
      ]);
      return call(restoreCountsShape, 'restore_outcomes', ...given);
    },
  };
}

/** How long a "retry later" 404 is fresh: the service fetches the brand within 1 to 2 minutes. */
export const RETRY_LATER_FRESH_MS = 120_000;

export const RETRY_LATER_REASON =
  'the service is still fetching this brand (crawl_queued); run again in 2 minutes to retry it';

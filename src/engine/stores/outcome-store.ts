/**
 * The `OutcomeStore`: durable answers, never bought again while fresh, and claims that keep two
 * workers from asking for one identifier at once. Each call is atomic per key and on the store's
 * own clock; bodies travel as one value with their places.
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

/** `fresh`: nothing to buy. `busy`: a live worker is asking. `ours`: this worker may ask. */
export type ClaimAnswer = 'fresh' | 'busy' | 'ours';

const outcomeStatsShape = object({
  matched: count,
  notFound: count,
  oldestFetchedAt: nullOr(number),
  newestFetchedAt: nullOr(number),
});
export type OutcomeStats = Shaped<typeof outcomeStatsShape>;

/** The result of `restore`; answers in neither count were stored already. */
const restoreCountsShape = object({ taken: count, expired: count });

/** Answers of a walk that are in memory at once; on Redis, keys that are looked at for them. */
const PAGE_OUTCOMES = 200;

const CLAIM_LETTERS: Readonly<Record<string, ClaimAnswer>> = { f: 'fresh', b: 'busy', o: 'ours' };

/** Since when matched answers are fresh, since when others are, and the start of the run. */
function freshSince(freshness: Freshness): [matched: number, missing: number, asOf: number] {
  const since = (maxAgeMs: number) =>
    Math.max(0, Math.ceil(Math.max(freshness.asOf - maxAgeMs, freshness.notBefore)));
  return [since(freshness.maxAgeMs), since(freshness.maxAgeMissingMs), Math.floor(freshness.asOf)];
}

/**
 * Packs answers: of each its key, is matched, is billed, the first byte of its body (from 1), its
 * length, and what `dates` gives; then all bodies.
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

/** Answers, each with its place or key; then all bodies. */
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

/** The answers of a reply, null: damaged; `keyOf` gives the key for what stands in its place. */
function unpacked<At>(
  meta: Shaped<ReturnType<typeof found<At>>>,
  bytes: Uint8Array | null,
  keyOf: (at: At) => OutcomeKey,
): StoredOutcome[] | null {
  const total = meta.reduce((sum, [, , , , , length]) => sum + (length ?? 0), 0);
  // Behind the bodies is memory of this process.
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

/** What cannot be a date is as old as can be. */
const momentOf = (at: number | null) => (isMoment(at) ? at : 0);

/** New answers, as `record_outcomes` and `exchange` take them. */
export function packedNew(outcomes: readonly NewOutcome[]): [meta: string, bytes: Buffer] {
  return packed(outcomes, ({ freshMs, ageMs }) => [freshMs, Math.round(ageMs ?? 0)]);
}

export type OutcomeStore = ReturnType<typeof createOutcomes>;

export function createOutcomes({ call, walk, address }: StoreCalls) {
  return {
    /**
     * One answer per key, in order. A claim is taken over when its worker's last heartbeat is older
     * than 15 s: a permit granted under it and never settled then counts one unusable answer for
     * its run and key. One's own claim is `ours` again.
     */
    async claim(worker: string, keys: readonly OutcomeKey[], freshness: Freshness): Promise<ClaimAnswer[]> {
      if (keys.length === 0) return [];
      const given = [worker, JSON.stringify(keys), ...freshSince(freshness)] as const;
      const letters = await call(textLike(/^[fbo]*$/), 'claim_keys', ...given);
      const answers = Array.from(letters, (letter) => CLAIM_LETTERS[letter] ?? 'busy');
      if (answers.length !== keys.length) throw unreadable(address);
      return answers;
    },
    /** Keeps answers and drops claims on them; gives `fetchedAt` of those without an age, or 0. */
    async record(outcomes: readonly NewOutcome[]): Promise<number> {
      return outcomes.length === 0 ? 0 : call(integer, 'record_outcomes', ...packedNew(outcomes));
    },
    /** Drops this worker's claims on these keys; others' claims are left alone. */
    async release(worker: string, keys: readonly OutcomeKey[]): Promise<void> {
      if (keys.length > 0) await call(nothing, 'release_keys', worker, JSON.stringify(keys));
    },
    /** Renews the worker's heartbeat (every 5 s; dead after 15 s). */
    heartbeat: (worker: string) => call(nothing, 'heartbeat_worker', worker),
    /** Ends the worker's heartbeat: its claims are free at once. */
    deregister: (worker: string) => call(nothing, 'deregister_worker', worker),
    /** The stored answers, in the order of the keys, null where there is none or it is stale. */
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
    /** Returns how many there were, as `purge` does, which is for answers older than this. */
    async forget(keys: readonly OutcomeKey[]): Promise<number> {
      return keys.length === 0 ? 0 : call(integer, 'forget_outcomes', JSON.stringify(keys));
    },
    async purge(olderThanMs: number): Promise<number> {
      let count = 0;
      for await (const gone of walk(integer, 'purge_outcomes', Math.round(olderThanMs))) count += gone;
      return count;
    },
    /** Walks all answers: null, then `next`. Each comes at least once; Redis may repeat one. */
    async page(after: string | null) {
      const { meta, bytes } = await call(pageShape, 'page_outcomes', after ?? '', PAGE_OUTCOMES);
      const outcomes = unpacked(meta.answers, bytes, (key) => key);
      if (outcomes === null) throw unreadable(address);
      return { outcomes, next: meta.next };
    },
    /**
     * Keeps answers of another store with their dates, none later than now, but for those that are
     * too old. Later answers and claims stay.
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

/** A "retry later" 404 (the service fetches the brand within 1 to 2 minutes) is fresh this long. */
export const RETRY_LATER_FRESH_MS = 120_000;

export const RETRY_LATER_REASON =
  'the service is still fetching this brand (crawl_queued); run again in 2 minutes to retry it';

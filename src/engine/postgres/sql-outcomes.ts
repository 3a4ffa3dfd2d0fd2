/**
 * The `OutcomeStore` over SQL. The bytes of many answers travel as one value with a list of lengths beside it: a
 * list of byte strings would be spelled out in text.
 */
import type { Freshness } from '../../core/outcome.js';
import { KEEP_ANSWERS_MS } from '../../stores/freshness.js';
import type {
  ClaimAnswer,
  NewOutcome,
  OutcomeKey,
  OutcomeStats,
  OutcomeStore,
  StoredOutcome,
} from '../../stores/outcome-store.js';
import type { SqlRow, StoreCalls } from './database.js';

/** Answers of a walk that are in memory at once. */
const PAGE_OUTCOMES = 200;

/** What SQL compares `fetched_at` with: matched answers are fresh since the first, others since the second. */
function freshSince(freshness: Freshness): [matched: number, missing: number, asOf: number] {
  const since = (maxAgeMs: number) =>
    Math.max(0, Math.ceil(Math.max(freshness.asOf - maxAgeMs, freshness.notBefore)));
  return [since(freshness.maxAgeMs), since(freshness.maxAgeMissingMs), Math.floor(freshness.asOf)];
}

type RecordedMeta = [
  key: string,
  isMatched: boolean,
  billed: boolean,
  freshMs: number | null,
  firstByte: number,
  length: number | null,
  ageMs: number,
];

/** Where the answers of these outcomes are in `bytes`: the first byte, from 1, and the length. */
function packOutcomes<O extends Pick<NewOutcome, 'packed'>>(
  outcomes: readonly O[],
): { places: { outcome: O; firstByte: number; length: number | null }[]; bytes: Buffer } {
  let firstByte = 1;
  const places = outcomes.map((outcome) => {
    const place = { outcome, firstByte, length: outcome.packed?.length ?? null };
    firstByte += place.length ?? 0;
    return place;
  });
  return { places, bytes: Buffer.concat(outcomes.flatMap(({ packed }) => packed ?? [])) };
}

/** Answers as `record_outcomes` takes them. */
function recordedMeta(places: ReturnType<typeof packOutcomes<NewOutcome>>['places']): RecordedMeta[] {
  return places.map(({ outcome, firstByte, length }) => [
    outcome.key,
    outcome.status === 'matched',
    outcome.billed,
    outcome.freshMs,
    firstByte,
    length,
    Math.round(outcome.ageMs ?? 0),
  ]);
}

type ReadMeta<At = number> = [
  at: At,
  isMatched: boolean,
  billed: boolean,
  fetchedAt: number,
  freshUntil: number | null,
  length: number | null,
];

/** The answers of `read_outcomes` and `page_outcomes`; `keyOf` gives the key for what stands in its place. */
function* readAnswers<At>(
  row: SqlRow | undefined,
  keyOf: (at: At) => OutcomeKey,
): Generator<[At, StoredOutcome]> {
  const bytes = (row?.bytes ?? Buffer.alloc(0)) as Uint8Array;
  let offset = 0;
  for (const [at, isMatched, billed, fetchedAt, freshUntil, length] of (row?.meta ?? []) as ReadMeta<At>[]) {
    const packed = length === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset + offset, length);
    offset += length ?? 0;
    const status = isMatched ? 'matched' : 'not_found';
    yield [at, { key: keyOf(at), status, packed, fetchedAt, billed, freshUntil }];
  }
}

const CLAIM_LETTERS: Readonly<Record<string, ClaimAnswer>> = { f: 'fresh', b: 'busy', o: 'ours' };

export function createSqlOutcomes(calls: StoreCalls): OutcomeStore {
  return {
    async claim({ worker, keys, freshness }) {
      if (keys.length === 0) return [];
      const letters = await calls.value('claim_keys', worker, JSON.stringify(keys), ...freshSince(freshness));
      return Array.from(String(letters), (letter) => {
        const answer = CLAIM_LETTERS[letter];
        if (answer === undefined) throw new Error(`claim gave the answer ${letter}`);
        return answer;
      });
    },
    async record(_worker, outcomes) {
      if (outcomes.length === 0) return 0;
      const { places, bytes } = packOutcomes(outcomes);
      return Number(await calls.value('record_outcomes', JSON.stringify(recordedMeta(places)), bytes));
    },
    async release(worker, keys) {
      if (keys.length > 0) await calls.value('release_keys', worker, JSON.stringify(keys));
    },
    async heartbeat(worker) {
      await calls.value('beat_worker', worker);
    },
    async deregister(worker) {
      await calls.value('retire_worker', worker);
    },
    async read(keys, freshness) {
      if (keys.length === 0) return [];
      const [row] = await calls.rows('read_outcomes', JSON.stringify(keys), ...freshSince(freshness));
      const found = new Array<StoredOutcome | null>(keys.length).fill(null);
      for (const [position, outcome] of readAnswers<number>(row, (at) => keys[at - 1] ?? ''))
        found[position - 1] = outcome;
      return found;
    },
    async stats() {
      return (await calls.value('outcome_stats')) as OutcomeStats;
    },
    async forget(keys) {
      return Number(await calls.value('forget_outcomes', JSON.stringify(keys)));
    },
    async purge(before) {
      return Number(await calls.value('purge_outcomes', Math.ceil(before)));
    },
    async page(after) {
      const [row] = await calls.rows('page_outcomes', after ?? '', PAGE_OUTCOMES);
      const outcomes = Array.from(
        readAnswers<OutcomeKey>(row, (key) => key),
        ([, outcome]) => outcome,
      );
      const isLast = outcomes.length < PAGE_OUTCOMES;
      return { outcomes, next: isLast ? null : (outcomes.at(-1)?.key ?? null) };
    },
    async restore(outcomes) {
      if (outcomes.length === 0) return { taken: 0, expired: 0 };
      const { places, bytes } = packOutcomes(outcomes);
      const meta = places.map(
        ({ outcome: { key, status, billed, fetchedAt, freshUntil }, firstByte, length }) => {
          const until = freshUntil === null ? null : Math.round(freshUntil);
          return [key, status === 'matched', billed, Math.round(fetchedAt), until, firstByte, length];
        },
      );
      const [row] = await calls.rows('restore_outcomes', JSON.stringify(meta), bytes, KEEP_ANSWERS_MS);
      return { taken: Number(row?.taken), expired: Number(row?.expired) };
    },
  };
}

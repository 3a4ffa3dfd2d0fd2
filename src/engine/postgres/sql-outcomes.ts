/**
 * The `OutcomeStore` over SQL. The bytes of many answers travel as one value with a list of lengths beside it: a
 * list of byte strings would be spelled out in text.
 */

import type { Freshness } from '../../core/outcome.js';
import type {
  ClaimAnswer,
  NewOutcome,
  OutcomeKey,
  OutcomeStats,
  OutcomeStore,
  StoredOutcome,
} from '../../stores/outcome-store.js';
import type { StoreCalls } from './database.js';

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

/** Answers as `record_outcomes` takes them. */
function packOutcomes(outcomes: readonly NewOutcome[]): { meta: RecordedMeta[]; bytes: Buffer } {
  const parts: Buffer[] = [];
  let firstByte = 1;
  const meta = outcomes.map((outcome): RecordedMeta => {
    const { packed } = outcome;
    const entry: RecordedMeta = [
      outcome.key,
      outcome.status === 'matched',
      outcome.billed,
      outcome.freshMs,
      firstByte,
      packed === null ? null : packed.length,
      Math.round(outcome.ageMs ?? 0),
    ];
    if (packed !== null) {
      parts.push(packed);
      firstByte += packed.length;
    }
    return entry;
  });
  return { meta, bytes: Buffer.concat(parts) };
}

type ReadMeta = [
  position: number,
  isMatched: boolean,
  billed: boolean,
  fetchedAt: number,
  freshUntil: number | null,
  length: number | null,
];

/** Reverses the shape of `read_outcomes`: one entry for each key, null where there is no answer. */
function unpackOutcomes(
  keys: readonly OutcomeKey[],
  meta: readonly ReadMeta[],
  bytes: Uint8Array,
): (StoredOutcome | null)[] {
  const found = new Array<StoredOutcome | null>(keys.length).fill(null);
  let offset = 0;
  for (const [position, isMatched, billed, fetchedAt, freshUntil, length] of meta) {
    const packed = length === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset + offset, length);
    offset += length ?? 0;
    const key = keys[position - 1];
    if (key === undefined) throw new Error(`read gave an answer for key ${position} of ${keys.length}`);
    found[position - 1] = {
      key,
      status: isMatched ? 'matched' : 'not_found',
      packed,
      fetchedAt,
      billed,
      freshUntil,
    };
  }
  return found;
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
      const { meta, bytes } = packOutcomes(outcomes);
      return Number(await calls.value('record_outcomes', JSON.stringify(meta), bytes));
    },
    async release(worker, keys) {
      if (keys.length > 0) await calls.value('release_keys', worker, JSON.stringify(keys));
    },
    async beat(worker) {
      await calls.value('beat_worker', worker);
    },
    async retire(worker) {
      await calls.value('retire_worker', worker);
    },
    async read(keys, freshness) {
      if (keys.length === 0) return [];
      const [row] = await calls.rows('read_outcomes', JSON.stringify(keys), ...freshSince(freshness));
      const meta = (row?.meta ?? []) as readonly ReadMeta[];
      return unpackOutcomes(keys, meta, (row?.bytes ?? Buffer.alloc(0)) as Uint8Array);
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
  };
}

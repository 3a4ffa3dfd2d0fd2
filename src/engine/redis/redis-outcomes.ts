/**
 * The `OutcomeStore` on Redis: each operation is one call, except those that walk over everything (`stats`, `purge`), which go
 * page by page so that nobody waits for them.
 */
import { isFresh } from '../../stores/freshness.js';
import type { ClaimAnswer, OutcomeStore } from '../../stores/outcome-store.js';
import { outcomeFlags, readOutcomeValue } from './outcome-value.js';
import { createReplyReader, texts } from './reply-reader.js';
import { loadScript, type ScriptArgument } from './script.js';
import type { StoreConnection } from './store-connection.js';
import { outcomeName } from './store-keys.js';

const OUTCOMES = loadScript('outcomes.lua');

/** Keys looked at in one call of a walk: about a millisecond of Redis' time. */
const PAGE_KEYS = 1_000;
/** The same where the answers are fetched, so that only so many are in memory at once. */
const PAGE_OUTCOMES = 200;

const CLAIM_ANSWERS: Record<string, ClaimAnswer> = { f: 'fresh', b: 'busy', o: 'ours' };

function claimAnswer(letter: string): ClaimAnswer {
  const answer = CLAIM_ANSWERS[letter];
  if (answer === undefined) throw new Error(`not an answer to a claim: ${letter}`);
  return answer;
}

export function createRedisOutcomes(store: StoreConnection): OutcomeStore {
  /** Hands each page to `visit` until the walk has come around. */
  async function walk(
    page: (cursor: string) => Promise<readonly string[]>,
    visit: (page: readonly string[]) => void,
  ) {
    let cursor = '0';
    do {
      const [next = '0', ...rest] = await page(cursor);
      visit(rest);
      cursor = next;
    } while (cursor !== '0');
  }

  return {
    async claim({ worker, keys, freshness }) {
      if (keys.length === 0) return [];
      const { asOf, maxAgeMs, maxAgeMissingMs, notBefore } = freshness;
      const oldest = [Math.max(asOf - maxAgeMs, notBefore), Math.max(asOf - maxAgeMissingMs, notBefore)];
      const reply = await store.call(OUTCOMES, 'claim', [worker, asOf, ...oldest, ...keys]);
      return Array.from(String(reply), claimAnswer);
    },
    async record(_worker, outcomes) {
      if (outcomes.length === 0) return 0;
      const list: ScriptArgument[] = [];
      for (const outcome of outcomes)
        list.push(
          outcome.key,
          outcomeFlags(outcome),
          outcome.freshMs,
          outcome.ageMs ?? 0,
          outcome.packed ?? '',
        );
      return createReplyReader(texts(await store.call(OUTCOMES, 'record', list, 'on-disk'))).number();
    },
    async release(worker, keys) {
      if (keys.length > 0) await store.call(OUTCOMES, 'release', [worker, ...keys]);
    },
    async heartbeat(worker) {
      await store.call(OUTCOMES, 'heartbeat', [worker]);
    },
    async deregister(worker) {
      await store.call(OUTCOMES, 'deregister', [worker]);
    },
    async read(keys, freshness) {
      const values = await store.readAll(keys.map((key) => outcomeName(store.root, key)));
      return keys.map((key, index) => {
        const value = values[index];
        if (!value) return null;
        const outcome = readOutcomeValue(key, value);
        return isFresh(outcome, freshness) ? outcome : null;
      });
    },
    async stats() {
      let matched = 0;
      let notFound = 0;
      let oldest = Number.POSITIVE_INFINITY;
      let newest = Number.NEGATIVE_INFINITY;
      await walk(
        async (cursor) => texts(await store.call(OUTCOMES, 'statsPage', [cursor, PAGE_KEYS])),
        (page) => {
          const reply = createReplyReader(page);
          matched += reply.number();
          notFound += reply.number();
          oldest = Math.min(oldest, reply.someNumber() ?? oldest);
          newest = Math.max(newest, reply.someNumber() ?? newest);
        },
      );
      const some = matched + notFound > 0;
      return {
        matched,
        notFound,
        oldestFetchedAt: some ? oldest : null,
        newestFetchedAt: some ? newest : null,
      };
    },
    async forget(keys) {
      if (keys.length === 0) return 0;
      return createReplyReader(texts(await store.call(OUTCOMES, 'forget', keys, 'on-disk'))).number();
    },
    async purge(before) {
      let count = 0;
      await walk(
        async (cursor) => texts(await store.call(OUTCOMES, 'purgePage', [cursor, PAGE_KEYS, before])),
        (page) => {
          count += createReplyReader(page).number();
        },
      );
      return count;
    },
    async page(after) {
      const [next = '0', ...names] = texts(
        await store.call(OUTCOMES, 'namesPage', [after ?? '0', PAGE_OUTCOMES]),
      );
      const values = await store.readAll(names);
      const outcomes = names.flatMap((name, index) => {
        const value = values[index];
        return value ? [readOutcomeValue(name.slice(outcomeName(store.root, '').length), value)] : [];
      });
      return { outcomes, next: next === '0' ? null : next };
    },
    async restore(outcomes) {
      if (outcomes.length === 0) return { taken: 0, expired: 0 };
      const list = outcomes.flatMap((outcome): ScriptArgument[] => [
        outcome.key,
        outcomeFlags(outcome),
        Math.round(outcome.fetchedAt),
        outcome.freshUntil === null ? null : Math.round(outcome.freshUntil),
        outcome.packed ?? '',
      ]);
      const reply = createReplyReader(texts(await store.call(OUTCOMES, 'restore', list, 'on-disk')));
      return { taken: reply.number(), expired: reply.number() };
    },
  };
}

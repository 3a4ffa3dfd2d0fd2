/** Contract of the outcome store, run against each engine. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Freshness, StoredOutcome } from '../../../src/core/outcome.js';
import { testClaims } from './claims-contract.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';
import { createOutcomesBench, DAY_MS } from './outcomes-bench.js';

/** The reference for the rule of freshness, which engines implement in Lua and SQL. */
function isFresh(
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

export function describeOutcomes(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: outcomes`, () => {
    const subject = engineOfSuite(open);
    const { clock } = subject;

    const bench = createOutcomesBench(() => subject.engine, clock);
    const { begin, store, storeNow, fresh, claim, matched } = bench;

    testClaims(bench);

    test('bodies are returned byte for byte, dated by the store, in the order of the keys', async () => {
      const { keys } = begin(4);
      const bodies = [Buffer.from([0, 255, 10, 13, 0]), Buffer.alloc(0), Buffer.alloc(70_000, 0x80), null];
      const before = storeNow();
      const fetchedAt = await store().record(
        keys.map((key, index) => {
          const packed = bodies[index] ?? null;
          return matched(key, {
            packed,
            status: packed ? 'matched' : 'not_found',
            billed: index % 2 === 0,
            freshMs: index === 3 ? 600_000 : null,
          });
        }),
      );
      const stored = await store().read([...keys].reverse(), fresh());
      expect(stored.map((outcome) => outcome?.key)).toEqual([...keys].reverse());
      for (const [index, outcome] of [...stored].reverse().entries()) {
        const packed = outcome?.packed ?? null;
        expect(packed === null ? null : Buffer.from(packed)).toEqual(bodies[index]);
        expect(outcome?.status).toBe(bodies[index] ? 'matched' : 'not_found');
        expect(outcome?.billed).toBe(index % 2 === 0);
        expect(outcome?.fetchedAt).toBe(fetchedAt);
        // The store's clock is this machine's; it may be read a moment apart.
        expect(fetchedAt).toBeGreaterThan(before - 5_000);
        expect(fetchedAt).toBeLessThan(storeNow() + 5_000);
        expect(outcome?.freshUntil).toBe(index === 3 ? (outcome?.fetchedAt ?? 0) + 600_000 : null);
      }
    });

    test('an answer recorded late is dated when it was fetched, and does not replace a later one', async () => {
      const { keys } = begin(3);
      const [waited = '', known = '', older = ''] = keys;
      const HOUR = 3_600_000;
      await store().record([matched(older, { ageMs: 2 * HOUR })]);
      const knownAt = await store().record([matched(known)]);
      const now = await store().record([
        matched(waited, { ageMs: HOUR, freshMs: 7_200_000 }),
        matched(known, { ageMs: HOUR, status: 'not_found', packed: null }),
        matched(older, { ageMs: HOUR }),
      ]);
      const stored = await store().read(keys, fresh());
      expect(stored.map((outcome) => [outcome?.fetchedAt, outcome?.status, outcome?.freshUntil])).toEqual([
        [now - HOUR, 'matched', now + HOUR],
        [knownAt, 'matched', null],
        [now - HOUR, 'matched', null],
      ]);
      // A later one replaces it.
      await store().record([matched(waited, { status: 'not_found', packed: null })]);
      expect((await store().read(keys, fresh()))[0]).toMatchObject({ status: 'not_found', freshUntil: null });
    });

    test('claim and read agree with the rule of freshness for all ages', async () => {
      const { keys, mark } = begin(3);
      const [old = '', missing = '', soon = ''] = keys;
      await store().record([
        matched(old),
        matched(missing, { status: 'not_found', packed: null }),
        matched(soon, { freshMs: 600_000 }),
      ]);
      const stored = await store().read(keys, fresh());
      const fetchedAt = stored[0]?.fetchedAt ?? 0;
      let asked = 0;
      const ages = [0, 1, 599_999, 600_000, 600_001, DAY_MS, 7 * DAY_MS, 30 * DAY_MS];
      const age = fc.constantFrom(...ages);
      // Also answers that came after the run began.
      const pastAge = fc.constantFrom(-5 * DAY_MS, -1, ...ages);
      await fc.assert(
        fc.asyncProperty(
          pastAge,
          age,
          age,
          fc.constantFrom(0, -1, 1),
          async (past, max, maxMissing, edge) => {
            const freshness = {
              asOf: fetchedAt + past,
              maxAgeMs: max,
              maxAgeMissingMs: maxMissing,
              notBefore: edge === 0 ? 0 : fetchedAt + edge,
            };
            const expected = stored.map((outcome) => outcome !== null && isFresh(outcome, freshness));
            const read = await store().read(keys, freshness);
            expect(read.map((outcome) => outcome !== null)).toEqual(expected);
            asked += 1;
            const worker = `${mark}-asks-${asked}`;
            const answers = await claim(worker, keys, freshness);
            expect(answers.map((answer) => answer === 'fresh')).toEqual(expected);
            await store().release(worker, keys);
          },
        ),
        { numRuns: 60 },
      );
    });

    test('empty lists send nothing to the store', async () => {
      const { first } = begin(0);
      const before = subject.engine.roundTrips.count;
      expect(await claim(first, [])).toEqual([]);
      expect(await store().read([], fresh())).toEqual([]);
      await store().record([]);
      await store().release(first, []);
      expect(subject.engine.roundTrips.count).toBe(before);
    });

    test('batches take one round trip each, of any length: 50 claims, 1,203 answers and readings', async () => {
      const { keys, first } = begin(1_203);
      const bodyOf = (at: number) => Buffer.alloc(at % 401 < 7 ? 700_000 : 450, at);
      const answers = keys.map((key, at) => matched(key, { packed: bodyOf(at) }));
      // The first call of each kind may have to load a script.
      await claim(first, keys.slice(-1));
      await store().record(answers.slice(-1));
      const before = subject.engine.roundTrips.count;
      await claim(first, keys.slice(0, 50));
      for (const from of [0, 401, 802]) await store().record(answers.slice(from, from + 401));
      const stored = await store().read(keys, fresh());
      expect(subject.engine.roundTrips.count - before).toBe(5);
      expect(stored.flatMap((outcome, at) => (outcome?.packed?.equals(bodyOf(at)) ? [] : [at]))).toEqual([]);
    });

    async function walk(): Promise<Map<string, StoredOutcome>> {
      const found = new Map<string, StoredOutcome>();
      for (let after: string | null = null; ; ) {
        const { outcomes, next } = await store().page(after);
        for (const outcome of outcomes) found.set(outcome.key, outcome);
        if (next === null) return found;
        after = next;
      }
    }

    test('a scan over all answers is paged and misses none', async () => {
      const { keys, mark } = begin(1_001);
      const [missing = ''] = keys;
      await store().record(keys.slice(1).map((key) => matched(key)));
      await store().record([matched(missing, { status: 'not_found', packed: null, freshMs: 9_000 })]);
      const before = subject.engine.roundTrips.count;
      const found = await walk();
      expect(subject.engine.roundTrips.count - before).toBeGreaterThan(4);
      const ours = [...found.values()].filter(({ key }) => key.startsWith(`${mark}:`));
      expect(ours.map(({ key }) => key).sort()).toEqual([...keys].sort());
      expect(ours).toEqual(expect.arrayContaining(await store().read([missing, keys[7] ?? ''], fresh())));
    });

    test('imported answers keep their dates, do not replace later ones, and leave claims alone', async () => {
      const { keys, first, second } = begin(5);
      const [old = '', later = '', ahead = '', expired = '', empty = ''] = keys;
      const knownAt = await store().record([matched(later)]);
      await claim(first, [old]);
      const given = (key: string, some: Partial<StoredOutcome>): StoredOutcome => ({
        ...{ key, status: 'matched', packed: Buffer.from([0, 255, 10]), billed: true, freshUntil: null },
        fetchedAt: knownAt - DAY_MS,
        ...some,
      });
      const answers = [
        given(old, { fetchedAt: knownAt - 5 * DAY_MS }),
        given(later, { status: 'not_found', packed: null }),
        given(ahead, { fetchedAt: knownAt + DAY_MS, freshUntil: knownAt + DAY_MS + 60_000 }),
        given(expired, { fetchedAt: knownAt - 30 * DAY_MS }),
        given(empty, { packed: Buffer.alloc(0), billed: false, freshUntil: knownAt + DAY_MS }),
      ];
      expect(await store().restore(answers)).toEqual({ taken: 3, expired: 1 });
      expect(await store().restore(answers.slice(0, 2))).toEqual({ taken: 0, expired: 0 });
      expect(await store().restore([])).toEqual({ taken: 0, expired: 0 });
      const stored = await store().read(keys, fresh());
      expect(stored[0]).toEqual(answers[0]);
      expect(stored[1]).toMatchObject({ status: 'matched', fetchedAt: knownAt });
      expect(stored[2]?.fetchedAt).toBeLessThan(knownAt + 60_000);
      expect((stored[2]?.freshUntil ?? 0) - (stored[2]?.fetchedAt ?? 0)).toBe(60_000);
      expect(stored[3]).toBeNull();
      expect(stored[4]).toEqual(answers[4]);
      const stale = fresh({ maxAgeMs: DAY_MS });
      expect(await claim(second, [old], stale)).toEqual(['busy']);
      expect(await store().restore([given(old, { fetchedAt: knownAt - DAY_MS })])).toEqual({
        ...{ taken: 1, expired: 0 },
      });
      expect(await claim(second, [old], fresh({ maxAgeMs: 1_000 }))).toEqual(['busy']);
    });

    test('answers are counted, forgotten by key, and purged by age', async () => {
      const { keys } = begin(4);
      const [a = '', b = '', c = '', d = ''] = keys;
      await store().purge(-DAY_MS);
      expect(await store().stats()).toEqual({
        matched: 0,
        notFound: 0,
        oldestFetchedAt: null,
        newestFetchedAt: null,
      });
      await store().record([matched(a), matched(b, { status: 'not_found', packed: null })]);
      clock.advance(DAY_MS);
      await store().record([matched(c), matched(d)]);
      const [older, , newer] = await store().read(keys, fresh());
      expect(await store().stats()).toEqual({
        matched: 3,
        notFound: 1,
        oldestFetchedAt: older?.fetchedAt,
        newestFetchedAt: newer?.fetchedAt,
      });
      expect(await store().forget([d, 'never-asked'])).toBe(1);
      // The store is a day ahead of this machine here, and its own clock counts.
      expect(await store().purge(DAY_MS + 3_600_000)).toBe(0);
      expect(await store().purge(DAY_MS - 3_600_000)).toBe(2);
      const left = await store().read(keys, fresh());
      expect(left.map((outcome) => outcome?.key ?? null)).toEqual([null, null, c, null]);
    });
  });
}

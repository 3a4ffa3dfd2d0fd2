/** One chunk on a real engine: what is asked for, what is left, and what the run learns. */
import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChunkData } from '../../src/engine/engine.js';
import type { OutcomeStore } from '../../src/engine/stores/outcome-store.js';
import { packProfile } from '../../src/engine/stores/profile-codec.js';
import { freshnessOf, NO_TALLY, type RunRecord } from '../../src/engine/stores/run-store.js';
import { type ChunkContext, resolveChunk } from '../../src/worker/resolve-chunk.js';
import { deferred } from '../support/deferred.js';
import { hasRedisServer } from '../support/redis-server.js';
import { answerOf, DOWN, FAILED, MATCHED } from './asking.js';
import { brands, chunkOf, keyOf, scriptedClient, usePlaces, type Workplace } from './workplace.js';

const SIGNALS = { stop: new AbortController().signal, abort: new AbortController().signal };
setMaxListeners(0, SIGNALS.stop, SIGNALS.abort);

describe.skipIf(!hasRedisServer())('a chunk (needs redis-server)', () => {
  const openPlace = usePlaces('chunk');
  let place: Workplace;
  let run: RunRecord;
  beforeEach(async () => {
    place = await openPlace();
    run = await place.startRun('run');
  });

  async function store(texts: readonly string[]): Promise<void> {
    const packed = packProfile(Buffer.from('{"name":"Stored"}'));
    const outcome = { status: 'matched', packed, billed: true, freshMs: null } as const;
    const outcomes = texts.map((text) => ({ key: keyOf(text), ...outcome }));
    await place.engine.outcomes.record(outcomes);
  }
  const claim = (worker: string, texts: readonly string[]) =>
    place.engine.outcomes.claim(worker, texts.map(keyOf), freshnessOf(run));
  const progress = () => place.engine.runs.heartbeat(run.id);

  it('asks for claimed identifiers, skips fresh ones, and is finished', async () => {
    const texts = [...brands(3), 'domain:nobody.com'];
    await store(brands(1));
    const context = await place.context('w1', place.client());
    expect(await resolveChunk(context, run, chunkOf(run, texts), SIGNALS)).toEqual({ type: 'finished' });
    expect([...place.billed].sort()).toEqual(texts.slice(1).map((text) => [text, 1]));
    expect(await place.statuses(run, texts)).toEqual(['matched', 'matched', 'matched', 'not_found']);
    const tally = { matched: 2, notFound: 1, failed: 0, stored: 1, requests: 3, billed: 3 };
    expect(await progress()).toMatchObject({ chunks: 1, tally });
  });

  it('is retried soon for the identifiers of another worker, shorter and without an attempt', async () => {
    await place.engine.outcomes.heartbeat('other');
    await claim('other', ['domain:b1.com']);
    const context = await place.context('w1', place.client());
    const result = await resolveChunk(context, run, chunkOf(run, brands(3), { chunk: 7 }), SIGNALS);
    const times = { due: { 'domain:b1.com': expect.any(Number) }, parkedAt: expect.any(Number) };
    const data = chunkOf(run, ['domain:b1.com'], { chunk: 7, ...times });
    expect(result).toEqual({ type: 'parked', data, waitMs: 400 });
    expect(place.billed.has('domain:b1.com')).toBe(false);
    expect(await progress()).toMatchObject({ chunks: 0, tally: { matched: 2, stored: 0 } });
    // The other worker's claim is unaffected.
    expect(await claim('third', ['domain:b1.com'])).toEqual(['busy']);
  });

  it('whose worker was killed halfway buys no failed lookup again, and counts it once', async () => {
    await resolveChunk(await place.context('w0', place.client()), run, chunkOf(run, brands(1, 10)), SIGNALS);
    const hang = () => new Promise<never>(() => undefined);
    const client = scriptedClient((value) => (value === 'b3.com' ? hang() : FAILED));
    const context = await place.context('w1', client);
    const data = chunkOf(run, brands(4));
    void resolveChunk(context, run, data, SIGNALS);
    await vi.waitUntil(async () => (await progress()).tally.failed === 3, { timeout: 30_000, interval: 1 });
    // A permit that it settled after its death would count as a sign of life.
    const held = async () => (await place.engine.ledger.show(run.settings.account)).held;
    await vi.waitUntil(async () => (await held()) === 1, { timeout: 30_000, interval: 1 });
    // Its heartbeats end, and its chunk is delivered to another worker.
    await place.engine.outcomes.deregister('w1');
    const next = scriptedClient(() => FAILED);
    await resolveChunk(await place.context('w2', next), run, data, SIGNALS, true);
    expect(next.asked).toEqual(['b3.com']);
    expect(await progress()).toMatchObject({ chunks: 1, tally: { matched: 1, failed: 4, stored: 0 } });
  });

  it('that is delivered twice, one after the other, buys nothing a second time and counts once', async () => {
    const context = await place.context('w1', place.client());
    const data = chunkOf(run, brands(5));
    await resolveChunk(context, run, data, SIGNALS);
    expect(await resolveChunk(context, run, data, SIGNALS, true)).toEqual({ type: 'finished' });
    expect([...place.billed.values()]).toEqual([1, 1, 1, 1, 1]);
    expect(await progress()).toMatchObject({ chunks: 1, tally: { matched: 5, stored: 0, requests: 5 } });
  });

  it.each(['of one run, delivered to the same worker twice', 'of two runs in one worker'])(
    '%s at once, is bought once',
    async (what) => {
      const gate = createGate(5);
      const client = place.client((value) => (value === 'b5.com' ? undefined : gate.pass()));
      const context = await place.context('w1', client);
      const before = await place.context('w0', place.client());
      await resolveChunk(before, run, chunkOf(run, brands(1, 900)), SIGNALS);
      const answered = (await place.engine.runs.get(run.id)) ?? run;
      const other = what.startsWith('of two') ? await place.startRun('other run') : answered;
      const one = resolveChunk(context, answered, chunkOf(run, brands(5)), SIGNALS);
      await gate.reached;
      const late = await resolveChunk(context, other, chunkOf(other, brands(6)), SIGNALS);
      expect(late).toMatchObject({ type: 'parked', data: { identifiers: brands(5) }, waitMs: 400 });
      // The answer in flight still has its claim.
      await place.engine.outcomes.heartbeat('w2');
      expect(await claim('w2', brands(5))).toEqual(Array(5).fill('busy'));
      gate.open();
      await one;
      expect(await resolveChunk(context, other, dataOf(late), SIGNALS)).toEqual({ type: 'finished' });
      expect([...place.billed.values()]).toEqual([1, 1, 1, 1, 1, 1, 1]);
    },
  );

  it('that fails halfway first waits for its requests, so that no other worker repeats them', async () => {
    const gate = createGate();
    const context = await place.context('w1', place.client(gate.pass));
    const stopOf = (text: string) => {
      if (text === brands(2)[1]) throw new Error('a bug');
      return undefined;
    };
    const resolving = resolveChunk(context, run, chunkOf(run, brands(2)), { ...SIGNALS, stopOf });
    const over = vi.fn();
    resolving.catch(over);
    await gate.reached;
    expect([over.mock.calls.length, context.underWay.size]).toEqual([0, 2]);
    gate.open();
    await expect(resolving).rejects.toThrow('a bug');
    expect(context.underWay.size).toBe(0);
    expect(await place.statuses(run, brands(2))).toEqual(['matched', null]);
  });

  it('asks for permits by the exchange that keeps answers, and first waits for the answers', async () => {
    const gate = createGate();
    const { ledger } = place.engine;
    const { exchange } = ledger;
    const keeping: { answers: number; take: number }[] = [];
    const slowly: typeof exchange = async (request, outcomes = []) => {
      if (outcomes.length > 0) keeping.push({ answers: outcomes.length, take: request.take.length });
      if (keeping.length > 5) await gate.pass();
      return exchange(request, outcomes);
    };
    const client = scriptedClient(() => MATCHED);
    const spied = vi.spyOn(ledger, 'exchange').mockImplementation(slowly);
    const context = await place.context('w1', client, { limit: pLimit(2) });
    const resolving = resolveChunk(context, run, chunkOf(run, brands(20)), SIGNALS);
    await vi.waitUntil(() => keeping.length > 5 && context.gauge.inFlight === 0, { interval: 1 });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const kept = keeping.slice(0, 5).reduce((sum, { answers }) => sum + answers, 0);
    // No more is ever at stake than may be in flight.
    expect(client.asked.length - kept).toBeLessThanOrEqual(2);
    expect(keeping[5]?.take).toBeGreaterThan(0);
    gate.open();
    expect(await resolving).toEqual({ type: 'finished' });
    expect(client.asked.length).toBe(20);
    spied.mockRestore();
  });

  it('waits for an earlier chunk whose claim takes longer', async () => {
    const client = scriptedClient(() => MATCHED);
    const context = await place.context('w1', client, { limit: pLimit(1) });
    const gate = createGate();
    let claimed = 0;
    const slow = claimingBy(context, async (worker, keys, freshness) => {
      const claims = await place.engine.outcomes.claim(worker, keys, freshness);
      claimed += 1;
      if (keys.length === 3) await gate.pass();
      return claims;
    });
    const [first, second] = [brands(5).slice(0, 3), brands(5).slice(3)];
    const both = [first, second].map((texts) => resolveChunk(slow, run, chunkOf(run, texts), SIGNALS));
    await vi.waitUntil(() => claimed === 2);
    await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await Promise.all(both);
    expect(client.asked).toEqual([...first, ...second].map((text) => text.slice('domain:'.length)));
  });

  it('with fresh answers only ends at once, whatever other chunks wait for', async () => {
    const [stored, other] = [brands(3).slice(0, 1), brands(3).slice(1)];
    const quick = scriptedClient(() => MATCHED);
    await resolveChunk(await place.context('w1', quick), run, chunkOf(run, stored), SIGNALS);
    const gate = createGate();
    const context = await place.context('w1', place.client(gate.pass), { limit: pLimit(1) });
    const waiting = resolveChunk(context, run, chunkOf(run, other), SIGNALS);
    await gate.reached;
    expect(await resolveChunk(context, run, chunkOf(run, stored), SIGNALS)).toEqual({ type: 'finished' });
    gate.open();
    expect(await waiting).toEqual({ type: 'finished' });
  });

  it('whose claim fails does not overtake earlier chunks', async () => {
    const client = scriptedClient(() => MATCHED);
    const context = await place.context('w1', client, { limit: pLimit(1) });
    const [first, second, third] = [brands(5).slice(0, 2), brands(5).slice(2, 3), brands(5).slice(3)];
    const failing = claimingBy(context, async (worker, keys, freshness) => {
      if (keys.length === 1) throw new Error('no answer');
      return place.engine.outcomes.claim(worker, keys, freshness);
    });
    const all = [first, second, third].map((texts) =>
      resolveChunk(failing, run, chunkOf(run, texts), SIGNALS),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(client.asked).toEqual([...first, ...third].map((text) => text.slice('domain:'.length)));
  });

  it('whose credentials are refused halts its run, sends nothing else and releases its claims', async () => {
    const what = { reason: 'the token is unknown', status: 401 } as const;
    const client = scriptedClient(() => answerOf({ type: 'credentials', ...what }));
    const context = await place.context('w1', client);
    const result = await resolveChunk(context, run, chunkOf(run, brands(20)), SIGNALS);
    expect(result).toEqual({ type: 'finished' });
    expect(client.asked).toHaveLength(1);
    const halt = { why: 'credentials', ...what };
    expect(await progress()).toMatchObject({ chunks: 1, halt, tally: { ...NO_TALLY, requests: 1 } });
    await place.engine.outcomes.heartbeat('other');
    expect(new Set(await claim('other', brands(20)))).toEqual(new Set(['ours']));
  });

  it('is parked with an attempt if the service could not answer, longer each time', async () => {
    const client = scriptedClient((value) => (value === 'b1.com' ? DOWN : MATCHED));
    const context = await place.context('w1', client);
    const first = await resolveChunk(context, run, chunkOf(run, brands(3)), SIGNALS);
    const times = { due: { 'domain:b1.com': expect.any(Number) }, parkedAt: expect.any(Number) };
    const data = chunkOf(run, ['domain:b1.com'], { attempts: { 'domain:b1.com': 1 }, ...times });
    expect(first).toEqual({ type: 'parked', data, waitMs: 2_000 });
    const second = await resolveChunk(context, run, dataOf(first), SIGNALS);
    expect(second).toMatchObject({ data: { attempts: { 'domain:b1.com': 2 } }, waitMs: 5_000 });
    const tally = { matched: 2, failed: 0, requests: 8, billed: 2 };
    expect(await progress()).toMatchObject({ chunks: 0, tally });
  });

  it('asks for no identifier early because another one of the chunk is due', async () => {
    const client = scriptedClient(() => MATCHED);
    const context = await place.context('w1', client);
    const due = { 'domain:b0.com': context.clock.now() + 60_000 };
    const attempts = { 'domain:b0.com': 2 };
    const result = await resolveChunk(context, run, chunkOf(run, brands(2), { attempts, due }), SIGNALS);
    expect(client.asked).toEqual(['b1.com']);
    expect(result).toMatchObject({ type: 'parked', data: { identifiers: ['domain:b0.com'], attempts } });
  });

  it('without a match halts nothing once another worker has one, and records its answers', async () => {
    const gate = createGate();
    const first = async (value: string) => {
      if (value !== 'b0.com') await gate.pass();
      return MATCHED;
    };
    const unknown = brands(8, 20);
    const second = async (value: string) => {
      const isFifth = value === 'b24.com';
      if (isFifth) await vi.waitUntil(async () => (await progress()).tally.matched === 1, { timeout: 5_000 });
      return answerOf({ type: 'not_found', status: 404, retryLater: false, evidence: 'object' });
    };
    const matching = await place.context('w1', scriptedClient(first));
    const one = resolveChunk(matching, run, chunkOf(run, brands(2)), SIGNALS);
    await gate.reached;
    const other = await place.context('w2', scriptedClient(second), { limit: pLimit(1) });
    await resolveChunk(other, run, chunkOf(run, unknown, { chunk: 1 }), SIGNALS).finally(gate.open);
    await one;
    expect(await place.statuses(run, unknown)).toEqual(unknown.map(() => 'not_found'));
    expect((await progress()).halt).toBeNull();
  });

  it('that is stopped parks the rest at once, and releases its claims', async () => {
    const stop = new AbortController();
    const client = scriptedClient(() => {
      stop.abort(new Error('stop'));
      return MATCHED;
    });
    const context = await place.context('w1', client);
    const signals = { ...SIGNALS, stop: stop.signal };
    const result = await resolveChunk(context, run, chunkOf(run, brands(4)), signals);
    // The first request of an account goes alone, so there can be only one answer.
    expect(result).toEqual({ type: 'parked', data: chunkOf(run, brands(3, 1)), waitMs: 0 });
    expect(await place.statuses(run, brands(4))).toEqual(['matched', null, null, null]);
    await place.engine.outcomes.heartbeat('other');
    expect(await claim('other', brands(3, 1))).toEqual(['ours', 'ours', 'ours']);
  });
});

/** A worker whose identifiers are claimed by this. */
function claimingBy(context: ChunkContext, claim: OutcomeStore['claim']): ChunkContext {
  const outcomes = { ...context.engine.outcomes, claim };
  return { ...context, engine: { ...context.engine, outcomes } };
}

/** The parked chunk, as if its time had come. */
function dataOf(result: Awaited<ReturnType<typeof resolveChunk>>): ChunkData {
  if (result.type !== 'parked') throw new Error('nothing is left');
  return { ...result.data, due: {} };
}

/** Holds all callers until it is opened; `reached` when this many wait. */
function createGate(count = 1) {
  const [reached, opened] = [deferred(), deferred()];
  let standing = 0;
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: () => {
      standing += 1;
      if (standing === count) reached.resolve();
      return opened.promise;
    },
  };
}

/** Workers on a real queue: BullMQ on Redis, with the local service in this process. */
import { readdir } from 'node:fs/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../../src/brand-api/client.js';
import { CHUNK_SIZE } from '../../src/engine/chunk-queue.js';
import type { ChunkJob, ChunkProcessor, Engine } from '../../src/engine/engine.js';
import { NO_TALLY, type RunRecord } from '../../src/engine/stores/run-store.js';
import { spoolAnswers, spoolFolderOf } from '../../src/worker/answer-spool.js';
import type { FetchedAnswer } from '../../src/worker/asked.js';
import { HALTS } from '../support/halts.js';
import { hasRedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { answerOf, UNUSABLE, untilAborted } from './asking.js';
import { brands, keyOf, scriptedClient, usePlaces, type Workplace } from './workplace.js';

const SOON = { timeout: 20_000, interval: 20 };

describe.skipIf(!hasRedisServer())('a worker (needs redis-server)', () => {
  const openPlace = usePlaces('worker');
  let place: Workplace;
  let run: RunRecord;
  let spoolFolder: string;
  beforeEach(async () => {
    place = await openPlace();
    run = await place.startRun('run');
    spoolFolder = await temporaryFolder();
  });

  async function addAll(identifiers: readonly string[], size = CHUNK_SIZE): Promise<number> {
    let chunk = 0;
    for (let from = 0; from < identifiers.length; from += size) {
      await place.addChunk(run.id, chunk, identifiers.slice(from, from + size));
      chunk += 1;
    }
    return chunk;
  }
  const ownSpool = () => spoolFolderOf(spoolFolder, place.engine.id);
  const finished = (chunks: number) =>
    vi.waitUntil(async () => (await place.engine.runs.heartbeat(run.id)).chunks >= chunks, SOON);
  const answersOf = async (texts: readonly string[]) =>
    (await place.statuses(run, texts)).filter((status) => status !== null).length;

  it('ends the chunks of a paused run that was halted, and asks nothing', async () => {
    const chunks = await addAll(brands(60));
    await place.engine.runs.pause(run.id, 'ada');
    await place.engine.runs.halt(run.id, HALTS.credentials);
    const worker = place.openWorker({ client: place.client(), spoolFolder });
    await worker.start();
    await finished(chunks);
    await worker.stop(5_000);
    expect(place.billed.size).toBe(0);
  });

  it('answers every identifier of its chunks once, and leaves nothing in the queue', async () => {
    const texts = [...brands(120), 'domain:nobody.com'];
    const chunks = await addAll(texts);
    const worker = place.openWorker({ client: place.client(), spoolFolder });
    await worker.start();
    await finished(chunks);
    await worker.stop(5_000);
    expect(await answersOf(texts)).toBe(121);
    expect(place.billed.size).toBe(121);
    expect(new Set(place.billed.values())).toEqual(new Set([1]));
    const { tally } = await place.engine.runs.heartbeat(run.id);
    expect(tally).toEqual({ ...NO_TALLY, matched: 120, notFound: 1, requests: 121, billed: 121 });
    const jobs = await place.queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'completed');
    expect(Object.values(jobs)).toEqual([0, 0, 0, 0, 0]);
    expect(await place.engine.ledger.show('account')).toMatchObject({ sent: 121, held: 0 });
  });

  it('never exceeds its number of requests in flight', async () => {
    let now = 0;
    let most = 0;
    const client = place.client(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    });
    const chunks = await addAll(brands(100), 10);
    await place.openWorker({ client, spoolFolder, concurrency: 4 }).start();
    await finished(chunks);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });

  it.each([{ service: 'https://other.example' }, { account: 'other' }])(
    'leaves chunks alone if its own settings say %o',
    async (own) => {
      const chunks = await addAll(brands(3));
      const stranger = place.openWorker({ client: place.client(), spoolFolder, ...own });
      await stranger.start();
      await vi.waitUntil(async () => (await place.queue.getDelayedCount()) === 1, SOON);
      await stranger.stop(2_000);
      expect(place.billed.size).toBe(0);
      const [job] = await place.queue.getDelayed();
      await job?.promote();
      await place.openWorker({ client: place.client(), spoolFolder }).start();
      await finished(chunks);
      expect(place.billed.size).toBe(3);
    },
  );

  it('ignores jobs that are no chunks, and takes the next ones', async () => {
    const empty = { run: run.id, chunk: 0, identifiers: [], attempts: {} };
    const planted: unknown[] = [
      ...[null, 7, 'x', [], {}, { run: run.id }, { ...empty, run: {} }],
      { ...empty, chunk: 1e99, attempts: { __proto__: null, a: -1 } },
    ];
    for (const [chunk, text] of ['domain:..', 'nothing', '\ud800:x', 'id:\ud800'].entries())
      planted.push({ ...empty, chunk, identifiers: [text] });
    planted.push({ ...empty, chunk: 4, identifiers: 'x' });
    for (const data of planted) await place.queue.add('chunk', data as never);
    await place.openWorker({ client: place.client(), spoolFolder }).start();
    await addAll(brands(3));
    await finished(1);
    await vi.waitUntil(async () => (await place.queue.getDelayedCount()) === planted.length, SOON);
    expect(place.billed.size).toBe(3);
    expect(await place.engine.runs.get(run.id)).toMatchObject({ status: 'running', tally: { failed: 0 } });
  });

  it.each(['completed', 'stopped', 'unknown'])('sends nothing for a run that is %s', async (status) => {
    if (status !== 'unknown')
      await place.engine.runs.end(run.id, status === 'completed' ? null : { type: 'stopped' });
    await place.addChunk(status === 'unknown' ? 'unknown' : run.id, 0, brands(3));
    await place.openWorker({ client: place.client(), spoolFolder }).start();
    await vi.waitUntil(async () => (await place.queue.getJobCountByTypes('waiting', 'active')) === 0, SOON);
    expect(place.billed.size).toBe(0);
  });

  it('reports each finished chunk to its process', async () => {
    const chunks = await addAll(brands(30), 10);
    const onChunk = vi.fn();
    const listener = { onChunk, onAnswer: () => undefined };
    await place.openWorker({ client: place.client(), spoolFolder, listener }).start();
    await finished(chunks);
    await vi.waitUntil(() => onChunk.mock.calls.length === chunks, SOON);
  });

  it('settles its requests before the account is shown', async () => {
    const answered: string[] = [];
    const listener = { onChunk: () => undefined, onAnswer: ({ key }: FetchedAnswer) => answered.push(key) };
    await addAll(brands(3));
    const worker = place.openWorker({ client: place.client(), spoolFolder, listener });
    await worker.start();
    await vi.waitUntil(() => answered.length === 3, { ...SOON, interval: 1 });
    await worker.settled();
    expect((await place.engine.ledger.show(run.settings.account)).held).toBe(0);
  });

  it('records spooled answers before it asks for anything', async () => {
    const notFound = { status: 'not_found', packed: null, billed: true, freshMs: null } as const;
    await spoolAnswers(ownSpool(), [{ key: keyOf('domain:b7.com'), ...notFound }]);
    const chunks = await addAll(brands(10));
    await place.openWorker({ client: place.client(), spoolFolder }).start();
    await finished(chunks);
    expect(place.billed.has('domain:b7.com')).toBe(false);
    expect(place.billed.size).toBe(9);
    expect(await readdir(ownSpool()).catch(() => [])).toEqual([]);
  });

  it('reads usage by the own domain: counted as one request until it is proven free', async () => {
    const worker = place.openWorker({ client: place.client(), spoolFolder });
    await worker.start();
    const look = await worker.readUsage('own.example', run);
    expect(look).toEqual({ quota: 100_000, halt: null });
    await vi.waitUntil(async () => (await place.engine.ledger.show('account')).quota === 100_000, SOON);
    expect(place.billed.size).toBe(0);
    expect(await place.engine.ledger.show('account')).toMatchObject({
      ...{ sent: 1, held: 0, free: 0 },
      own: { isProven: false, booked: 1 },
    });
    // So soon after it another one would show nothing.
    expect(await worker.readUsage('own.example', run)).toBeNull();
  });

  it.each([
    ['is stored where its run had answers', 1, 'not_found'],
    ['is not trusted where it had none', 0, null],
  ])('checks one identifier by order: "not found" %s', async (_, matched, status) => {
    const told = answerOf({ type: 'not_found', status: 404, retryLater: false, evidence: 'object' });
    const worker = place.openWorker({ client: scriptedClient(() => told), spoolFolder });
    await worker.start();
    const nobody = { kind: 'domain', value: 'nobody.com' } as const;
    const end = await worker.check(nobody, { settings: run.settings, tally: { ...NO_TALLY, matched } });
    expect(end.type).toBe('asked');
    expect(await place.statuses(run, ['domain:nobody.com'])).toEqual([status]);
  });

  it('that is stopped while the engine answers nothing has every paid answer on disk when the stop is over', async () => {
    const texts = brands(20);
    await addAll(texts);
    const never = () => new Promise<never>(() => undefined);
    const sick = withAnswers(place.engine, never);
    const worker = place.openWorker({ client: place.client(), spoolFolder, engine: sick });
    await worker.start();
    await vi.waitUntil(() => place.billed.size > 0, SOON);
    await worker.stop(500);
    const bought = place.billed.size;
    expect(worker.leftOnDisk).toBe(bought);
    expect(await answersOf(texts)).toBe(0);

    await place.openWorker({ client: place.client(), spoolFolder }).start();
    await vi.waitUntil(async () => (await answersOf(texts)) >= bought, SOON);
    expect(new Set(place.billed.values())).toEqual(new Set([1]));
  });

  it('that lost the lock of a chunk starts nothing more for it, keeps its answers and does not park it', async () => {
    const texts = brands(20);
    const lock = new AbortController();
    let processor: ChunkProcessor | null = null;
    const engine: Engine = {
      ...place.engine,
      openWorker(name, given, concurrency) {
        processor = given;
        return place.engine.openWorker(name, given, concurrency);
      },
    };
    const losing = place.client(() => lock.abort('the lock on this chunk was lost'));
    place.openWorker({ client: losing, spoolFolder, engine });
    const parked: string[] = [];
    const job = {
      data: { run: run.id, chunk: 0, identifiers: texts, attempts: {} },
      updateData: async () => parked.push('data'),
      moveToDelayed: async () => parked.push('delayed'),
    } as unknown as ChunkJob;
    const work = processor as ChunkProcessor | null;
    await expect(work?.(job, 'token', lock.signal)).rejects.toThrow('the lock of this chunk was lost');
    expect(parked).toEqual([]);
    expect(place.billed.size).toBe(1);
    expect(await answersOf(texts)).toBe(1);
    expect((await place.engine.runs.heartbeat(run.id)).chunks).toBe(0);
  });

  it('stops within its deadline though a request never ends', async () => {
    await addAll(brands(2));
    let asked = 0;
    const client: Client = {
      lookup(_identifier, { signal }) {
        asked += 1;
        return untilAborted(signal).catch(() => UNUSABLE);
      },
    };
    const worker = place.openWorker({ client, spoolFolder });
    await worker.start();
    await vi.waitUntil(() => asked > 0, SOON);
    await worker.stop(300);
    // Unknown is spent: the permit is not returned.
    expect(asked).toBe(1);
    expect(await place.engine.ledger.show('account')).toMatchObject({ sent: 1, held: 0 });
  });
});

/** The engine, with `answer` for what would record answers. */
function withAnswers(engine: Engine, answer: () => Promise<never>): Engine {
  const ledger: Engine['ledger'] = {
    ...engine.ledger,
    exchange: (request, outcomes = []) => (outcomes.length > 0 ? answer() : engine.ledger.exchange(request)),
  };
  const outcomes = new Proxy(engine.outcomes, {
    get(target, name) {
      if (name === 'record') return answer;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...engine, ledger, outcomes, openWorker: engine.openWorker.bind(engine) };
}

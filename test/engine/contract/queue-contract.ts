/** Contract of the queue of chunks, run against each engine. */
import { once } from 'node:events';
import { DelayedError } from 'bullmq';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { promoteParked } from '../../../src/engine/chunk-queue.js';
import type { BullChunkQueue, ChunkData, ChunkProcessor, ChunkWorker } from '../../../src/engine/engine.js';
import { removeDeadChunks } from '../../../src/run/lookups/dispatch-chunks.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';
import { runSettings } from './run-settings.js';

/** Shortens the lock of 15 s and the check every 5 s. */
const SHORT_LOCK_MS = 300;
const SHORT_CHECK_MS = 200;

function chunkData(chunk: number): ChunkData {
  return {
    run: 'run',
    chunk,
    identifiers: ['domain:a.example', 'ticker:BRK.B'],
    attempts: { 'ticker:BRK.B': 1 },
  };
}

export function describeQueue(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: queue`, () => {
    const subject = engineOfSuite(open);
    let counted = 0;
    function openQueue(): BullChunkQueue {
      counted += 1;
      const queue = subject.engine.openQueue(`chunks-${counted}`);
      onTestFinished(() => queue.close());
      return queue;
    }
    function openWorker(queue: BullChunkQueue, processor: ChunkProcessor, concurrency = 1): ChunkWorker {
      const worker = subject.engine.openWorker(queue.name, processor, concurrency);
      onTestFinished(() => worker.close());
      return worker;
    }
    const openIdleWorker = (queue: BullChunkQueue) =>
      openWorker(queue, async (_job, _token, _signal) => undefined);
    const start = (worker: ChunkWorker) => void worker.run().catch(() => undefined);
    const add = (queue: BullChunkQueue, chunk: number) =>
      queue.add('chunk', chunkData(chunk), { jobId: `run-${chunk}` });

    test('a chunk reaches a worker as it was added, and leaves nothing behind', async () => {
      const queue = openQueue();
      const taken: ChunkData[] = [];
      const worker = openWorker(queue, async (job, _token, _signal) => {
        taken.push(job.data);
      });
      const completed = once(worker, 'completed');
      await add(queue, 7);
      start(worker);
      await completed;
      expect(taken).toEqual([chunkData(7)]);
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, completed: 0, failed: 0 });
      expect(await queue.getJob('run-7')).toBeUndefined();
    });

    test('a worker takes nothing before it is started', async () => {
      const queue = openQueue();
      const worker = openIdleWorker(queue);
      await worker.waitUntilReady();
      await add(queue, 1);
      expect(worker.isRunning()).toBe(false);
      expect(await queue.getWaitingCount()).toBe(1);
    });

    test('chunks of ended and missing runs are removed, and an ended run waits for no chunk', async () => {
      counted += 1;
      const { engine } = subject;
      const queue = engine.openChunkQueue(`chunks-${counted}`);
      onTestFinished(() => queue.close());
      const [id, key] = [`ended-${counted}`, `key-${counted}`];
      const label = { host: 'etl-1', name: 'a.csv' };
      const { asOf } = await engine.runs.start({ id, key, label, settings: runSettings() });
      const ofEnded = { ...chunkData(0), run: id };
      await queue.add([ofEnded, { ...chunkData(1), run: 'gone' }], 0);
      await engine.runs.end(id, { type: 'stopped' });
      expect(await removeDeadChunks(engine, queue, asOf)).toBe(2);
      expect((await engine.runs.heartbeat(id)).chunks).toBe(1);
      expect(await engine.runs.get('gone')).toBeNull();
    });

    test('a parked chunk returns with its updated data, and costs no attempt', async () => {
      const queue = openQueue();
      const seen: [number, number][] = [];
      const worker = openWorker(queue, async (job, token, _signal) => {
        seen.push([job.data.identifiers.length, job.attemptsMade]);
        if (seen.length > 1) return;
        await job.updateData({ ...job.data, identifiers: job.data.identifiers.slice(1) });
        await job.moveToDelayed(Date.now() + 50, token);
        throw new DelayedError();
      });
      const completed = once(worker, 'completed');
      await add(queue, 1);
      start(worker);
      await completed;
      expect(seen).toEqual([
        [2, 0],
        [1, 0],
      ]);
    });

    test.each([3_600_000, 3 * 86_400_000])(
      'a chunk parked %i ms before the clock was set back is taken',
      async (aheadMs) => {
        const queue = openQueue();
        let taken = 0;
        const worker = openWorker(queue, async (job, token, _signal) => {
          taken += 1;
          if (taken > 1) return;
          await job.moveToDelayed(Date.now() + 60_000, token);
          throw new DelayedError();
        });
        const completed = once(worker, 'completed');
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
        try {
          await add(queue, 1);
          start(worker);
          await expect.poll(() => queue.getDelayedCount()).toBe(1);
        } finally {
          vi.useRealTimers();
        }
        expect(await promoteParked(queue, Date.now() + aheadMs)).toBe(0);
        expect(await promoteParked(queue, Date.now())).toBe(1);
        await completed;
        expect(taken).toBe(2);
      },
    );

    test('a failing chunk is tried as often as configured, then removed', async () => {
      const queue = openQueue();
      let tries = 0;
      const worker = openWorker(queue, async (_job, _token, _signal) => {
        tries += 1;
        throw new Error('the service is away');
      });
      const backoff = { type: 'fixed', delay: 1 };
      await queue.add('chunk', chunkData(1), { jobId: 'run-1', attempts: 3, backoff });
      start(worker);
      await expect.poll(() => queue.getJob('run-1')).toBeUndefined();
      expect(tries).toBe(3);
    });

    test('the chunk of a killed worker is taken by another, even after several kills', async () => {
      const queue = openQueue();
      await add(queue, 1);
      const checker = openIdleWorker(queue);
      checker.opts.stalledInterval = SHORT_CHECK_MS;
      for (let kill = 0; kill < 2; kill += 1) {
        // A killed worker took the chunk, and its lock is never renewed.
        const killed = openIdleWorker(queue);
        killed.opts.lockDuration = SHORT_LOCK_MS;
        const job = await killed.getNextJob(`token-${kill}`, { block: false });
        expect(job?.id).toBe('run-1');
        const back = once(checker, 'stalled');
        await checker.startStalledCheckTimer();
        await back;
      }
      const survivor = openIdleWorker(queue);
      const completed = once(survivor, 'completed');
      start(survivor);
      const [job] = await completed;
      expect(job.id).toBe('run-1');
    });

    test('a worker that lost its lock is notified by the signal', async () => {
      const queue = openQueue();
      await add(queue, 1);
      let reason: unknown = null;
      const worker = openWorker(queue, async (job, _token, signal) => {
        const aborted = signal && once(signal, 'abort');
        worker.emit('lockRenewalFailed', [job.id ?? '']);
        await aborted;
        reason = signal?.reason;
      });
      start(worker);
      await expect.poll(() => String(reason)).toContain('lock');
    });

    test('a worker processes as many chunks at once as configured', async () => {
      const queue = openQueue();
      for (let chunk = 0; chunk < 6; chunk += 1) await add(queue, chunk);
      let running = 0;
      let most = 0;
      const process: ChunkProcessor = async (_job, _token, _signal) => {
        running += 1;
        most = Math.max(most, running);
        await vi.waitUntil(() => most >= 3);
        running -= 1;
      };
      const worker = openWorker(queue, process, 3);
      const drained = once(worker, 'drained');
      start(worker);
      await drained;
      expect(most).toBe(3);
    });
  });
}

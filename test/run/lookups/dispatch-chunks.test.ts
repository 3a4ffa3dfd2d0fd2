/** Chunks on their way into the queue: how far ahead, and how many at a time. */
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.js';
import { silentLog } from '../../../src/core/log.js';
import type { ChunkQueue, Engine } from '../../../src/engine/engine.js';
import { ChunkDispatcher } from '../../../src/run/lookups/dispatch-chunks.js';
import type { RunProgress } from '../../../src/stores/run-store.js';

const TALLY = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

it('are added twenty at a time and two hundred ahead, however few are finished between two checks', async () => {
  const added: number[] = [];
  let queued = 0;
  let done = 0;
  let mostAhead = 0;
  const sendHeartbeat = async (): Promise<RunProgress> => {
    done = Math.min(queued, done + 7);
    dispatcher.wake();
    return {
      chunks: done,
      tally: TALLY,
      halt: null,
      isCancelled: false,
      isPaused: false,
      isPausedAlone: false,
    };
  };
  const add = async (chunks: readonly unknown[]) => {
    added.push(chunks.length);
    queued += chunks.length;
    mostAhead = Math.max(mostAhead, queued - done);
  };
  const dispatcher = new ChunkDispatcher({
    engine: { runs: { heartbeat: sendHeartbeat } } as unknown as Engine,
    queue: { add } as unknown as ChunkQueue,
    runId: 'run',
    stop: new AbortController().signal,
    maxFailures: null,
    clock: systemClock,
    log: silentLog(),
    onProgress: () => undefined,
    onSilence: () => undefined,
  });
  const chunks = Array.from({ length: 301 }, (_, chunk) => [`domain:b${chunk}.com`]);
  expect(await dispatcher.dispatch(chunks, null)).toEqual({ type: 'finished' });
  expect(queued).toBe(301);
  // The first goes alone, at once.
  expect(added).toEqual([1, ...Array(15).fill(20)]);
  expect(mostAhead).toBeGreaterThan(180);
  expect(mostAhead).toBeLessThanOrEqual(200);
});

import { expect, it } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import type { ChunkQueue, Engine } from '../../../src/engine/engine.js';
import { NO_TALLY, type RunProgress } from '../../../src/engine/stores/run-store.js';
import { ChunkDispatcher } from '../../../src/run/lookups/dispatch-chunks.js';
import { NO_PROGRESS } from '../../engine/contract/run-settings.js';
import { createHandClock } from '../../model/hand-clock.js';

/** Dispatches chunks to workers that finish seven between two looks and have `active`. */
async function dispatch(count: number, active: (unfinished: number) => number, perSecond = 0) {
  const added: number[] = [];
  const clock = createHandClock();
  let queued = 0;
  let done = 0;
  let mostAhead = 0;
  const startedAt = clock.monotonic();
  const heartbeat = async (): Promise<RunProgress> => {
    done = Math.min(queued, done + 7);
    const matched = (perSecond * (clock.monotonic() - startedAt)) / 1_000;
    return { ...NO_PROGRESS, chunks: done, tally: { ...NO_TALLY, matched } };
  };
  const add = async (chunks: readonly unknown[]) => {
    added.push(chunks.length);
    queued += chunks.length;
    mostAhead = Math.max(mostAhead, queued - done);
  };
  const counts = async () => ({ waiting: 0, active: active(queued - done), delayed: 0 });
  const dispatcher = new ChunkDispatcher({
    engine: { runs: { heartbeat } } as unknown as Engine,
    queue: { add, counts } as unknown as ChunkQueue,
    runId: 'run',
    stop: new AbortController().signal,
    maxFailures: null,
    endsWhenPaused: false,
    clock,
    log: silentLog(),
    onProgress: () => undefined,
    onSilence: () => undefined,
  });
  const sizes: number[] = [];
  function* chunksOf(): Generator<string[]> {
    for (let chunk = 0; chunk < count; chunk += 1) {
      sizes.push(dispatcher.chunkSize);
      yield [`domain:b${chunk}.com`];
    }
  }
  const chunks = chunksOf();
  const ended = dispatcher.dispatch(chunks, null);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(400);
  expect(await ended).toEqual({ type: 'finished' });
  expect(queued).toBe(count);
  return { added, mostAhead, sizes };
}

it('chunks are added twenty at a time and two hundred ahead, however few are finished between two looks', async () => {
  const { added, mostAhead } = await dispatch(301, () => 40);
  // The first goes alone, at once.
  expect(added).toEqual([1, ...Array(15).fill(20)]);
  expect(mostAhead).toBeGreaterThan(180);
  expect(mostAhead).toBeLessThanOrEqual(200);
});

it('chunks are two ahead for each active one: workers that take all get more', async () => {
  const { mostAhead } = await dispatch(1_501, (unfinished) => Math.min(unfinished, 500));
  expect(mostAhead).toBeGreaterThan(980);
  expect(mostAhead).toBeLessThanOrEqual(1_000);
});

it('chunks have fifty identifiers for a second, and then those of a second', async () => {
  const { mostAhead, sizes } = await dispatch(301, () => 5, 640);
  expect(sizes.slice(0, 60)).toEqual(Array(60).fill(50));
  expect(sizes.at(-1)).toBe(128);
  // Ten thousand identifiers, not two hundred chunks.
  expect(mostAhead).toBeLessThanOrEqual(Math.ceil(10_000 / 128));
});

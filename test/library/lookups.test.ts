/** Callers, chunks and signals, with a worker that answers when the test says so. */
import { describe, expect, it } from 'vitest';
import type { Identifier } from '../../src/core/identifier.js';
import { silentLog } from '../../src/core/log.js';
import type { ChunkData } from '../../src/engine/engine.js';
import { createLookups, type LookupsOptions } from '../../src/library/lookups.js';
import { createWaiters } from '../../src/library/waiters.js';
import { createHandClock } from '../model/hand-clock.js';
import { deferred } from '../support/deferred.js';

const domain = (at: number): Identifier => ({ kind: 'domain', value: `brand-${at}.com` });

/** Lookups over chunks that a worker has taken; each is answered, but for what nobody wants. */
function open() {
  const closing = new AbortController();
  const waiters = createWaiters();
  const chunks: string[][] = [];
  const sent: string[] = [];
  const { promise: whenAnswered, resolve: answer } = deferred();
  const fakes = {
    engine: {
      outcomes: { read: async (keys: string[]) => keys.map(() => null) },
      runs: { failures: async () => [] },
    },
    worker: {
      async resolve(
        { identifiers }: ChunkData,
        stop: AbortSignal,
        _: boolean,
        stopOf: (text: string) => AbortSignal,
      ) {
        chunks.push([...identifiers]);
        await whenAnswered;
        for (const text of identifiers) {
          if (stop.aborted || stopOf(text).aborted) continue;
          sent.push(text);
          const key = `b:${text}`;
          waiters.listener.onBilled?.(key);
          waiters.listener.onAnswer({
            key,
            status: 'not_found',
            retryLater: false,
            profile: null,
            fetchedAt: 1,
          });
        }
        return { type: 'finished' };
      },
    },
    runs: {
      freshness: () => ({}),
      rest: () => null,
      enter: async () => ({
        record: { id: 'r', asOf: 0, keyStartedAt: 0, settings: {} },
        paidFailures: new Map(),
        nextChunk: 0,
      }),
      leave: () => undefined,
      isStopped: async () => false,
    },
  };
  const lookups = createLookups({
    ...(fakes as unknown as Pick<LookupsOptions, 'engine' | 'worker' | 'runs'>),
    waiters,
    keyOf: (text) => `b:${text}`,
    waitsAtLimit: false,
    clock: createHandClock(),
    log: silentLog(),
    closing: closing.signal,
  });
  return { lookups, chunks, sent, answer, closing };
}

describe('lookups of one moment', () => {
  it('share chunks though each has a signal of its own', async () => {
    const { lookups, chunks, answer } = open();
    answer();
    const found = await Promise.all(
      Array.from({ length: 60 }, (_, at) => lookups.open(new AbortController().signal)(domain(at))),
    );
    expect(found).toHaveLength(60);
    expect(chunks.map(({ length }) => length)).toEqual([50, 10]);
  });

  it('are not sent for those who left, and go on for the others, also of the same identifier', async () => {
    const { lookups, chunks, sent, answer } = open();
    const [one, two, never] = [new AbortController(), new AbortController(), new AbortController()];
    const asks = [one, two, never].map(({ signal }) => lookups.open(signal));
    const first = asks[0]?.(domain(1));
    const alone = asks[1]?.(domain(2));
    const second = asks[2]?.(domain(1));
    const other = asks[2]?.(domain(3));
    await expect.poll(() => chunks).toHaveLength(1);
    one.abort(new Error('first leaves'));
    two.abort(new Error('second leaves'));
    await expect(first).rejects.toThrow('first leaves');
    await expect(alone).rejects.toThrow('second leaves');
    answer();
    expect(await Promise.all([second, other])).toMatchObject([{ billed: 1 }, { billed: 1 }]);
    expect(sent).toEqual(['domain:brand-1.com', 'domain:brand-3.com']);
  });

  it('of one identifier name its request once', async () => {
    const { lookups, answer } = open();
    answer();
    const asks = [lookups.open(new AbortController().signal), lookups.open(new AbortController().signal)];
    const found = await Promise.all(asks.map((ask) => ask(domain(1))));
    expect(found.map(({ billed }) => billed)).toEqual([1, 0]);
  });

  it('all end when the program closes, and nothing more is sent', async () => {
    const { lookups, chunks, sent, answer, closing } = open();
    const ask = lookups.open(new AbortController().signal);
    const found = ask(domain(1));
    await expect.poll(() => chunks).toHaveLength(1);
    closing.abort(new Error('closed'));
    for (const each of [found, ask(domain(2))]) await expect(each).rejects.toThrow('closed');
    answer();
    await lookups.ended();
    expect(sent).toEqual([]);
  });
});

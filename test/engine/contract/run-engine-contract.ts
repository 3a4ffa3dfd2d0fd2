/** What a run relies on, run against each engine. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChunkData } from '../../../src/engine/engine.js';
import type { RunRecord } from '../../../src/engine/stores/run-store.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';
import { runSettings } from './run-settings.js';

export function describeRunEngine(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: what a run relies on`, () => {
    const subject = engineOfSuite(open);
    let counted = 0;
    /** A queue, and one worker that takes from it when it is asked to. */
    function openChunkQueue() {
      counted += 1;
      const name = `line-${counted}`;
      const line = subject.engine.openChunkQueue(name);
      onTestFinished(() => line.close());
      const worker = subject.engine.openWorker(name, async (_job, _token, _signal) => undefined, 1);
      onTestFinished(() => worker.close(true));
      return { line, name, take: () => worker.getNextJob('token', { block: false }) };
    }
    const LABEL = { host: 'host', name: 'ü.csv' };
    function begin(some: Parameters<typeof runSettings>[0] = {}): Promise<RunRecord> {
      counted += 1;
      const [id, key] = [`run-${counted}`, `key-${counted}`];
      const settings = runSettings({ account: `account-${counted}`, ...some });
      return subject.engine.runs.start({ id, key, label: LABEL, settings });
    }
    const chunk = (run: string, number: number): ChunkData => ({
      run,
      chunk: number,
      identifiers: ['domain:a.example', 'ticker:BRK.B'],
      attempts: { 'ticker:BRK.B': 1 },
      due: { 'domain:a.example': 5 },
    });

    test('chunks are queued once, are listed, and can be withdrawn unless a worker processes them', async () => {
      const { line, take } = openChunkQueue();
      await line.add([chunk('a', 0), chunk('a', 1), chunk('b', 0)], 0);
      await line.add([chunk('a', 1), chunk('a', 2)], 1);
      const job = await take();
      expect(job?.data).toEqual(chunk('a', 0));
      expect(await line.counts()).toEqual({ waiting: 3, active: 1, delayed: 0 });
      expect((await line.chunksOf('a')).sort()).toEqual([0, 1, 2]);
      const idle = (await line.idleChunks()).map(({ run, chunk: number }) => `${run} ${number}`);
      expect(idle.sort()).toEqual(['a 1', 'a 2', 'b 0']);
      expect(await line.withdraw({ run: 'a', chunk: 0 })).toBe(false);
      expect(await line.withdraw({ run: 'a', chunk: 2 })).toBe(true);
      expect((await line.chunksOf('a')).sort()).toEqual([0, 1]);
      expect(await line.chunksOf('none')).toEqual([]);
    });

    test('a chunk that is set aside and added again is as its worker left it, and marked as a repeat', async () => {
      const { line, take } = openChunkQueue();
      const left = { ...chunk('a', 0), identifiers: ['domain:b.com'], attempts: { 'domain:b.com': 2 } };
      await line.add([left, chunk('a', 1)], 0);
      const job = await take();
      await job?.moveToFailed(new Error('the engine did not answer'), 'token', false);
      const repeat = { ...left, isRepeat: true };
      expect(await line.setAside(left)).toEqual(repeat);
      expect(await line.setAside(left)).toBeNull();
      await line.add([repeat], 0);
      expect(await line.setAside(chunk('a', 1))).toEqual(chunk('a', 1));
      expect((await take())?.data).toEqual(repeat);
      expect(await line.setAside(repeat)).toBeNull();
      expect(await line.idleChunks()).toEqual([]);
    });

    test('runs take turns, a chunk each, whichever came first', async () => {
      const { line, take } = openChunkQueue();
      const chunksOf = (run: string, from: number, to: number) =>
        Array.from({ length: to - from }, (_, index) => chunk(run, from + index));
      const taken: string[] = [];
      const takeSome = async (count: number) => {
        for (let left = count; left > 0; left -= 1) {
          const job = await take();
          taken.push(`${job?.data.run}${job?.data.chunk}`);
        }
      };
      await line.add(chunksOf('a', 0, 8), 0);
      await takeSome(2);
      await line.add(chunksOf('b', 0, 3), 0);
      await takeSome(2);
      await line.add(chunksOf('c', 0, 1), 0);
      await takeSome(8);
      expect(taken).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'a4', 'b1', 'c0', 'a5', 'b2', 'a6', 'a7']);
    });

    test('a run can lift, set or keep the pace of its account', async () => {
      const { account } = (await begin()).settings;
      const pace = async (rate: number | null | undefined, burst = 1) =>
        (await subject.engine.ledger.open(account, { rate, burst })).pace;
      expect(await pace(50, 4)).toMatchObject({ rate: 50, burst: 4 });
      expect(await pace(undefined)).toMatchObject({ rate: 50 });
      expect(await pace(null)).toMatchObject({ rate: null });
    });

    test('the server reports its version and its clients', async () => {
      const facts = await subject.engine.facts();
      expect(facts.version).toMatch(/^(PostgreSQL|Redis|Valkey) \d+\./);
      expect(facts.sessions).toBeGreaterThan(0);
      expect(facts.bytes).toBeGreaterThan(100_000);
    });
  });
}

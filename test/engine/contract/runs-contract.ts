/** Contract of the run store, run against each engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tally } from '../../../src/stores/run-store.js';
import type { EngineUnderTest, OpenEngineUnderTest } from './engine-under-test.js';
import { createTurnedClock } from './engine-under-test.js';
import { runSettings } from './run-settings.js';

const NOTHING: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

export function describeRuns(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: runs`, () => {
    const clock = createTurnedClock();
    let subject: EngineUnderTest;
    let counted = 0;
    beforeAll(async () => {
      subject = await open({ clockOffsetMs: clock.offsetMs });
    });
    afterAll(() => subject.close());

    const store = () => subject.engine.runs;
    const newRun = (key?: string) => {
      counted += 1;
      const id = `run-${counted}`;
      return { id, key: key ?? `key-${counted}`, label: `host, "${id}".csv ü`, settings: runSettings() };
    };

    test('a run is stored as it was started, dated by the store', async () => {
      const run = {
        ...newRun(),
        settings: runSettings({
          quotaCap: 5,
          refresh: true,
          period: 15,
          maxRequests: 0,
          maxOverageRequests: 3,
        }),
      };
      const record = await store().start(run);
      expect(record).toMatchObject({
        ...run,
        keyStartedAt: record.asOf,
        beatAt: record.asOf,
        status: 'running',
        reason: null,
        rows: null,
        identifiers: null,
        tally: NOTHING,
        spent: 0,
        isPaused: false,
      });
      expect(Math.abs(record.asOf - (Date.now() + clock.offsetMs()))).toBeLessThan(5_000);
      expect(await store().get(run.id)).toEqual(record);
      expect(await store().get('never-started')).toBeNull();
    });

    test('starting a run again after a lost answer starts it once', async () => {
      const run = newRun();
      const first = await store().start(run);
      clock.advance(1_000);
      expect(await store().start(run)).toEqual(first);
    });

    test('a file that is started again after it stopped is one entry of the list, with the requests billed before', async () => {
      const { key, label } = newRun();
      const begin = (more: object = {}) => store().start({ ...newRun(key), label, ...more });
      const other = await begin({ label: 'a copy under another name' });
      await store().end(other.id, 'stopped', 'quota');
      const ended: string[] = [];
      for (const billed of [20, 0, 1]) {
        const { id } = await begin();
        await store().addTally(id, 'one', { ...NOTHING, billed });
        await store().end(id, 'stopped', 'quota');
        ended.push(id);
      }
      const listed = async () => {
        const found = (await store().list(100)).filter((run) => run.key === key);
        return found.map(({ id, status, tally, earlier }) => [id, status, tally.billed, earlier]);
      };
      const copy = [other.id, 'stopped', 0, { starts: 0, billed: 0, unreported: 0, overage: 0 }];
      expect(await listed()).toEqual([
        [ended[2], 'stopped', 1, { starts: 2, billed: 20, unreported: 0, overage: 0 }],
        copy,
      ]);
      const last = await begin();
      expect(await listed()).toEqual([
        [last.id, 'running', 0, { starts: 3, billed: 21, unreported: 0, overage: 0 }],
        copy,
      ]);
      await store().end(last.id, 'completed', null);
      expect(await store().get(ended[0] ?? '')).toMatchObject({ status: 'stopped' });
      // A late report of an earlier start.
      await store().addTally(ended[1] ?? '', 'late', { ...NOTHING, billed: 4 });
      expect((await listed())[0]).toEqual([
        last.id,
        'completed',
        0,
        { starts: 3, billed: 25, unreported: 0, overage: 0 },
      ]);
      const anew = await begin();
      expect((await listed())[0]).toEqual([
        anew.id,
        'running',
        0,
        { starts: 0, billed: 0, unreported: 0, overage: 0 },
      ]);
    });

    test('its size is stored and the tallies of workers are added up', async () => {
      const { id } = await store().start(newRun());
      await store().setSize(id, { rows: 10, identifiers: 7 });
      const some = { matched: 1, notFound: 2, failed: 3, stored: 4, requests: 5, billed: 6 };
      await store().addTally(id, 'one', some);
      await store().addTally(id, 'two', { ...NOTHING, billed: 1 });
      await store().addTally(id, 'three', NOTHING);
      expect(await store().get(id)).toMatchObject({
        rows: 10,
        identifiers: 7,
        tally: { ...some, billed: 7 },
      });
      expect((await store().heartbeat(id)).tally).toEqual({ ...some, billed: 7 });
    });

    test('a worker reports its sum so far: repeated or late reports count once', async () => {
      const { id } = await store().start(newRun());
      const early = { ...NOTHING, matched: 3, requests: 4 };
      const late = { matched: 5, notFound: 1, failed: 0, stored: 2, requests: 9, billed: 8 };
      await store().addTally(id, 'one', early);
      await store().addTally(id, 'one', early);
      await store().addTally(id, 'one', late);
      await store().addTally(id, 'two', early);
      // A report repeated after a lost answer arrives behind the next one.
      await store().addTally(id, 'one', early);
      await Promise.all([late, early, late].map((sum) => store().addTally(id, 'one', sum)));
      const sum = { ...late, matched: 8, requests: 13 };
      expect((await store().heartbeat(id)).tally).toEqual(sum);
      // The end of a run does not reset the count.
      await store().end(id, 'completed', null);
      await store().addTally(id, 'one', late);
      expect((await store().get(id))?.tally).toEqual(sum);
    });

    test('a chunk is counted once, however often it is reported', async () => {
      const { id } = await store().start(newRun());
      for (const chunk of [0, 1, 0, 200_000, 1]) await store().finishChunk(id, chunk);
      expect((await store().heartbeat(id)).chunks).toBe(3);
    });

    test('a heartbeat is dated, and a run without heartbeats still has the status running', async () => {
      const { id, beatAt } = await store().start(newRun());
      clock.advance(60_000);
      expect(await store().get(id)).toMatchObject({ beatAt, status: 'running' });
      await store().heartbeat(id);
      const later = await store().get(id);
      expect((later?.beatAt ?? 0) - beatAt).toBeGreaterThanOrEqual(60_000);
    });

    test('a heartbeat returns cancel, halt and pause', async () => {
      const { id } = await store().start(newRun());
      expect(await store().heartbeat(id)).toEqual({
        chunks: 0,
        tally: NOTHING,
        halt: null,
        isCancelled: false,
        isPaused: false,
        isPausedAlone: false,
      });
      const halt = { why: 'credentials' as const, sentence: 'The service refused the token: 403.' };
      await store().halt(id, halt);
      await store().halt(id, { why: 'limit', sentence: 'later' });
      await subject.engine.ledger.setPaused(true);
      expect(await store().cancel(id)).toBe(true);
      expect(await store().heartbeat(id)).toMatchObject({ halt, isCancelled: true, isPaused: true });
      await subject.engine.ledger.setPaused(false);
      await store().clearHalt(id);
      expect(await store().heartbeat(id)).toMatchObject({ halt: null, isCancelled: true, isPaused: false });
      await store().halt(id, { why: 'limit', sentence: 'later' });
      expect((await store().heartbeat(id)).halt?.why).toBe('limit');
    });

    test('a run is paused and resumed alone, and its next start is not paused', async () => {
      const paused = await store().start(newRun('paused'));
      const other = await store().start(newRun());
      const standing = async ({ id }: { id: string }) => {
        const { isPaused, isPausedAlone } = await store().heartbeat(id);
        return [(await store().get(id))?.isPaused, isPaused, isPausedAlone];
      };
      expect(await store().setPaused(paused.id, true)).toBe(true);
      expect(await store().setPaused(paused.id, true)).toBe(true);
      expect(await standing(paused)).toEqual([true, true, true]);
      expect(await standing(other)).toEqual([false, false, false]);
      expect((await store().list(2)).map(({ isPaused }) => isPaused)).toEqual([false, true]);
      await subject.engine.ledger.setPaused(true);
      expect(await standing(other)).toEqual([false, true, false]);
      expect(await store().setPaused(paused.id, false)).toBe(true);
      expect(await standing(paused)).toEqual([false, true, false]);
      await subject.engine.ledger.setPaused(false);
      expect(await standing(paused)).toEqual([false, false, false]);
      await store().setPaused(paused.id, true);
      expect(await standing(await store().start(newRun('paused')))).toEqual([false, false, false]);
    });

    test('a run that has ended, was cancelled or is unknown cannot be paused', async () => {
      const ends = {
        completed: (id: string) => store().end(id, 'completed', null),
        stopped: (id: string) => store().end(id, 'stopped', 'quota'),
        cancelled: (id: string) => store().cancel(id),
      };
      for (const [status, end] of Object.entries(ends)) {
        const { id } = await store().start(newRun());
        await store().setPaused(id, true);
        await end(id);
        expect(await store().get(id)).toMatchObject({ status, isPaused: false });
        expect(await store().setPaused(id, true)).toBe(false);
        expect(await store().get(id)).toMatchObject({ status, isPaused: false });
      }
      expect(await store().setPaused('never-started', true)).toBe(false);
      expect(await store().get('never-started')).toBeNull();
    });

    test('an unknown run has no heartbeat and cannot be cancelled; other updates of it are ignored', async () => {
      await expect(store().heartbeat('never-started')).rejects.toMatchObject({ code: 'engine-unfit' });
      expect(await store().cancel('never-started')).toBe(false);
      await store().finishChunk('never-started', 1);
      await store().addTally('never-started', 'one', { ...NOTHING, matched: 1 });
      await store().setSize('never-started', { rows: 1, identifiers: 1 });
      await store().halt('never-started', { why: 'limit', sentence: '' });
      await store().end('never-started', 'stopped', null);
      expect(await store().get('never-started')).toBeNull();
    });

    test('a run ends once, with its reason; a cancelled one stays cancelled', async () => {
      const stopped = await store().start(newRun());
      await store().end(stopped.id, 'stopped', 'quota used up');
      await store().end(stopped.id, 'completed', null);
      expect(await store().get(stopped.id)).toMatchObject({ status: 'stopped', reason: 'quota used up' });
      const cancelled = await store().start(newRun());
      await store().cancel(cancelled.id);
      await store().end(cancelled.id, 'stopped', 'cancelled by somebody');
      expect(await store().get(cancelled.id)).toMatchObject({
        status: 'cancelled',
        reason: 'cancelled by somebody',
      });
    });

    test('a key remembers its first start until a run of it completes', async () => {
      const first = await store().start(newRun('same'));
      clock.advance(5_000);
      await store().end(first.id, 'stopped', 'interrupted');
      const second = await store().start(newRun('same'));
      expect(second.keyStartedAt).toBe(first.asOf);
      expect(second.asOf).toBeGreaterThanOrEqual(first.asOf + 5_000);
      await store().end(second.id, 'completed', null);
      const third = await store().start(newRun('same'));
      expect(third.keyStartedAt).toBe(third.asOf);
    });

    test('runs are listed newest first, up to a number', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 3; i += 1) ids.unshift((await store().start(newRun())).id);
      expect((await store().list(2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect((await store().list(3)).map(({ id }) => id)).toEqual(ids);
      expect(await store().list(0)).toEqual([]);
      expect((await store().list(1_000)).length).toBe(
        new Set((await store().list(1_000)).map((r) => r.id)).size,
      );
    });

    test('failures are stored per run, the last one wins, and are returned in the order of the keys', async () => {
      const ours = await store().start(newRun());
      const other = await store().start(newRun());
      await store().fail(ours.id, [
        { key: 'a', reason: 'answer damaged, was billed', billed: true },
        { key: 'b', reason: '', billed: false },
        { key: 'c', reason: 'first', billed: false },
      ]);
      await store().fail(ours.id, [{ key: 'c', reason: 'second\nline "ü"', billed: true }]);
      expect(await store().failures(ours.id, ['c', 'x', 'a', 'b'])).toEqual([
        { key: 'c', reason: 'second\nline "ü"', billed: true },
        null,
        { key: 'a', reason: 'answer damaged, was billed', billed: true },
        { key: 'b', reason: '', billed: false },
      ]);
      expect(await store().failures(other.id, ['a'])).toEqual([null]);
      expect(await store().failures(ours.id, [])).toEqual([]);
    });

    test('deferred identifiers are stored beside the failures, and are not failures', async () => {
      const { id } = await store().start(newRun());
      const left = { key: 'a', reason: 'two requests', billed: true, isDeferred: true };
      await store().fail(id, [left]);
      expect(await store().failures(id, ['a'])).toEqual([left]);
      expect((await store().get(id))?.tally.failed).toBe(0);
    });

    test('a permanent failure holds for later starts of the same command, until one completes', async () => {
      const start = () => store().start(newRun('with-failures'));
      const gone = { key: 'gone', reason: 'the service answered 410', billed: true };
      const cut = { key: 'cut', reason: 'the answer was cut off', billed: true };
      const killed = await start();
      expect(killed.hasEarlierFailures).toBe(false);
      await store().fail(killed.id, [{ ...gone, isFinal: true }, cut]);
      // The chunk reports it once more, without the mark of permanence.
      await store().fail(killed.id, [gone]);
      const second = await start();
      expect(second.hasEarlierFailures).toBe(true);
      expect(await store().get(second.id)).toEqual(second);
      expect(await store().failures(second.id, ['cut', 'gone', 'other'])).toEqual([null, gone, null]);
      expect(second.tally.failed).toBe(0);
      const newer = { ...gone, reason: 'the service answered 308' };
      await store().fail(second.id, [newer]);
      expect(await store().failures(second.id, ['gone'])).toEqual([newer]);
      await store().end(second.id, 'stopped', 'interrupted');
      const third = await start();
      expect(await store().failures(third.id, ['gone'])).toMatchObject([{ key: 'gone', billed: true }]);
      const otherCommand = await store().start(newRun());
      expect([otherCommand.hasEarlierFailures, await store().failures(otherCommand.id, ['gone'])]).toEqual([
        false,
        [null],
      ]);
      await store().end(third.id, 'completed', null);
      const next = await start();
      expect([next.hasEarlierFailures, await store().failures(next.id, ['gone'])]).toEqual([false, [null]]);
    });

    test('each failure is counted once, however often it is reported', async () => {
      const { id } = await store().start(newRun());
      const failure = (key: string) => ({ key, reason: 'the service answered 410', billed: true });
      await store().fail(id, [failure('a'), failure('b'), failure('a')]);
      await store().fail(id, [failure('b'), failure('c')]);
      await store().addTally(id, 'one', { ...NOTHING, failed: 1 });
      expect((await store().heartbeat(id)).tally).toEqual({ ...NOTHING, failed: 4 });
    });

    test('a thousand failures are read in one call', async () => {
      const { id } = await store().start(newRun());
      const failures = Array.from({ length: 1_000 }, (_, index) => ({
        key: `k${index}`,
        reason: `r${index}`,
        billed: index % 2 === 0,
      }));
      await store().fail(id, failures);
      const read = await store().failures(
        id,
        failures.map(({ key }) => key),
      );
      expect(read).toEqual(failures);
    });
  });
}

/** Contract of the run store, run against each engine. */
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  ALL_SPENDING,
  isOfAll,
  keyOfDay,
  type NewRun,
  NO_TALLY,
} from '../../../src/engine/stores/run-store.js';
import { RULES } from '../../../src/ledger/rules.js';
import { engineOfSuite, type OpenEngineUnderTest } from './engine-under-test.js';
import { beginningRun, NO_PROGRESS, runSettings } from './run-settings.js';

export function describeRuns(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: runs`, () => {
    const subject = engineOfSuite(open);
    const { clock } = subject;
    let counted = 0;
    const store = () => subject.engine.runs;
    const newRun = (key?: string) => {
      counted += 1;
      const id = `run-${counted}`;
      return {
        id,
        key: key ?? `key-${counted}`,
        label: { host: 'host', name: `host, "${id}": .csv ü` },
        settings: runSettings(),
      };
    };
    const start = (some: Partial<NewRun> = {}) => store().start({ ...newRun(some.key), ...some });
    /** A job with this name as its owner, too. */
    const jobOf = (job: string) => ({ job, owner: job });
    const failure = (key: string, text = 'the service answered 410', billed = true) => ({
      key,
      reason: { code: 'answer' as const, text },
      billed,
    });

    test('a run is stored with the settings of its start, dated by the store', async () => {
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
      expect(record).toMatchObject(beginningRun({ ...run, asOf: record.asOf }));
      expect(Math.abs(record.asOf - (Date.now() + clock.offsetMs()))).toBeLessThan(5_000);
      expect(await store().get(run.id)).toEqual(record);
      expect(await store().get('never-started')).toBeNull();
    });

    test('a file that is started again after it stopped is one entry of the list, with the requests billed before', async () => {
      const { key, label } = newRun();
      const begin = (more: object = {}) => start({ key, label, ...more });
      const other = await begin({ label: { host: 'etl-1', name: 'a copy under another name' } });
      await store().end(other.id, { type: 'stopped' });
      const ended: string[] = [];
      for (const billed of [20, 0, 1]) {
        const { id } = await begin();
        await store().addTally(id, 'one', { ...NO_TALLY, billed, matched: 2 * billed, notFound: billed });
        await store().end(id, { type: 'stopped' });
        ended.push(id);
      }
      const listed = async () => {
        const found = (await store().list(100)).filter((run) => run.key === key);
        return found.map(({ id, status, tally, earlier }) => {
          const { tookMs: _, ...counts } = earlier ?? { tookMs: 0 };
          return [id, status, tally.billed, counts];
        });
      };
      const none = { starts: 0, matched: 0, notFound: 0, billed: 0, unreported: 0, overage: 0 };
      const copy = [other.id, 'stopped', 0, none];
      const before = { ...none, starts: 2, billed: 20, matched: 40, notFound: 20 };
      expect(await listed()).toEqual([[ended[2], 'stopped', 1, before], copy]);
      const last = await begin();
      const all = { ...none, starts: 3, billed: 21, matched: 42, notFound: 21 };
      expect(await listed()).toEqual([[last.id, 'running', 0, all], copy]);
      await store().end(last.id, null);
      expect(await store().get(ended[0] ?? '')).toMatchObject({ status: 'stopped' });
      // A late report of an earlier start.
      await store().addTally(ended[1] ?? '', 'late', { ...NO_TALLY, billed: 4 });
      expect((await listed())[0]).toEqual([last.id, 'completed', 0, { ...all, billed: 25 }]);
      const anew = await begin();
      expect((await listed())[0]).toEqual([anew.id, 'running', 0, none]);
    });

    test('the time that earlier starts took is added up', async () => {
      const { key, label } = newRun();
      let took = 0;
      for (const _ of [1, 2, 3]) {
        const { id, asOf } = await start({ key, label });
        await setTimeout(20);
        await store().end(id, { type: 'stopped' });
        took += ((await store().get(id))?.endedAt ?? 0) - asOf;
      }
      const last = await start({ key, label });
      const listed = (await store().list(100)).find(({ id }) => id === last.id);
      expect(took).toBeGreaterThanOrEqual(60);
      expect(listed?.earlier).toMatchObject({ starts: 3, tookMs: took });
    });

    test('a run that is started again after a cancel counts the requests billed before', async () => {
      const { key, label, id: job } = newRun();
      const begin = (of: string) => start({ key, label, job: `${job}-${of}` });
      const first = await begin('first');
      await store().addTally(first.id, 'one', { ...NO_TALLY, billed: 5 });
      expect(await store().cancel(first.id, 'ada')).toBe('done');
      await store().end(first.id, { type: 'cancelled' });
      const second = await begin('second');
      const found = (await store().list(100)).filter((run) => run.key === key);
      expect(found.map(({ id, earlier }) => [id, earlier?.starts, earlier?.billed])).toEqual([
        [second.id, 1, 5],
      ]);
    });

    test('the size of a run is stored, and the tallies of workers are added up', async () => {
      const { id } = await start();
      await store().setSize(id, { rows: 10, identifiers: 7 });
      const some = { matched: 1, notFound: 2, failed: 3, stored: 4, requests: 5, billed: 6 };
      await store().addTally(id, 'one', some);
      await store().addTally(id, 'two', { ...NO_TALLY, billed: 1 });
      await store().addTally(id, 'three', NO_TALLY);
      const tally = { ...some, billed: 7 };
      expect(await store().get(id)).toMatchObject({ rows: 10, identifiers: 7, tally });
      expect((await store().heartbeat(id)).tally).toEqual(tally);
    });

    test('a worker reports its total so far, so repeated or late reports count once', async () => {
      const { id } = await start();
      const early = { ...NO_TALLY, matched: 3, requests: 4 };
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
      await store().end(id, null);
      await store().addTally(id, 'one', late);
      expect((await store().get(id))?.tally).toEqual(sum);
    });

    test('a chunk is counted once, however often it is reported', async () => {
      const { id } = await start();
      for (const chunk of [0, 1, 0, 200_000, 1]) await store().finishChunk(id, chunk);
      expect((await store().heartbeat(id)).chunks).toBe(3);
    });

    test('a heartbeat is dated, and a run without heartbeats still has the status running', async () => {
      const { id, heartbeatAt } = await start();
      clock.advance(60_000);
      expect(await store().get(id)).toMatchObject({ heartbeatAt, status: 'running' });
      await store().heartbeat(id);
      const later = await store().get(id);
      expect((later?.heartbeatAt ?? 0) - heartbeatAt).toBeGreaterThanOrEqual(60_000);
    });

    test('a heartbeat returns cancel, halt and pause', async () => {
      const { id } = await start();
      expect(await store().heartbeat(id)).toEqual(NO_PROGRESS);
      const halt = { why: 'credentials' as const, reason: 'The service "refused" the token', status: 403 };
      await store().halt(id, halt);
      await store().halt(id, { why: 'limit', reached: { name: 'maxCost' } });
      await store().pauseOwner({ ...ALL_SPENDING, by: 'ada@office' });
      expect(await store().cancel(id, 'ada')).toBe('done');
      expect(await store().heartbeat(id)).toMatchObject({ halt, isCancelled: true, isPaused: true });
      await store().resume(ALL_SPENDING.owner);
      await store().clearHalt(id);
      expect(await store().heartbeat(id)).toMatchObject({ halt: null, isCancelled: true, isPaused: false });
      await store().halt(id, { why: 'limit', reached: { name: 'maxCost' } });
      expect((await store().heartbeat(id)).halt?.why).toBe('limit');
    });

    const ADA = { by: 'ada@office', at: expect.any(Number) };

    test('a pause holds the runs of its owner, also later ones, until it is resumed', async () => {
      const first = await start({ key: 'held' });
      const other = await start();
      const standing = async ({ id }: { id: string }) => {
        const { isPaused, isPausedAlone } = await store().heartbeat(id);
        return [(await store().get(id))?.paused?.by ?? null, isPaused, isPausedAlone];
      };
      expect(await store().pause(first.id, 'ada@office')).toBe('done');
      // The first one stays.
      expect(await store().pause(first.id, 'bob@office')).toBe('done');
      expect(await standing(first)).toEqual(['ada@office', true, true]);
      expect(await standing(other)).toEqual([null, false, false]);
      expect((await store().list(2)).slice(0, 2).map(({ paused }) => paused)).toEqual([null, ADA]);
      expect((await store().pauses()).filter(({ owner }) => owner === 'held')).toEqual([
        { ...ADA, owner: 'held', label: first.label, run: first.id },
      ]);
      await store().pauseOwner({ ...ALL_SPENDING, by: 'ada@office' });
      expect(await standing(other)).toEqual([null, true, false]);
      expect((await store().pauses()).filter(isOfAll)).toEqual([{ ...ALL_SPENDING, ...ADA }]);
      await store().resume(ALL_SPENDING.owner);
      await store().end(first.id, { type: 'stopped' });
      expect(await store().get(first.id)).toMatchObject({ status: 'stopped', paused: ADA });
      const second = await start({ key: 'held' });
      expect(second.paused).toEqual(ADA);
      expect(await standing(second)).toEqual(['ada@office', true, true]);
      expect(await store().resume('held')).toBe(true);
      expect(await store().resume('held')).toBe(false);
      expect(await standing(second)).toEqual([null, false, false]);
      await store().end(second.id, null);
    });

    test('a pause is dated by the store, and does not need a run', async () => {
      const [owner, label] = ['schedule:nightly', { host: null, name: 'nightly' }];
      await store().pauseOwner({ owner, label, by: 'ada@office', run: null });
      const [paused] = await store().orders([{ job: 'tick', owner }]);
      expect(Math.abs((paused?.paused?.at ?? 0) - (Date.now() + clock.offsetMs()))).toBeLessThan(5_000);
      const tick = await start({ job: 'tick', owner });
      expect(tick.paused).toEqual(paused?.paused);
      // A tick ends; its schedule is still paused.
      await store().end(tick.id, null);
      expect((await store().get(tick.id))?.paused).toBeNull();
      const listed = (await store().pauses()).find((each) => each.owner === owner);
      expect(listed).toMatchObject({ label, run: null });
      expect(await store().resume(owner)).toBe(true);
    });

    test('a run that has ended for good cannot be paused, and the pause of an ended file is over', async () => {
      const ends = {
        completed: (id: string) => store().end(id, null),
        cancelled: (id: string) => store().cancel(id, 'ada@office'),
      };
      for (const [status, end] of Object.entries(ends)) {
        const { id, owner, job } = await start(jobOf(`file that is ${status}`));
        await store().pause(id, 'ada@office');
        await end(id);
        expect(await store().get(id)).toMatchObject({ status, paused: null });
        expect(await store().pause(id, 'ada@office')).toBe('ended');
        expect(await store().orders([{ job, owner }])).toMatchObject([{ paused: null }]);
      }
      expect(await store().pause('never-started', 'ada@office')).toBe('unknown');
    });

    test('a cancel ends a job: its later starts are cancelled at once, those of other jobs are not', async () => {
      const job = jobOf('file-1');
      const first = await start({ key: 'same content', ...job });
      const other = await start({ key: 'same content', ...jobOf('file-2') });
      expect(await store().orders([job])).toEqual([{ cancelled: null, paused: null }]);
      expect(await store().cancel(first.id, 'ada@office')).toBe('done');
      expect(await store().cancel(first.id, 'bob@office')).toBe('done');
      const cancelled = await store().get(first.id);
      expect(cancelled).toMatchObject({ status: 'cancelled', cancelled: ADA });
      expect(cancelled?.endedAt).toBe(cancelled?.cancelled?.at);
      expect(await store().orders([job, jobOf('file-2')])).toEqual([
        { cancelled: cancelled?.cancelled, paused: null },
        { cancelled: null, paused: null },
      ]);
      const later = await start({ key: 'same content', ...job });
      expect(later).toMatchObject({ status: 'cancelled', cancelled: ADA });
      expect(await store().heartbeat(later.id)).toMatchObject({ isCancelled: true });
      expect(await store().heartbeat(other.id)).toMatchObject({ isCancelled: false });
    });

    test('orders from another engine are kept unchanged, for jobs that have no run yet', async () => {
      const [job, at] = ['file-7', Date.now() + clock.offsetMs() - 86_400_000];
      const label = { host: 'elsewhere', name: 'six.csv' };
      const moved = { owner: 'file-6', label, by: 'ada@office', run: 'r-6', at };
      await store().pauseOwner(moved);
      await store().pauseOwner({ ...moved, by: 'bob@office' });
      await store().pauseOwner({ ...moved, owner: job });
      await store().cancelJob({ job, by: 'ada@office', at });
      const paused = (await store().pauses()).filter(({ owner }) => [job, 'file-6'].includes(owner));
      expect(paused).toEqual([moved]);
      const cancel = { by: 'ada@office', at };
      expect((await store().cancels()).find((each) => each.job === job)).toEqual({ job, ...cancel });
      const run = await start(jobOf(job));
      expect(run).toMatchObject({ status: 'cancelled', cancelled: cancel });
      await store().resume('file-6');
    });

    test('a cancel that is older than cancels are kept does nothing', async () => {
      const [job, at] = ['file-9', Date.now() + clock.offsetMs() - RULES.runKeyKeptMs - 60_000];
      const run = await start(jobOf(job));
      await store().pause(run.id, 'bob@office');
      await store().cancelJob({ job, by: 'ada@office', at });
      expect(await store().get(run.id)).toMatchObject({ status: 'running', cancelled: null });
      expect(await store().orders([{ job, owner: job }])).toMatchObject([
        { cancelled: null, paused: { by: 'bob@office' } },
      ]);
      expect((await store().cancels()).filter((each) => each.job === job)).toEqual([]);
      await store().resume(job);
    });

    test('a cancel that is taken back leaves its run cancelled, and does not stop a later run', async () => {
      const job = jobOf('file-10');
      const run = await start(job);
      await store().cancel(run.id, 'ada@office');
      await store().uncancelJob('file-10');
      expect(await store().orders([job])).toEqual([{ cancelled: null, paused: null }]);
      expect((await store().cancels()).filter((each) => each.job === 'file-10')).toEqual([]);
      expect(await store().get(run.id)).toMatchObject({ status: 'cancelled', cancelled: ADA });
      const later = await start(job);
      expect(later).toMatchObject({ status: 'running', cancelled: null });
      // A later order holds as the first did.
      await store().cancelJob({ job: 'file-10', by: 'ada@office' });
      expect(await store().heartbeat(later.id)).toMatchObject({ isCancelled: true });
    });

    test('a cancel ends all running starts of the job, also those of processes that were just killed', async () => {
      const job = jobOf('file-4');
      const begin = () => start({ key: 'taken over', ...job });
      const [one, other, last] = [await begin(), await begin(), await begin()];
      expect(await store().cancel(last.id, 'ada@office')).toBe('done');
      for (const { id } of [one, other, last])
        expect(await store().get(id)).toMatchObject({ status: 'cancelled', cancelled: ADA });
    });

    test("an order for a run that stopped or whose process died is for its owner's latest run", async () => {
      const job = jobOf('file-3');
      const killed = await start(job);
      clock.advance(60_000);
      const stopped = await start(job);
      await store().end(stopped.id, { type: 'stopped' });
      const last = await start(job);
      expect(await store().pause(stopped.id, 'ada@office')).toBe('done');
      expect((await store().heartbeat(last.id)).isPausedAlone).toBe(true);
      expect(await store().cancel(killed.id, 'ada@office')).toBe('done');
      expect(await store().heartbeat(last.id)).toMatchObject({ isCancelled: true, isPausedAlone: false });
      // Of two commands over the same file, each has its own word.
      const one = await start({ key: 'one file' });
      const two = await start({ key: 'one file' });
      await store().cancel(one.id, 'ada@office');
      expect((await store().heartbeat(two.id)).isCancelled).toBe(false);
    });

    test('a run that stopped is cancelled, unless a later start of its command has completed', async () => {
      const stopped = await start({ key: 'twice' });
      await store().end(stopped.id, { type: 'stopped' });
      const { id } = await start({ key: 'twice' });
      await store().end(id, null);
      expect(await store().cancel(stopped.id, 'ada@office')).toBe('ended');
      const alone = await start();
      await store().pause(alone.id, 'ada@office');
      await store().end(alone.id, { type: 'stopped' });
      expect(await store().cancel(alone.id, 'ada@office')).toBe('done');
      expect(await store().get(alone.id)).toMatchObject({ status: 'cancelled', paused: null });
      // The command that is typed again is new.
      expect(await start({ key: alone.key })).toMatchObject({ status: 'running', paused: null });
    });

    test('an unknown run has no heartbeat and cannot be cancelled; other updates of it are ignored', async () => {
      // A permanent error, which is not retried.
      const refusal = { name: 'RunError', code: 'engine-unfit', todo: 'run the same command again' };
      await expect(store().heartbeat('never-started')).rejects.toMatchObject(refusal);
      expect(await store().cancel('never-started', 'ada')).toBe('unknown');
      await store().finishChunk('never-started', 1);
      await store().addTally('never-started', 'one', { ...NO_TALLY, matched: 1 });
      await store().setSize('never-started', { rows: 1, identifiers: 1 });
      await store().halt('never-started', { why: 'limit', reached: { name: 'maxCost' } });
      await store().end('never-started', { type: 'stopped' });
      expect(await store().get('never-started')).toBeNull();
    });

    test('a run ends once, with its reason; a cancelled one stays cancelled', async () => {
      const stopped = await start();
      await store().end(stopped.id, { type: 'paused' });
      await store().end(stopped.id, null);
      expect(await store().get(stopped.id)).toMatchObject({ status: 'stopped', stop: { type: 'paused' } });
      const cancelled = await start();
      await store().cancel(cancelled.id, 'ada');
      await store().end(cancelled.id, { type: 'cancelled' });
      const stop = { type: 'cancelled' };
      expect(await store().get(cancelled.id)).toMatchObject({ status: 'cancelled', stop });
    });

    test('a key remembers its first start until a run of it completes', async () => {
      const first = await start({ key: 'same' });
      clock.advance(5_000);
      await store().end(first.id, { type: 'stopped' });
      const second = await start({ key: 'same' });
      expect(second.keyStartedAt).toBe(first.asOf);
      expect(second.asOf).toBeGreaterThanOrEqual(first.asOf + 5_000);
      await store().end(second.id, null);
      const third = await start({ key: 'same' });
      expect(third.keyStartedAt).toBe(third.asOf);
    });

    test('a key remembers its first start while another run of it continues', async () => {
      const first = await start({ key: 'shared' });
      clock.advance(5_000);
      const [second, third] = [await start({ key: 'shared' }), await start({ key: 'shared' })];
      await store().end(second.id, null);
      await store().end(third.id, { type: 'stopped' });
      const fourth = await start({ key: 'shared' });
      expect(fourth.keyStartedAt).toBe(first.asOf);
      await store().end(fourth.id, null);
      // It lived on, and is killed later.
      await store().heartbeat(first.id);
      clock.advance(60_000);
      const fifth = await start({ key: 'shared' });
      expect(fifth.keyStartedAt).toBe(first.asOf);
      await store().end(fifth.id, null);
      const sixth = await start({ key: 'shared' });
      expect(sixth.keyStartedAt).toBe(sixth.asOf);
    });

    test('the key of a day stays as it is when a run of it completes', async () => {
      const key = keyOfDay('agent:crm', runSettings(), Date.UTC(2026, 10, 30, 12));
      expect(key).toMatch(/^day:2026-11-30:/);
      const first = await start({ key });
      clock.advance(5_000);
      await store().end(first.id, null);
      const second = await start({ key });
      expect(second.keyStartedAt).toBe(first.asOf);
    });

    test('a key begins anew after a completion, although a killed run of it seemed alive', async () => {
      const [killed, second] = [await start({ key: 'killed' }), await start({ key: 'killed' })];
      await store().end(second.id, null);
      clock.advance(5_000);
      await store().end(killed.id, { type: 'killed' });
      const third = await start({ key: 'killed' });
      expect(third.keyStartedAt).toBe(third.asOf);
      await store().end(third.id, { type: 'stopped' });
      clock.advance(5_000);
      expect((await start({ key: 'killed' })).keyStartedAt).toBe(third.asOf);
    });

    test('a run that outlives its completed key has no part in the next start', async () => {
      const [first, second] = [await start({ key: 'old' }), await start({ key: 'old' })];
      await store().end(first.id, null);
      clock.advance(5_000);
      const third = await start({ key: 'old' });
      expect(third.keyStartedAt).toBe(third.asOf);
      await store().heartbeat(second.id);
      await store().end(second.id, null);
      expect((await start({ key: 'old' })).keyStartedAt).toBe(third.asOf);
    });

    test('a start that is sent again begins nothing, although a run of its key completed meanwhile', async () => {
      const first = await start({ key: 'sent again' });
      const sent = newRun('sent again');
      const second = await store().start(sent);
      await store().end(first.id, null);
      clock.advance(5_000);
      expect(await store().start(sent)).toEqual(second);
      const third = await start({ key: 'sent again' });
      expect(third.keyStartedAt).toBe(third.asOf);
    });

    test('a list has all live runs, the newest first, then the newest others up to a number', async () => {
      const begin = async () => (await start()).id;
      const listed = async (limit: number) => (await store().list(limit)).map(({ id }) => id);
      // Whatever was started before is dead.
      clock.advance(60_000);
      const [old, dead, ended] = [await begin(), await begin(), await begin()];
      const [cancelled, newest] = [await begin(), await begin()];
      await store().end(ended, null);
      await store().cancel(cancelled, 'ada@office');
      expect(await listed(3)).toEqual([newest, dead, old]);
      clock.advance(20_000);
      await store().heartbeat(old);
      clock.advance(20_000);
      const later = await begin();
      // `newest` and `dead` are silent by now, `old` is not; a late heartbeat brings one back.
      expect(await listed(4)).toEqual([later, old, newest, cancelled]);
      expect(await listed(1)).toEqual([later, old]);
      expect(await listed(0)).toEqual([later, old]);
      await store().heartbeat(dead);
      expect(await listed(1)).toEqual([later, dead, old]);
      expect(await listed(6)).toEqual([later, dead, old, newest, cancelled, ended]);
      await store().end(old, { type: 'stopped' });
      expect(await listed(6)).toEqual([later, dead, newest, cancelled, ended, old]);
      const all = await listed(1_000);
      expect(new Set(all).size).toBe(all.length);
    });

    test('failures are stored for each run, the last one of a key wins, and are returned in the order of the keys', async () => {
      const ours = await start();
      const other = await start();
      const [a, b, c] = [failure('a'), failure('b', '', false), failure('c', 'second\nline "ü"')];
      await store().fail(ours.id, [a, b, failure('c', 'first', false)]);
      await store().fail(ours.id, [c]);
      expect(await store().failures(ours.id, ['c', 'x', 'a', 'b'])).toEqual([c, null, a, b]);
      expect(await store().failures(other.id, ['a'])).toEqual([null]);
      expect(await store().failures(ours.id, [])).toEqual([]);
    });

    test('deferred identifiers are stored with the failures, but do not count as failed', async () => {
      const { id } = await start();
      const left = { ...failure('a', 'two requests'), isDeferred: true };
      await store().fail(id, [left]);
      expect(await store().failures(id, ['a'])).toEqual([left]);
      expect((await store().get(id))?.tally.failed).toBe(0);
    });

    test('a permanent failure holds for later starts of the same command, until one completes', async () => {
      const begin = () => start({ key: 'with-failures' });
      const [gone, cut] = [failure('gone'), failure('cut', 'the answer was cut off')];
      const killed = await begin();
      expect(killed.hasEarlierFailures).toBe(false);
      await store().fail(killed.id, [{ ...gone, isFinal: true }, cut]);
      // The chunk reports it once more, without the mark of permanence.
      await store().fail(killed.id, [gone]);
      const second = await begin();
      expect(second.hasEarlierFailures).toBe(true);
      expect(await store().get(second.id)).toEqual(second);
      expect(await store().failures(second.id, ['cut', 'gone', 'other'])).toEqual([null, gone, null]);
      expect(second.tally.failed).toBe(0);
      const newer = failure('gone', 'the service answered 308');
      await store().fail(second.id, [newer]);
      expect(await store().failures(second.id, ['gone'])).toEqual([newer]);
      await store().end(second.id, { type: 'stopped' });
      const third = await begin();
      expect(await store().failures(third.id, ['gone'])).toMatchObject([{ key: 'gone', billed: true }]);
      const other = await start();
      expect([other.hasEarlierFailures, await store().failures(other.id, ['gone'])]).toEqual([false, [null]]);
      await store().end(third.id, null);
      const next = await begin();
      expect([next.hasEarlierFailures, await store().failures(next.id, ['gone'])]).toEqual([false, [null]]);
    });

    test('each failure is counted once, however often it is reported', async () => {
      const { id } = await start();
      await store().fail(id, [failure('a'), failure('b'), failure('a')]);
      await store().fail(id, [failure('b'), failure('c')]);
      await store().addTally(id, 'one', { ...NO_TALLY, failed: 1 });
      expect((await store().heartbeat(id)).tally).toEqual({ ...NO_TALLY, failed: 4 });
    });
  });
}

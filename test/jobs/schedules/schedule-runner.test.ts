/**
 * The schedule runner on real engines: each tick runs once, never two at a time, across restarts,
 * and late where that is allowed.
 */
import { expect, test, vi } from 'vitest';
import { type Order, scheduleOwner } from '../../../src/engine/stores/run-store.js';
import { keyOf } from '../../../src/jobs/schedules/schedule-book.js';
import { type Schedule, tickQueueOf } from '../../../src/jobs/schedules/schedule-files.js';
import { onEngines } from '../../e2e/commands.js';
import { runSettings } from '../../engine/contract/run-settings.js';
import { embeddedEngine, inLongTests, redisEngine } from '../../support/engines.js';
import { createRunnerScene, createSlowRun, EVERY_SECOND, type RunnerScene, WELL } from './runner-scene.js';

const PATIENCE = { timeout: 60_000, interval: 50 };

async function stateOf({ book }: Pick<RunnerScene, 'book'>, name: string) {
  return (await book.list()).find((each) => each.name === name);
}

async function untilState(scene: Pick<RunnerScene, 'book'>, { name }: Schedule, state: object) {
  await expect.poll(() => stateOf(scene, name), PATIENCE).toMatchObject(state);
}

const queueOf = async ({ host, files }: RunnerScene) => tickQueueOf(host, await files.giveMachineId());

async function entryOf(scene: RunnerScene, { name, id, host }: Schedule) {
  return { name, id, host, queue: await queueOf(scene) };
}

onEngines([inLongTests(embeddedEngine()), redisEngine()], (under) => {
  test('refuses a name that is in use, and accepts it again once its schedule is removed', async () => {
    const scene = await createRunnerScene(under);
    const book = scene.book;
    const nightly = scene.schedule('nightly', { line: 'run "a\'b" c' });
    expect(await book.add(nightly)).toBe(true);
    expect(await book.add(scene.schedule('nightly'))).toBe(false);
    expect(await stateOf(scene, nightly.name)).toMatchObject({
      schedule: nightly,
      nextAt: expect.any(Number),
      isHostOffline: true,
      isRunning: false,
      ended: null,
      passed: null,
    });
    await book.remove(nightly);
    expect(await stateOf(scene, nightly.name)).toBeUndefined();
    expect(await book.add(scene.schedule('nightly'))).toBe(true);
  });

  test('runs each tick once with two runners, until the schedule is removed', async () => {
    const scene = await createRunnerScene(under);
    const book = scene.book;
    const schedule = scene.schedule('often', { cron: EVERY_SECOND });
    await book.add(schedule);
    await scene.startRunner();
    await scene.startRunner();
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(3);
    expect((await stateOf(scene, schedule.name))?.isHostOffline).toBe(false);
    await book.remove(schedule);
    const moments = scene.begun.map(({ stampedAt }) => stampedAt);
    expect(new Set(moments).size).toBe(moments.length);
    for (const moment of moments) expect(moment % 1_000).toBe(0);
    // A remaining tick would have been taken by then.
    const marker = scene.schedule('marker', { cron: EVERY_SECOND });
    await book.add(marker);
    const ofMarker = () => scene.begun.filter((work) => work.schedule.name === marker.name).length;
    await expect.poll(ofMarker, PATIENCE).toBeGreaterThanOrEqual(2);
    // One may have been in the hands of a runner at the removal.
    const all = scene.begun.filter((work) => work.schedule.name === schedule.name).length;
    expect(all - moments.length).toBeLessThanOrEqual(1);
  });

  test('records a tick as skipped while the previous run is still going', async () => {
    const scene = await createRunnerScene(under);
    const book = scene.book;
    const schedule = scene.schedule('slow');
    await book.add(schedule);
    const slow = createSlowRun();
    await scene.startRunner({ execute: slow.execute });
    await scene.startRunner({ execute: slow.execute });
    await book.runNow(await entryOf(scene, schedule));
    await untilState(scene, schedule, { isRunning: true });
    await book.runNow(await entryOf(scene, schedule));
    await untilState(scene, schedule, {
      isRunning: true,
      ended: null,
      passed: { why: 'skipped', dueAt: null },
    });
    expect(scene.begun).toHaveLength(1);
    slow.end();
    await untilState(scene, schedule, { isRunning: false, ended: { ...WELL, dueAt: null } });
    await book.runNow(await entryOf(scene, schedule));
    await expect.poll(() => scene.begun.length, PATIENCE).toBe(2);
  });

  test('records a missed tick without running it', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('missed', { cron: EVERY_SECOND });
    await scene.book.add(schedule);
    const missedAt = (await stateOf(scene, schedule.name))?.nextAt ?? Number.NaN;
    await expect.poll(() => Date.now() - missedAt, PATIENCE).toBeGreaterThan(1_000);
    await scene.startRunner({
      lateAfterMs: 0,
      clock: { now: () => Date.now() + 1, monotonic: () => 0, sleep: async () => {} },
    });
    await untilState(scene, schedule, { ended: null, passed: { why: 'missed', dueAt: expect.any(Number) } });
    expect(scene.begun).toEqual([]);
  });

  test('with --catch-up runs a missed tick once on return, dated when it was due', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('late', { cron: EVERY_SECOND, catchesUp: true });
    await scene.book.add(schedule);
    const missedAt = (await stateOf(scene, schedule.name))?.nextAt ?? Number.NaN;
    await expect.poll(() => Date.now() - missedAt, PATIENCE).toBeGreaterThan(3_000);
    const returnedAt = Date.now();
    await scene.startRunner({ lateAfterMs: 0 });
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(2);
    const [first, second] = scene.begun.map(({ stampedAt }) => stampedAt);
    expect(first).toBe(missedAt);
    expect(second).toBeGreaterThanOrEqual(returnedAt);
  });

  test('resumes a run that the end of its runner interrupted, and keeps its schedule', async () => {
    const before = await createRunnerScene(under);
    const schedule = before.schedule('interrupted', { cron: EVERY_SECOND });
    await before.book.add(schedule);
    await before.startRunner({ execute: createSlowRun().execute });
    await expect.poll(() => before.begun.length, PATIENCE).toBe(1);
    const after = await before.reopen();
    // So late that only the interrupted run is due.
    await after.startRunner({ lateAfterMs: -1_000_000_000 });
    const interruptedAt = before.begun[0]?.stampedAt;
    await expect.poll(() => after.begun.map(({ stampedAt }) => stampedAt), PATIENCE).toEqual([interruptedAt]);
    await untilState(after, schedule, {
      ended: { ...WELL, dueAt: interruptedAt },
      passed: { why: 'missed' },
    });
  });

  test('skips the ticks of a paused schedule and says whose pause it is; it runs again after the resume', async () => {
    const scene = await createRunnerScene(under);
    const { runs } = scene.engine;
    const schedule = scene.schedule('paused', { cron: EVERY_SECOND });
    await scene.book.add(schedule);
    const owner = scheduleOwner(keyOf(await entryOf(scene, schedule)));
    await runs.pauseOwner({ owner, label: { host: null, name: schedule.name }, by: 'ada@office', run: null });
    const said = new Set<string>();
    const onPaused = async ({ name }: Schedule, { by }: Order) => void said.add(`${name} ${by}`);
    await scene.startRunner({ onPaused });
    const skipped = new Set<number | null>();
    const passed = async () => (await stateOf(scene, schedule.name))?.passed ?? null;
    await vi.waitUntil(async () => {
      const tick = await passed();
      if (tick?.paused !== undefined) skipped.add(tick.dueAt);
      return skipped.size >= 2;
    }, PATIENCE);
    expect(await passed()).toMatchObject({ why: 'skipped', paused: { by: 'ada@office' } });
    expect((await stateOf(scene, schedule.name))?.paused).toMatchObject({ by: 'ada@office' });
    expect([scene.begun, [...said]]).toEqual([[], [`${schedule.name} ada@office`]]);
    await runs.resume(owner);
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(1);
  });

  test('a run that was paused goes on after the resume, and later ticks are skipped meanwhile', async () => {
    const scene = await createRunnerScene(under);
    const { runs } = scene.engine;
    const schedule = scene.schedule('held');
    await scene.book.add(schedule);
    const entry = await entryOf(scene, schedule);
    const owner = scheduleOwner(keyOf(entry));
    await scene.startRunner({
      execute: async ({ job }) => {
        if (scene.begun.length > 1) return WELL;
        await runs.pauseOwner({
          owner: job.owner,
          label: { host: null, name: schedule.name },
          by: 'ada@office',
          run: null,
        });
        return { ...WELL, exitCode: 7, orderedEnd: 'paused' };
      },
    });
    await scene.book.runNow(entry);
    await expect.poll(() => scene.begun.length, PATIENCE).toBe(1);
    await scene.book.runNow(entry);
    await untilState(scene, schedule, {
      isRunning: false,
      ended: null,
      passed: { paused: { by: 'ada@office' } },
    });
    await runs.resume(owner);
    await untilState(scene, schedule, { ended: WELL });
    expect(scene.begun.map(({ job }) => job)).toEqual([scene.begun[0]?.job, scene.begun[0]?.job]);
    expect(scene.begun[0]?.job.owner).toBe(owner);
  });

  test('a tick that was cancelled is not taken up again by the next runner', async () => {
    const before = await createRunnerScene(under);
    const schedule = before.schedule('cancelled');
    await before.book.add(schedule);
    await before.startRunner({ execute: createSlowRun().execute });
    await before.book.runNow(await entryOf(before, schedule));
    await expect.poll(() => before.begun.length, PATIENCE).toBe(1);
    const { job } = before.begun[0] ?? {};
    const id = `run-of-${before.host}`;
    await before.engine.runs.start({
      id,
      key: id,
      label: { host: 'etl-1', name: 'a.csv' },
      settings: runSettings(),
      ...job,
    });
    expect(await before.engine.runs.cancel(id, 'ada@office')).toBe('done');
    const after = await before.reopen();
    await after.startRunner();
    await untilState(after, schedule, {
      ended: { exitCode: 130, sentence: expect.stringMatching(/^cancelled by ada@office/) },
    });
    expect(after.begun).toEqual([]);
    await after.book.runNow(await entryOf(after, schedule));
    await expect.poll(() => after.begun.length, PATIENCE).toBe(1);
  });

  test('restores a lost scheduled job when a runner starts', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('lost', { cron: EVERY_SECOND });
    await scene.book.add(schedule);
    expect(await scene.engine.scheduledJobs.remove(await queueOf(scene), schedule.name)).toBe(true);
    expect((await stateOf(scene, schedule.name))?.nextAt).toBeNull();
    await scene.startRunner();
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(1);
  });

  test('records the error of a failed run and continues the schedule', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('broken', { cron: EVERY_SECOND });
    await scene.book.add(schedule);
    await scene.startRunner({
      execute: async () => {
        throw new Error('no luck');
      },
    });
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(2);
    expect(await stateOf(scene, schedule.name)).toMatchObject({
      ended: { exitCode: 5, sentence: 'no luck', output: null },
    });
  });
});

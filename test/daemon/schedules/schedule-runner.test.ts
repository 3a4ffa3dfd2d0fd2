/**
 * The schedule runner on real engines: each tick runs once, never two at a time, across restarts,
 * and late where that is allowed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createScheduleBook } from '../../../src/daemon/schedules/schedule-book.js';
import { embeddedEngine, inLongTests, redisEngine } from '../../support/engines.js';
import { describeOn } from '../../support/scene.js';
import { createRunnerScene, createSlowRun, EVERY_SECOND, type RunnerScene, WELL } from './runner-scene.js';

const PATIENCE = { timeout: 30_000, interval: 50 };

async function stateOf({ engine }: Pick<RunnerScene, 'engine'>, name: string) {
  const states = await createScheduleBook(engine).list();
  return states.find(({ schedule }) => schedule.name === name);
}

describeOn([inLongTests(embeddedEngine()), redisEngine()], (under) => {
  beforeAll(() => under.start());
  afterAll(() => under.stop());

  test('refuses a name that is in use, and accepts it again once its schedule is removed', async () => {
    const scene = await createRunnerScene(under);
    const book = createScheduleBook(scene.engine);
    const nightly = scene.schedule('nightly', { line: 'run "a\'b" c' });
    expect(await book.add(nightly)).toBe(true);
    expect(await book.add(scene.schedule('nightly'))).toBe(false);
    expect(await stateOf(scene, nightly.name)).toMatchObject({
      schedule: nightly,
      nextAt: expect.any(Number),
      isHostAway: true,
      isRunning: false,
      ended: null,
      passed: null,
    });
    expect(await book.remove(nightly.name)).toBe(true);
    expect(await book.remove(nightly.name)).toBe(false);
    expect(await stateOf(scene, nightly.name)).toBeUndefined();
    expect(await book.add(scene.schedule('nightly'))).toBe(true);
  });

  test('runs each tick once with two runners, until the schedule is removed', async () => {
    const scene = await createRunnerScene(under);
    const book = createScheduleBook(scene.engine);
    const schedule = scene.schedule('often', { cron: EVERY_SECOND });
    await book.add(schedule);
    await scene.startRunner();
    await scene.startRunner();
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(3);
    expect((await stateOf(scene, schedule.name))?.isHostAway).toBe(false);
    await book.remove(schedule.name);
    const moments = scene.begun.map(({ stampedAt }) => stampedAt);
    expect(new Set(moments).size).toBe(moments.length);
    for (const moment of moments) expect(moment % 1_000).toBe(0);
    // A remaining tick would have been taken by then.
    const marker = scene.schedule('marker', { cron: EVERY_SECOND });
    await book.add(marker);
    const ofMarker = () => scene.begun.filter((work) => work.schedule.name === marker.name).length;
    await expect.poll(ofMarker, PATIENCE).toBeGreaterThanOrEqual(2);
    const last = Math.max(...moments);
    const later = scene.begun.filter(
      ({ schedule: of, stampedAt }) => of.name === schedule.name && stampedAt > last + 1_000,
    );
    expect(later).toEqual([]);
  });

  test('records a tick as skipped while the previous run is still going', async () => {
    const scene = await createRunnerScene(under);
    const book = createScheduleBook(scene.engine);
    const schedule = scene.schedule('slow');
    await book.add(schedule);
    const slow = createSlowRun();
    await scene.startRunner({ execute: slow.execute });
    await scene.startRunner({ execute: slow.execute });
    await book.runNow(schedule);
    await expect.poll(() => stateOf(scene, schedule.name), PATIENCE).toMatchObject({ isRunning: true });
    await book.runNow(schedule);
    await expect
      .poll(() => stateOf(scene, schedule.name), PATIENCE)
      .toMatchObject({ isRunning: true, ended: null, passed: { why: 'skipped', dueAt: null } });
    expect(scene.begun).toHaveLength(1);
    slow.end();
    await expect
      .poll(() => stateOf(scene, schedule.name), PATIENCE)
      .toMatchObject({ isRunning: false, ended: { ...WELL, dueAt: null } });
    await book.runNow(schedule);
    await expect.poll(() => scene.begun.length, PATIENCE).toBe(2);
  });

  test('records a missed tick without running it', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('missed', { cron: EVERY_SECOND });
    await createScheduleBook(scene.engine).add(schedule);
    const missedAt = (await stateOf(scene, schedule.name))?.nextAt ?? Number.NaN;
    await expect.poll(() => Date.now() - missedAt, PATIENCE).toBeGreaterThan(1_000);
    await scene.startRunner({
      lateAfterMs: 0,
      clock: { now: () => Date.now() + 1, monotonic: () => 0, sleep: async () => {} },
    });
    await expect
      .poll(() => stateOf(scene, schedule.name), PATIENCE)
      .toMatchObject({ ended: null, passed: { why: 'missed', dueAt: expect.any(Number) } });
    expect(scene.begun).toEqual([]);
  });

  test('with --catch-up runs a missed tick once on return, dated when it was due', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('late', { cron: EVERY_SECOND, catchesUp: true });
    await createScheduleBook(scene.engine).add(schedule);
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
    await createScheduleBook(before.engine).add(schedule);
    await before.startRunner({ execute: createSlowRun().execute });
    await expect.poll(() => before.begun.length, PATIENCE).toBe(1);
    const after = await before.reopen();
    // So late that only the interrupted run is due.
    await after.startRunner({ lateAfterMs: -1_000_000_000 });
    const interruptedAt = before.begun[0]?.stampedAt;
    await expect.poll(() => after.begun.map(({ stampedAt }) => stampedAt), PATIENCE).toEqual([interruptedAt]);
    await expect
      .poll(() => stateOf(after, schedule.name), PATIENCE)
      .toMatchObject({ ended: { ...WELL, dueAt: interruptedAt }, passed: { why: 'missed' } });
  });

  test('restores a lost scheduled job when a runner starts', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('lost', { cron: EVERY_SECOND });
    await createScheduleBook(scene.engine).add(schedule);
    expect(await scene.engine.scheduledJobs.remove(`schedules-${scene.host}`, schedule.name)).toBe(true);
    expect((await stateOf(scene, schedule.name))?.nextAt).toBeNull();
    await scene.startRunner();
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(1);
  });

  test('records the error of a failed run and continues the schedule', async () => {
    const scene = await createRunnerScene(under);
    const schedule = scene.schedule('broken', { cron: EVERY_SECOND });
    await createScheduleBook(scene.engine).add(schedule);
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

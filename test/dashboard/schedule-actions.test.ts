/** "Run now" on a real engine: through the queue of the machine, and refused with words. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scheduleActions } from '../../src/dashboard/schedule-actions.js';
import type { ScheduleState } from '../../src/jobs/schedules/schedule-book.js';
import { createRunnerScene, createSlowRun } from '../jobs/schedules/runner-scene.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { describeOn } from '../support/scene.js';
import { scheduleState } from './views.js';

const NOTHING_SENT = { fields: new URLSearchParams() };

type Book = Parameters<typeof scheduleActions>[0];
function actionOn(book: Book, name: string, outageNoticedAt: number | null = null) {
  const [action] = scheduleActions(book, NO_ORDERS, async () => ({ outageNoticedAt }));
  if (action?.ask === undefined) throw new Error('it does not ask');
  const input = { ...NOTHING_SENT, user: 'ada', id: name };
  return { ask: () => action.ask?.(input), carryOut: () => action.carryOut(input) };
}

describeOn([inLongTests(embeddedEngine()), redisEngine()], (under) => {
  beforeAll(() => under.start());
  afterAll(() => under.stop());

  test('asks, runs on the machine of the schedule, and leaves its next due time as it is', async () => {
    const scene = await createRunnerScene(under);
    const book = scene.book;
    const schedule = scene.schedule('nightly');
    await book.add(schedule);
    const { execute, end } = createSlowRun();
    const { ask, carryOut } = actionOn(book, schedule.name);
    await expect(ask()).rejects.toThrow(`its machine is offline: ${schedule.name} on ${scene.host}`);
    const unavailable = actionOn(book, schedule.name, 1);
    await expect(unavailable.carryOut()).rejects.toThrow('the engine does not answer');
    await scene.startRunner({ execute });
    const due = (await book.list())[0]?.nextAt;
    const question = await ask();
    expect(question?.title).toBe(`Run ${schedule.name} now?`);
    expect(question?.lines.join(' ')).toContain('It can cost money');
    expect(scene.begun).toEqual([]);
    expect((await carryOut()).sentence).toBe(`${schedule.name} runs now on ${scene.host}.`);
    await expect.poll(async () => (await book.list())[0]?.isRunning).toBe(true);
    await expect(carryOut()).rejects.toThrow(`the schedule is running: ${schedule.name}`);
    end();
    await expect.poll(async () => (await book.list())[0]?.ended?.dueAt).toBe(null);
    expect(scene.begun).toHaveLength(1);
    expect((await book.list())[0]?.nextAt).toBe(due);
  });
});

test.each<[string, Partial<ScheduleState>, RegExp]>([
  ['gone', {}, /^no such schedule: gone/],
  ['nightly', { schedule: null, isMissing: true }, /^definition missing on etl-1: nightly/],
  ['nightly', { isRunning: true }, /^the schedule is running: nightly/],
  ['nightly', { isHostOffline: true }, /^its machine is offline: nightly on etl-1; start `brand-enrich up`/],
])('does not ask for %s where it could not run %o', async (name, parts, words) => {
  const asked: string[] = [];
  const book = { list: async () => [scheduleState(parts)], runNow: async () => void asked.push(name) };
  const { ask, carryOut } = actionOn(book, name);
  await expect(ask()).rejects.toThrow(words);
  await expect(carryOut()).rejects.toThrow(words);
  expect(asked).toEqual([]);
});

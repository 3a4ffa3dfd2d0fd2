/** "Run now" on a real engine: through the queue of the machine, and refused with words. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Document } from '../../../src/core/documents.js';
import { scheduleActions } from '../../../src/daemon/dashboard/schedule-actions.js';
import type { ScheduleState } from '../../../src/daemon/schedules/schedule-book.js';
import { embeddedEngine, inLongTests, redisEngine } from '../../support/engines.js';
import { createScene, describeOn, domainList } from '../../support/scene.js';
import { createRunnerScene, createSlowRun } from '../schedules/runner-scene.js';
import { scheduleState } from './views.js';

const PATIENCE = { timeout: 40_000, interval: 100 };

const NO_ORDERS = { pauseOwner: async () => undefined, resume: async () => false };
const NOTHING_SENT = { fields: new URLSearchParams() };

function actionOn(
  book: Parameters<typeof scheduleActions>[0],
  name: string,
  outageNoticedAt: number | null = null,
) {
  const [action] = scheduleActions(book, NO_ORDERS, async () => ({ outageNoticedAt }));
  if (action?.ask === undefined) throw new Error('it does not ask');
  const input = { ...NOTHING_SENT, user: 'ada', params: { name } };
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

describeOn([redisEngine()], (under) => {
  beforeAll(() => under.start());
  afterAll(() => under.stop());

  test('with a real `up`: a form runs it, and its result has the run and what was billed', async () => {
    const scene = await createScene(under);
    await scene.write('list.csv', domainList(10));
    const name = `now-${randomBytes(4).toString('hex')}`;
    const run = ['--', 'run', 'list.csv'];
    const added = await scene.run(['schedule', 'add', name, '--cron', '0 0 1 1 *', '--tz', 'UTC', ...run]);
    expect(added.code, added.stderr).toBe(0);
    const up = scene.start(['up', '--dashboard-port', '0', '--metrics-port', '0']);
    await up.untilSaid(/dashboard: \S+\n/);
    const [, link = ''] = /dashboard: (\S+)/.exec(up.said) ?? [];
    const signedIn = await fetch(link, { redirect: 'manual' });
    const cookie = signedIn.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const page = async () => (await fetch(new URL('/', link), { headers: { cookie } })).text();
    const status = async () =>
      await (await fetch(new URL('/status.json', link), { headers: { cookie } })).json();
    const dueOf = async () =>
      ((await status()) as Document<'dashboard'>).data?.schedules.find((each) => each.name === name)?.nextAt;
    // Its runner has to be up first.
    await expect.poll(page, PATIENCE).toContain(`action="/schedules/${name}/run"`);
    const due = await dueOf();
    const [, token = ''] = /name="form-token" content="([^"]+)"/.exec(await page()) ?? [];
    const post = (fields: Record<string, string>) =>
      fetch(new URL(`/schedules/${name}/run`, link), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
        body: new URLSearchParams({ token, ...fields }).toString(),
        redirect: 'manual',
      });
    expect(await (await post({})).text()).toContain('It can cost money');
    expect(scene.service.meter.billed).toBe(0);
    expect((await post({ confirmed: 'yes' })).status).toBe(303);
    await expect
      .poll(page, PATIENCE)
      .toMatch(/href="\/runs\/r-[^"]+".*, by hand[\s\S]*<td class="number">10<\/td>/);
    expect(scene.service.meter.billed).toBe(10);
    expect(await dueOf()).toBe(due);
  });
});

test.each<[string, Partial<ScheduleState>, RegExp]>([
  ['gone', {}, /^no such schedule: gone/],
  ['nightly', { schedule: null, isMissing: true }, /^definition missing on etl-1: nightly/],
  ['nightly', { isRunning: true }, /^the schedule is running: nightly/],
  ['nightly', { isHostOffline: true }, /^its machine is offline: nightly on etl-1; start `brand-enrich up`/],
])('does not ask for %s where it could not run %o', async (name, parts, words) => {
  const asked: string[] = [];
  const book = {
    list: async () => [scheduleState(parts)],
    runNow: async () => void asked.push(name),
  };
  const { ask, carryOut } = actionOn(book, name);
  await expect(ask()).rejects.toThrow(words);
  await expect(carryOut()).rejects.toThrow(words);
  expect(asked).toEqual([]);
});

/**
 * Somebody who can write to the engine plants schedules, ticks and results there: nothing of it
 * runs, writes or ends a process, and all of it is shown or left out.
 */
import { expect, test } from 'vitest';
import { schedulesText } from '../../../src/commands/schedule.js';
import {
  chooseSchedule,
  keyOf,
  SCOPES,
  scheduleDocument,
} from '../../../src/jobs/schedules/schedule-book.js';
import { tickQueueOf } from '../../../src/jobs/schedules/schedule-files.js';
import { onEngines } from '../../e2e/commands.js';
import { embeddedEngine, inLongTests, redisEngine } from '../../support/engines.js';
import { faultsOf } from '../../support/schemas.js';
import { createRunnerScene, EVERY_SECOND, type RunnerScene } from './runner-scene.js';

const PATIENCE = { timeout: 60_000, interval: 50 };

/** Tests share an engine. */
const listOf = async ({ book, host }: RunnerScene) =>
  (await book.list()).filter((each) => each.host === host);

onEngines([inLongTests(embeddedEngine()), redisEngine()], (under) => {
  /** Machines do not share an embedded engine. */
  const testMachines = test.skipIf(under.name === 'embedded');

  test('a schedule without a definition here never runs, and is shown as missing', async () => {
    const scene = await createRunnerScene(under);
    const { engine, host, files, book } = scene;
    const queue = tickQueueOf(host, await files.giveMachineId());
    // With all that a definition holds: what is read of it is where it would tick.
    const whole = { ...scene.schedule('planted', { flags: { output: '/victim.csv' } }), catchesUp: true };
    const planted = { ...whole, name: 'planted', id: 'p', host, queue };
    await engine.keyValues.put(SCOPES.schedule, keyOf(planted), JSON.stringify(planted));
    await engine.scheduledJobs.set(queue, EVERY_SECOND, 'UTC', { name: 'planted', id: 'p' });
    const own = scene.schedule('own', { cron: EVERY_SECOND });
    await book.add(own);
    await scene.startRunner();
    // A tick whose id is another's is no tick of the schedule either.
    await engine.scheduledJobs.addNow(queue, { name: own.name, id: 'other' });
    for (const data of [
      null,
      7,
      {},
      { name: {} },
      { name: '../x', id: own.id },
      { name: own.name, id: [own.id] },
    ])
      await engine.scheduledJobs.addNow(queue, data as never);
    await expect.poll(() => scene.begun.length, PATIENCE).toBeGreaterThanOrEqual(3);
    for (const { schedule } of scene.begun) expect(schedule).toEqual(own);
    expect(await listOf(scene)).toMatchObject([
      { name: own.name, schedule: own, isMissing: false },
      { name: 'planted', schedule: null, isMissing: true },
    ]);
    expect(schedulesText(await listOf(scene), { host, now: 0 })).toContain(`definition missing on ${host}`);
  });

  testMachines('one of another machine is listed with its next tick and results, and run there', async () => {
    const here = await createRunnerScene(under);
    const there = await createRunnerScene(under);
    const nightly = there.schedule('nightly', { line: 'run secret-customers.csv' });
    await there.book.add(nightly);
    await there.startRunner();
    const seen = async () => (await here.book.list()).filter((each) => each.host === there.host);
    const [state] = await seen();
    expect(state).toMatchObject({
      name: nightly.name,
      schedule: null,
      isMissing: false,
      isHostOffline: false,
      nextAt: expect.any(Number),
    });
    const text = schedulesText(await seen(), { host: here.host, now: 0 });
    expect(text).toContain(`runs     what ${there.host} defines`);
    expect(JSON.stringify(await seen()) + text).not.toContain('secret-customers');
    expect(faultsOf('schedules', { version: 1, schedules: (await seen()).map(scheduleDocument) })).toEqual(
      [],
    );
    if (state) await here.book.runNow(state);
    await expect.poll(seen, PATIENCE).toMatchObject([{ ended: { exitCode: 0, sentence: 'well' } }]);
    expect(there.begun).toMatchObject([{ schedule: nightly }]);
    expect(here.begun).toEqual([]);
  });

  testMachines('the same name on two machines is two schedules', async () => {
    const one = await createRunnerScene(under);
    const two = await createRunnerScene(under);
    const ofOne = one.schedule('same');
    const ofTwo = { ...two.schedule('same'), name: ofOne.name };
    expect([await one.book.add(ofOne), await two.book.add(ofTwo)]).toEqual([true, true]);
    const states = await one.book.list();
    expect(chooseSchedule(states, ofOne.name)).toMatchObject({ host: one.host, schedule: ofOne });
    expect(chooseSchedule(states, `${ofOne.name}@${two.host}`)).toMatchObject({
      host: two.host,
      schedule: null,
    });
    const three = await createRunnerScene(under);
    expect(chooseSchedule(await three.book.list(), ofOne.name)).toHaveLength(2);
    expect(chooseSchedule(await three.book.list(), 'nobody')).toEqual([]);
    await one.book.remove(ofOne);
    expect(chooseSchedule(await two.book.list(), ofOne.name)).toMatchObject({ host: two.host });
  });

  test('cron and zone are those of the file, whatever the engine says', async () => {
    const scene = await createRunnerScene(under);
    const { engine, book, files, host } = scene;
    const yearly = scene.schedule('yearly');
    await book.add(yearly);
    const queue = tickQueueOf(host, await files.giveMachineId());
    await engine.scheduledJobs.set(queue, EVERY_SECOND, 'Asia/Tokyo', { name: yearly.name, id: yearly.id });
    await scene.startRunner();
    const clock = async () =>
      (await engine.scheduledJobs.list(queue)).find(({ name }) => name === yearly.name);
    await expect.poll(clock, PATIENCE).toMatchObject({ cron: yearly.cron, tz: 'UTC', id: yearly.id });
  });

  test('what is damaged is left out of list, document and page', async () => {
    const scene = await createRunnerScene(under);
    const { engine, host, book, files } = scene;
    const own = scene.schedule('own');
    await book.add(own);
    const queue = tickQueueOf(host, await files.giveMachineId());
    const key = keyOf({ queue, name: own.name });
    const { keyValues } = engine;
    const poison = ['', '{', 'null', '7', '[]', '{"name":{}}', `"${'x'.repeat(100_000)}"`, '{"__proto__":1}'];
    const entries = [
      { name: 'a', id: 'a', host, queue: 'lookups:1' },
      { name: '../a', id: 'a', host, queue },
      { name: 'a', id: 'a', host: 'h'.repeat(9_999), queue },
      { name: 'a', id: 'a', host, queue: `schedules-${host}-zz` },
    ].map((entry) => JSON.stringify(entry));
    for (const [at, text] of [...poison, ...entries].entries())
      await keyValues.put(SCOPES.schedule, `damaged-${at}`, text);
    const result = { dueAt: null, startedAt: 1e300, endedAt: -1, exitCode: 'x', sentence: 'x', output: null };
    for (const scope of [SCOPES.passed, SCOPES.runs, SCOPES.running, SCOPES.runner])
      for (const text of [...poison, JSON.stringify(result), JSON.stringify([result])]) {
        await keyValues.put(scope, key, text);
        const states = await listOf(scene);
        expect(states).toMatchObject([{ name: own.name, ended: null, runs: [], passed: null }]);
        expect(faultsOf('schedules', { version: 1, schedules: states.map(scheduleDocument) })).toEqual([]);
        expect(schedulesText(states, { host, now: 0 })).toContain(own.name);
      }
    await scene.startRunner();
  });
});

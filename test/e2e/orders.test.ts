/** What `pause`, `resume` and `cancel` find that has no run: it was paused while it was read. */
import { expect, test } from 'vitest';
import { scheduleOwner } from '../../src/engine/stores/run-store.js';
import { createScheduleBook, keyOf, tickJob } from '../../src/jobs/schedules/schedule-book.js';
import { createScheduleFiles } from '../../src/jobs/schedules/schedule-files.js';
import { quickEngine } from '../support/engines.js';
import { createScene } from '../support/scene.js';
import { ends, openEngineOf } from './commands.js';

async function open() {
  const scene = await createScene(await quickEngine());
  const stateFolder = scene.env.BRAND_ENRICH_STATE ?? '';
  const engine = await openEngineOf(scene);
  const owners = async () => (await engine.runs.pauses()).map(({ owner }) => owner).sort();
  return { scene, stateFolder, engine, owners };
}

test('of two files of one name, paused while they were read, each is resumed and cancelled by its job', async () => {
  const { scene, engine, owners } = await open();
  const order = { label: { host: 'mill', name: 'a-list.csv' }, by: 'ada@office', run: null };
  for (const at of [1, 2, 3]) await engine.runs.pauseOwner({ ...order, owner: `job-${at}`, at });
  const unclear = ['pause', 'resume', 'cancel'].map((word) => scene.run([word, 'a-list.csv']));
  for (const { code, stderr } of await Promise.all(unclear))
    expect([code, stderr]).toEqual([2, expect.stringMatching(/write one of job-1, job-2, job-3/)]);
  expect(await owners()).toEqual(['job-1', 'job-2', 'job-3']);
  expect(await scene.run(['resume', 'job-1'])).toMatchObject({ code: 0 });
  // It is read again.
  await engine.keyValues.put('reading', 'job-2', JSON.stringify({ host: 'mill', file: 'a-list.csv' }));
  expect(await scene.run(['cancel', 'job-2'])).toMatchObject({ code: 0 });
  await engine.keyValues.remove('reading', 'job-2', null);
  expect(await owners()).toEqual(['job-3']);
  expect(await scene.run(['cancel', 'a-list.csv'])).toMatchObject({ code: 0 });
  expect(await owners()).toEqual([]);
  expect((await engine.runs.cancels()).map(({ job }) => job)).toEqual(['job-2', 'job-3']);
});

test('the tick of a paused schedule that waits, and whose run did not begin, is cancelled by the name of the schedule', async () => {
  const { scene, stateFolder, engine, owners } = await open();
  const add = ['schedule', 'add', 'nightly', '--cron', '0 0 1 1 *', '--tz', 'UTC', '--', 'run', 'a.csv'];
  await scene.write('a.csv', 'website\nacme.com\n');
  expect(await scene.run(add)).toMatchObject({ code: 0 });
  await ends(2, scene.run(['cancel', 'nightly']), /no run of this schedule/);
  const files = createScheduleFiles(stateFolder);
  const [state] = await createScheduleBook(engine, files).list();
  const key = state === undefined ? '' : keyOf(state);
  const owner = scheduleOwner(key);
  await engine.runs.pauseOwner({
    owner,
    label: { host: null, name: 'nightly' },
    by: 'ada@office',
    run: null,
  });
  await files.noteBegun('nightly', { job: 'tick-7', stampedAt: Date.now() });
  expect(await scene.run(['cancel', 'nightly'])).toMatchObject({ code: 0 });
  expect(await engine.runs.cancels()).toMatchObject([{ job: tickJob(key, 'tick-7') }]);
  expect(await owners()).toEqual([owner]);
});

/** Schedules in the config file: reading, and which schedules a machine changes. */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandContext } from '../../../src/app/open-stores.js';
import { silentLog } from '../../../src/core/log.js';
import { readFileSchedules, syncFileSchedules } from '../../../src/jobs/schedules/file-schedules.js';
import { keyOf } from '../../../src/jobs/schedules/schedule-book.js';
import type { Schedule } from '../../../src/jobs/schedules/schedule-files.js';
import { loadSettings } from '../../../src/settings/load-settings.js';
import { engineOfFile, schedulesOf, stop } from '../../e2e/commands.js';
import { createScene, domainList } from '../../support/scene.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { createRunnerScene } from './runner-scene.js';

const under = engineOfFile();

const PATIENCE = { timeout: 60_000, interval: 100 };

const load: CommandContext['load'] = (command, flags, env = {}) =>
  loadSettings({ flags, env, file: null, command, home: '/' });
const read = (schedules: unknown) =>
  readFileSchedules({ path: '/etc/be/config.json', values: { schedules } }, load);
const NIGHTLY = { name: 'nightly', cron: '0 2 * * *', tz: 'Europe/Berlin', run: 'a.csv -o out/{date}.csv' };

test('are read like those of the command line, with paths relative to the file', () => {
  expect(read([NIGHTLY])).toMatchObject([
    {
      name: 'nightly',
      cron: '0 2 * * *',
      tz: 'Europe/Berlin',
      line: 'run a.csv -o out/{date}.csv',
      input: '/etc/be/a.csv',
      flags: { output: '/etc/be/out/{date}.csv' },
      catchesUp: false,
      source: '/etc/be/config.json',
    },
  ]);
  const spaced = { ...NIGHTLY, run: ['my list.csv', '--max-cost', '5'], catchUp: true };
  expect(read([spaced])).toMatchObject([{ input: '/etc/be/my list.csv', catchesUp: true }]);
  expect(readFileSchedules(null, load)).toEqual([]);
  expect(read(undefined)).toEqual([]);
});

test('keep their id until they change', () => {
  const idOf = (changes: object) => read([{ ...NIGHTLY, ...changes }])[0]?.id;
  expect(idOf({})).toBe(idOf({}));
  for (const change of [{ cron: '0 3 * * *' }, { tz: 'UTC' }, { run: 'b.csv' }, { catchUp: true }])
    expect(idOf(change)).not.toBe(idOf({}));
});

test.each<[unknown, RegExp]>([
  [{}, /not a list: schedules in/],
  [[{ ...NIGHTLY, corn: 1 }], /not a schedule: schedules\[0\]/],
  [[{ ...NIGHTLY, run: "'a b.csv'" }], /not a schedule.*a list of words/],
  [[NIGHTLY, NIGHTLY], /a second schedule named nightly: schedules\[1\]/],
  [
    [{ ...NIGHTLY, cron: '9' }],
    /not a cron expression.*: cron 9 in schedules\[0\].* for example cron: '0 2 \* \* \*'$/,
  ],
  [
    [
      { ...NIGHTLY, tz: 'Mars' },
      { ...NIGHTLY, name: ' ' },
    ],
    /2 problems[\s\S]*time zone: tz Mars in[\s\S]*not a valid schedule name/,
  ],
  [[{ ...NIGHTLY, run: 'a.csv --engine embedded' }], /not a flag of a scheduled run: --engine in/],
  [
    [{ ...NIGHTLY, run: 'a.csv --base-url https://x.example --token-file t' }],
    /2 problems: --base-url, --token-file in schedules\[0\]/,
  ],
])('%o is refused', (schedules, message) => {
  expect(() => read(schedules)).toThrow(message);
});

test('are added, changed with their last runs, and removed; others with their names stay', async () => {
  const scene = await createRunnerScene(under);
  const { book, files, host } = scene;
  const folder = await temporaryFolder();
  const path = join(folder, 'config.json');
  const other = join(folder, 'other.json');
  for (const file of [path, other]) await writeFile(file, '{}');
  const all = () => files.all();
  const of = (name: string, changes: Partial<Schedule> = {}) =>
    scene.schedule(name, { source: path, id: randomBytes(4).toString('hex'), ...changes });
  const bring = async (wanted: readonly Schedule[]) =>
    syncFileSchedules(wanted, await all(), { path, host, book, log: silentLog() });
  const linesOf = async () =>
    (await all()).map(({ name, line }) => `${name.split('.').at(-1)} ${line}`).sort();

  await book.add(scene.schedule('by-hand', { line: 'by hand' }));
  await book.add(of('elsewhere', { host: 'other-host', line: 'elsewhere' }));
  await book.add(of('of-other-file', { source: other, line: 'other file' }));
  const nightly = of('nightly');
  const weekly = of('weekly');
  await bring([nightly, weekly, of('by-hand'), of('elsewhere'), of('of-other-file')]);
  const kept = ['by-hand by hand', 'elsewhere elsewhere', 'of-other-file other file'];
  expect(await linesOf()).toEqual([...kept, 'nightly run a.csv', 'weekly run a.csv'].sort());

  // The last ten runs of a schedule stay listed when it changes.
  const [listed] = (await book.list()).filter(({ name }) => name === nightly.name);
  const key = listed ? keyOf(listed) : '';
  for (let run = 1; run <= 12; run += 1) {
    const ended = { dueAt: null, startedAt: run, endedAt: run, exitCode: 0, output: null };
    await book.noteEnded(key, { ...ended, sentence: `${run}` });
  }
  await bring([of('nightly', { line: 'changed' })]);
  expect(await linesOf()).toEqual([...kept, 'nightly changed'].sort());
  const state = (await book.list()).find(({ name }) => name === nightly.name);
  expect(state?.runs.map(({ sentence }) => Number(sentence))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(state).toMatchObject({ ended: { sentence: '12' }, nextAt: expect.any(Number) });

  // The schedules of a file move with it.
  await rm(other);
  await bring([of('of-other-file', { line: 'moved' })]);
  expect(await linesOf()).toEqual(['by-hand by hand', 'elsewhere elsewhere', 'of-other-file moved']);
  await bring([]);
  expect(await linesOf()).toEqual(['by-hand by hand', 'elsewhere elsewhere']);
});

test('run with `schedule serve`, are listed, and are removed with their entry', {
  tags: ['long'],
}, async () => {
  const scene = await createScene(under, {}, domainList(10));
  const name = `file-${randomBytes(4).toString('hex')}`;
  const write = (schedules: object[]) =>
    scene.write('brand-enrich.config.json', JSON.stringify({ schedules }));
  await write([{ name, cron: '0 0 1 1 *', tz: 'UTC', run: 'list.csv -o out.csv' }]);
  const serve = async () => {
    const runner = scene.start(['schedule', 'serve']);
    await runner.untilSaid(/running this machine's schedules/);
    return runner;
  };
  const states = async () => (await schedulesOf(scene)).filter((each) => each.name === name);
  const first = await serve();
  await scene.run(['schedule', 'run-now', name]);
  await expect.poll(states, PATIENCE).toMatchObject([{ runs: [{ exitCode: 0 }] }]);
  expect(scene.service.meter.billed).toBe(10);
  const refused = await scene.run(`schedule add ${name} --cron @daily --replace -- run x.csv`.split(' '));
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/config file has a schedule/)]);
  await stop(first);

  await write([]);
  await serve();
  expect(await states()).toEqual([]);
  const own = `${name}-own`;
  const add = (cron: string, ...more: string[]) =>
    scene.run(['schedule', 'add', own, '--cron', cron, ...more, '--', 'run', 'list.csv']);
  expect((await add('0 1 * * *')).code).toBe(0);
  expect((await add('0 2 * * *', '--replace')).stdout).toMatch(/is replaced; next run \S+ 02:00:00/);
});

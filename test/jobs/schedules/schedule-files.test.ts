/** The files that define a machine's schedules: whole, private, and read as a stranger's. */
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createScheduleFiles, type Schedule } from '../../../src/jobs/schedules/schedule-files.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const NIGHTLY: Schedule = {
  name: 'nightly',
  id: 'a1',
  cron: '0 2 * * *',
  tz: 'Europe/Berlin',
  host: 'etl-1',
  line: 'run customers.csv',
  input: '/data/customers.csv',
  flags: { output: '/data/out/{date}.csv', column: ['a'], refresh: true },
  catchesUp: false,
  addedAt: 1_000,
};

async function open() {
  const state = await temporaryFolder();
  return { files: createScheduleFiles(state), folder: join(state, 'schedules'), state };
}

test('a definition is one private file of a stable shape', async () => {
  const umask = process.umask(0);
  try {
    const { files, folder } = await open();
    expect(await files.add(NIGHTLY)).toBe(true);
    expect(await files.add({ ...NIGHTLY, id: 'b2' })).toBe(false);
    expect(await files.find('nightly')).toEqual(NIGHTLY);
    const path = join(folder, 'nightly.json');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, schedule: NIGHTLY });
    await files.noteBegun('nightly', { job: 'j', stampedAt: 5 });
    await files.giveMachineId();
    expect((await readdir(folder)).sort()).toEqual(['machine-id', 'nightly.begun', 'nightly.json']);
    for (const name of await readdir(folder))
      expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await files.remove('nightly');
    expect(await files.all()).toEqual([]);
    expect(await files.begun('nightly')).toBeNull();
  } finally {
    process.umask(umask);
  }
});

test('of many that add at once one wins, and the id is given once', async () => {
  const { files, folder } = await open();
  const added = await Promise.all(
    Array.from({ length: 8 }, (_, id) => files.add({ ...NIGHTLY, id: `${id}` })),
  );
  expect(added.filter((isNew) => isNew)).toHaveLength(1);
  const ids = await Promise.all(Array.from({ length: 8 }, () => files.giveMachineId()));
  expect(new Set(ids).size).toBe(1);
  expect(await files.machineId()).toBe(ids[0]);
  expect((await readdir(folder)).sort()).toEqual(['machine-id', 'nightly.json']);
});

test('what is no definition is not there: another shape, another name, a link, a folder', async () => {
  const { files, folder, state } = await open();
  await mkdir(join(folder, 'folder.json'), { recursive: true });
  await files.add(NIGHTLY);
  const whole = await readFile(join(folder, 'nightly.json'), 'utf8');
  await writeFile(join(folder, 'other.json'), whole);
  await writeFile(join(folder, 'broken.json'), whole.slice(0, 40));
  await writeFile(join(folder, 'later.json'), whole.replace('"version": 1', '"version": 2'));
  await writeFile(join(state, 'linked.json'), whole.replaceAll('nightly', 'linked'));
  await symlink(join(state, 'linked.json'), join(folder, 'linked.json'));
  expect((await files.all()).map(({ name }) => name)).toEqual(['nightly']);
  for (const name of ['other', 'broken', 'later', 'linked', 'folder', '../linked', '', 'a/b'])
    expect([name, await files.find(name)]).toEqual([name, null]);
  await writeFile(join(folder, 'machine-id'), '../../etc');
  expect(await files.machineId()).toBeNull();
  expect(await files.giveMachineId()).toMatch(/^[0-9a-f]{16}$/);
});

test.skipIf(process.getuid?.() === 0)('a folder that takes no file is named', async () => {
  const { files, folder } = await open();
  await mkdir(folder);
  await chmod(folder, 0o500);
  await expect(files.add(NIGHTLY)).rejects.toMatchObject({ code: 'output-unwritable' });
});

test('without a schedule nothing is written', async () => {
  const { files, state } = await open();
  expect([await files.all(), await files.machineId(), await files.find('x'), await files.begun('x')]).toEqual(
    [[], null, null, null],
  );
  expect(await readdir(state)).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)(
  "another user's folder defines nothing, and takes nothing",
  async () => {
    const { files, folder } = await open();
    await files.add(NIGHTLY);
    await files.add({ ...NIGHTLY, name: 'foreign' });
    await chown(join(folder, 'foreign.json'), 65_533, 65_533);
    expect(await files.all()).toHaveLength(1);
    await files.giveMachineId();
    for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))])
      await chown(path, 65_533, 65_533);
    expect([await files.all(), await files.find('nightly'), await files.machineId()]).toEqual([
      [],
      null,
      null,
    ]);
    await expect(files.add({ ...NIGHTLY, name: 'other' })).rejects.toMatchObject({
      code: 'output-unwritable',
    });
  },
);

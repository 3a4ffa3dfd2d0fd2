import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { listWaiting } from '../../src/jobs/find-files.js';
import type { WatcherFolders } from '../../src/jobs/inbox-folders.js';
import { CRASHED } from '../../src/jobs/inbox-verdict.js';
import { arrive, queued, take } from '../../src/jobs/job-folder.js';
import { goOn, startFile } from '../../src/jobs/start-file.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { arrivedJob, JOB, NOTE, NOW, openWatcher } from './watcher-folders.js';

const LATER = NOW + 1_000;
let folders: WatcherFolders;

beforeEach(async () => {
  folders = await openWatcher();
});

/** The folder of `list.csv` that failed with these files beside it, dropped into `under`. */
async function failed(files: Record<string, string> = {}, under?: string) {
  const reason = { headline: 'The file is odd.', details: 'What to do: look.' };
  return arrivedJob(folders, { type: 'failed', reason }, files, under);
}

/** The only waiting job, with its files. */
async function waiting() {
  const [job, ...others] = await listWaiting(folders.waiting);
  if (job === undefined || others.length > 0) throw new Error('not one waiting job');
  const { folder, record, parked } = job;
  return { ...record, folder, state: parked.state, files: (await readdir(folder)).sort() };
}

it('stays the same job, waits only for its turn, and tells the watcher of this process', async () => {
  const { folder, id } = await failed({ 'list.csv.json': '{}', 'list.errors.csv': 'x' }, 'funds');
  let told = 0;
  queued.once(folders.root, () => {
    told += 1;
  });
  expect(await startFile(NO_ORDERS, folders.root, folder, LATER)).toMatchObject({ id, file: 'list.csv' });
  const job = await waiting();
  expect(told).toBe(1);
  expect(basename(job.folder)).toBe('list-2026-01-14T09-30-06Z');
  expect(job).toMatchObject({ run: null, parked: { since: LATER, state: { why: 'again' } } });
  expect(job.files).toEqual([NOTE, 'list.csv', 'list.csv.json']);
  expect(job.reason?.headline).toMatch(/tried again/);
  expect((await take(folders, job.folder))?.record).toMatchObject({ id, under: 'funds' });
  expect([await readdir(folders.inbox), await readdir(folders.failed)]).toEqual([['funds'], []]);
});

it('takes back what was ordered for it before it moves, and stays if the engine does not answer', async () => {
  const { folder, id } = await failed();
  const asked: string[] = [];
  const runs = {
    uncancelJob: async (job: string) => void asked.push(`uncancel ${job}`),
    pauses: async () => [{ owner: id, at: 7 }],
    resume: async (owner: string) => void asked.push(`resume ${owner}`),
  };
  const keyValues = { put: async (...put: string[]) => void asked.push(put.join(' ')) };
  const down = { ...runs, resume: () => Promise.reject(new Error('no engine')) };
  await expect(startFile({ runs: down, keyValues } as never, folders.root, folder, LATER)).rejects.toThrow();
  expect([await readdir(folders.failed), await readdir(folders.waiting)]).toEqual([[JOB], []]);
  asked.length = 0;
  await startFile({ runs, keyValues } as never, folders.root, folder, LATER);
  expect(asked).toEqual([`uncancel ${id}`, `resumed-files ${id} 7`, `resume ${id}`]);
  expect(await waiting()).toMatchObject({ id });
});

it('needs no record', async () => {
  const { folder } = await failed({ 'list.csv.json': '{}' });
  await rm(join(folder, NOTE));
  await startFile(NO_ORDERS, folders.root, folder, LATER);
  expect((await waiting()).files).toEqual([NOTE, 'list.csv', 'list.csv.json']);
});

it('moves once, with its own settings, however many pages start it together', async () => {
  const { folder } = await failed({ 'list.csv.json': '{"maxRequests":5}' });
  const chosen = [{ settings: { kind: 'crypto' } }, undefined, { settings: { kind: 'ticker' } }];
  const tries = await Promise.allSettled(
    chosen.map((each) => startFile(NO_ORDERS, folders.root, folder, LATER, each)),
  );
  const refused = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toEqual([expect.any(ConfigError), expect.any(ConfigError)]);
  const job = await waiting();
  const settings = JSON.parse(await readFile(join(job.folder, 'list.csv.json'), 'utf8'));
  expect(settings).toEqual({ maxRequests: 5, kind: 'crypto' });
});

it('takes what was chosen on its plan in place of its own settings, a higher cap too', async () => {
  const { folder } = await failed({ 'list.csv.json': '{"maxRequests":5,"kind":"ticker"}' });
  await startFile(NO_ORDERS, folders.root, folder, LATER, { settings: { maxRequests: '40' } });
  const settings = JSON.parse(await readFile(join((await waiting()).folder, 'list.csv.json'), 'utf8'));
  expect(settings).toEqual({ maxRequests: '40', kind: 'ticker' });
});

it('stays where it is when its own settings, which may have a cap, cannot be read', async () => {
  const { folder } = await failed();
  await symlink('elsewhere.json', join(folder, 'list.csv.json'));
  const started = startFile(NO_ORDERS, folders.root, folder, LATER, { settings: { kind: 'ticker' } });
  await expect(started).rejects.toThrow(/the settings cannot be read/);
  expect([await readdir(folders.failed), await readdir(folders.waiting)]).toEqual([[JOB], []]);
});

/** The folder of a waiting `list.csv` with these settings. */
async function parkedFor(why: 'tried' | 'limit', side = '{}') {
  const state = { why, capMark: why === 'limit' ? '5' : null };
  const end = { type: 'parked', reason: { headline: 'It waits.', details: '' }, state } as const;
  return (await arrivedJob(folders, end, { 'list.csv.json': side })).folder;
}

describe('a file that waits after its trial', () => {
  it('goes on with the rest once, as the same job, when a person says so', async () => {
    const folder = await parkedFor('tried');
    const before = await waiting();
    expect(await goOn(folders.root, folder)).toMatchObject({ file: 'list.csv', id: before.id });
    expect(await waiting()).toMatchObject({ id: before.id, state: { why: 'again' }, isTried: true });
    await expect(goOn(folders.root, folder)).rejects.toBeInstanceOf(ConfigError);
  });

  it('has its trial again when it is tried again', async () => {
    const folder = await parkedFor('tried');
    await goOn(folders.root, folder);
    const taken = await take(folders, folder);
    const end = { type: 'failed', reason: { headline: 'Cancelled.', details: '' } } as const;
    const again = taken && (await arrive(folders, taken, end, LATER));
    await startFile(NO_ORDERS, folders.root, again ?? '', LATER);
    expect(await waiting()).not.toHaveProperty('isTried');
  });
});

it('a file that ended its process waits for a person, whose word has it read alone again', async () => {
  if (CRASHED.type !== 'parked') throw new Error('not parked');
  const { folder } = await arrivedJob(folders, CRASHED);
  expect((await waiting()).state).toEqual({ why: 'crashed', capMark: null });
  await goOn(folders.root, folder);
  const record = await waiting();
  expect(record).toMatchObject({ deaths: 0, state: { why: 'again' } });
  // Its trial is to come, and too few matches hold it.
  expect(record).not.toHaveProperty('isTried');
});

describe('a file that waits at a limit', () => {
  const waits = (side: string) => parkedFor('limit', side);
  const settingsIn = async (folder: string) =>
    JSON.parse(await readFile(join(folder, 'list.csv.json'), 'utf8')) as object;

  it('goes on as the same job with the caps that a person gives it, and its other settings', async () => {
    const folder = await waits('{"maxRequests": 5, "maxCost": "2", "kind": "domain"}');
    const before = await waiting();
    const went = await goOn(folders.root, folder, { maxRequests: '9', maxCost: null });
    expect(went).toMatchObject({ id: before.id, file: 'list.csv' });
    expect(await waiting()).toMatchObject({ id: before.id, state: { why: 'again', capMark: null } });
    expect(await settingsIn(folder)).toEqual({ maxRequests: '9', kind: 'domain' });
    // It was not tried.
    expect(await waiting()).not.toHaveProperty('isTried');
  });

  it('keeps a cap that is not given', async () => {
    const folder = await waits('{"maxRequests": 5, "maxCost": "2"}');
    await goOn(folders.root, folder, { maxRequests: '9' });
    expect(await settingsIn(folder)).toEqual({ maxRequests: '9', maxCost: '2' });
  });

  it('has no settings left where its cap was the only one', async () => {
    const folder = await waits('{"maxRequests": 5}');
    await goOn(folders.root, folder, { maxRequests: null });
    expect((await waiting()).files).toEqual([NOTE, 'list.csv', 'reason.txt']);
  });

  it.each(['../../caps', '..', 'gone.csv'])('does not go on where its record names %s', async (file) => {
    const folder = await waits('{"maxRequests": 5}');
    const caps = join(folders.root, 'caps.json');
    await writeFile(caps, '{"maxRequests": 7}');
    const record = JSON.parse(await readFile(join(folder, NOTE), 'utf8')) as object;
    await writeFile(join(folder, NOTE), JSON.stringify({ ...record, file }));
    await expect(goOn(folders.root, folder, { maxRequests: null })).rejects.toBeInstanceOf(ConfigError);
    expect(await readFile(caps, 'utf8')).toBe('{"maxRequests": 7}');
    expect(await settingsIn(folder)).toEqual({ maxRequests: 5 });
  });

  it('does not go on twice, nor once a watcher has it', async () => {
    const folder = await waits('{"maxRequests": 5}');
    await goOn(folders.root, folder, { maxRequests: '9' });
    await expect(goOn(folders.root, folder, { maxRequests: '99' })).rejects.toBeInstanceOf(ConfigError);
    expect(await settingsIn(folder)).toEqual({ maxRequests: '9' });
    await take(folders, folder);
    await expect(goOn(folders.root, folder, { maxRequests: '99' })).rejects.toBeInstanceOf(ConfigError);
  });
});

it('takes along what a person put beside it', async () => {
  const { folder } = await failed({ 'my-notes.txt': 'mine' });
  await startFile(NO_ORDERS, folders.root, folder, LATER);
  expect((await waiting()).files).toContain('my-notes.txt');
});

describe('settings of the file in the inbox', () => {
  const settingsOf = async (folder: string) => readFile(join(folder, 'list.csv.json'), 'utf8');

  it('count when they are newer', async () => {
    const { folder } = await failed({ 'list.csv.json': '{"old":1}' });
    await writeFile(join(folders.inbox, 'list.csv.json'), '{"new":1}');
    await startFile(NO_ORDERS, folders.root, folder, LATER);
    expect(await settingsOf((await waiting()).folder)).toBe('{"new":1}');
    expect(await readdir(folders.inbox)).toEqual([]);
  });

  it('stay beside another file of the name, which stays as well', async () => {
    const { folder } = await failed({ 'list.csv.json': '{"old":1}' });
    await writeFile(join(folders.inbox, 'list.csv'), 'other\n');
    await writeFile(join(folders.inbox, 'list.csv.json'), '{"new":1}');
    await startFile(NO_ORDERS, folders.root, folder, LATER);
    expect(await settingsOf((await waiting()).folder)).toBe('{"old":1}');
    expect(await settingsOf(folders.inbox)).toBe('{"new":1}');
    expect(await readFile(join(folders.inbox, 'list.csv'), 'utf8')).toBe('other\n');
  });
});

it.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
  [
    'is a link',
    (folder) => rm(join(folder, 'list.csv')).then(() => symlink('/etc/passwd', join(folder, 'list.csv'))),
    /it is not a file/,
  ],
  ['is unclear', (at) => Promise.all([rm(join(at, NOTE)), writeFile(join(at, 'b.csv'), '')]), /unclear/],
  ['was in a folder that is gone', () => rm(join(folders.inbox, 'funds'), { recursive: true }), /is gone/],
  [
    'was in a folder that is a link now',
    async () => {
      await rm(join(folders.inbox, 'funds'), { recursive: true });
      await symlink(await temporaryFolder(), join(folders.inbox, 'funds'));
    },
    /is gone/,
  ],
  [
    'names another folder in a forged record',
    async (folder) => {
      const forged = { id: 'j-0000000000000001', run: null, file: '../../x', under: '..' };
      await writeFile(join(folder, NOTE), JSON.stringify({ ...forged, reason: null, parked: null }));
      await rm(join(folder, 'list.csv'));
    },
    /unclear/,
  ],
])('a file that %s stays', async (_, change, why) => {
  const { folder } = await failed({}, 'funds');
  await change(folder);
  await expect(startFile(NO_ORDERS, folders.root, folder, LATER)).rejects.toThrow(why);
  expect([await readdir(folders.failed), await readdir(folders.waiting)]).toEqual([[JOB], []]);
});

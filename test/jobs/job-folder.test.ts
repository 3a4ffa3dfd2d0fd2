/** The moves of a job, each atomic, and which of several watchers gets it. */
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { listWaiting } from '../../src/jobs/find-files.js';
import { lookAt, type SeenFile } from '../../src/jobs/inbox-file.js';
import { type InboxFolders, openFolders, type WatcherFolders } from '../../src/jobs/inbox-folders.js';
import {
  arrive,
  claim,
  derivedId,
  failUnclear,
  type Job,
  putBack,
  readRecord,
  take,
  writeRecord,
} from '../../src/jobs/job-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { JOB, NOTE, NOW, openWatcher } from './watcher-folders.js';

const REASON = { headline: 'It waits.', details: 'Do nothing.' };
const PARKED = { type: 'parked', reason: REASON, state: { why: 'throttled', capMark: null } } as const;
let folders: WatcherFolders;
let others: WatcherFolders;

beforeEach(async () => {
  folders = await openWatcher();
  others = await watcher(folders, 'two');
});

async function watcher(opened: InboxFolders, name: string): Promise<WatcherFolders> {
  const own = join(opened.processing, name);
  await mkdir(own);
  return { ...opened, own };
}

async function drop(name: string, content = 'website\na.com\n'): Promise<SeenFile> {
  await writeFile(join(folders.inbox, name), content);
  const seen = await lookAt(join(folders.inbox, name));
  if (seen === null) throw new Error('not dropped');
  return seen;
}

async function claimed(name = 'list.csv'): Promise<Job> {
  const job = await claim(folders, await drop(name), NOW);
  if (job === null) throw new Error('not claimed');
  return job;
}

describe('claiming', () => {
  it('moves the settings of one file with it, also to another watcher and to the waiting files', async () => {
    await mkdir(join(folders.inbox, 'funds'));
    const seen = { ...(await drop('funds/list.csv')), under: 'funds' };
    await drop('funds/list.csv.json', '{}');
    const job = await claim(folders, seen, NOW);
    if (job === null) throw new Error('not claimed');
    expect((await readdir(job.folder)).sort()).toEqual([NOTE, 'list.csv', 'list.csv.json']);
    expect(await readdir(join(folders.inbox, 'funds'))).toEqual([]);
    const taken = await take(others, job.folder);
    expect(taken?.file).toBe('list.csv');
    if (taken) await putBack(folders, taken, NOW);
    const [waits = ''] = await readdir(folders.waiting);
    expect((await readdir(join(folders.waiting, waits))).sort()).toEqual([NOTE, 'list.csv', 'list.csv.json']);
  });

  it('gives a file to exactly one of two watchers', async () => {
    const seen = await drop('list.csv');
    const jobs = await Promise.all([claim(folders, seen, NOW), claim(others, seen, NOW)]);
    expect(jobs.filter((job) => job !== null)).toHaveLength(1);
    expect([...(await readdir(folders.own)), ...(await readdir(others.own))]).toEqual([JOB]);
    expect(await readdir(folders.inbox)).toEqual([]);
  });

  it('returns a file that changed after it was inspected to the inbox, with its settings', async () => {
    const seen = await drop('list.csv');
    await drop('list.csv', 'website\na.com\nb.com\n');
    await drop('list.csv.json', '{}');
    expect(await claim(folders, seen, NOW)).toBeNull();
    expect(await readFile(join(folders.inbox, 'list.csv'), 'utf8')).toContain('b.com');
    expect((await readdir(folders.inbox)).sort()).toEqual(['list.csv', 'list.csv.json']);
    expect(await readdir(folders.own)).toEqual([]);
  });
});

describe('the id of a job', () => {
  it('is made when the file is taken, and is another one for each file', async () => {
    const { record, folder } = await claimed();
    expect(record).toMatchObject({ id: expect.stringMatching(/^j-[0-9a-f]{16}$/), run: null });
    expect(await readRecord(folder)).toEqual(record);
    expect((await claimed()).record.id).not.toBe(record.id);
  });

  it('stays with a file that goes back, wherever a watcher is killed on its way', async () => {
    const job = await claimed();
    await putBack(folders, job, NOW);
    const waits = async () =>
      (await listWaiting(folders.waiting)).map(({ record, parked }) => [record.id, parked.state.why]);
    expect(await waits()).toEqual([[job.record.id, 'again']]);
    const taken = await take(others, join(folders.waiting, JOB));
    expect(taken?.record.id).toBe(job.record.id);
    // Killed after it wrote the record, and before the folder moved.
    const left = await take(folders, taken?.folder ?? '');
    expect(left?.record).toMatchObject({ id: job.record.id, parked: { state: { why: 'again' } } });
    if (left) await putBack(folders, left, NOW + 1);
    expect(await waits()).toEqual([[job.record.id, 'again']]);
    expect([await readdir(folders.inbox), await readdir(folders.own)]).toEqual([[], []]);
  });
});

describe('finishing', () => {
  it('numbers jobs with the same name and time', async () => {
    const names: (string | null)[] = [];
    for (let times = 0; times < 3; times += 1) {
      names.push(await arrive(folders, await claimed(), { type: 'done' }, NOW));
    }
    expect(names).toEqual([JOB, `${JOB}-2`, `${JOB}-3`].map((name) => join(folders.done, name)));
    expect(await readdir(join(folders.done, JOB))).toEqual([NOTE, 'list.csv']);
  });

  it('writes a reason for waiting and failed jobs, and removes it from finished ones', async () => {
    const job = await claimed();
    await arrive(folders, job, PARKED, NOW);
    expect(await listWaiting(folders.waiting)).toMatchObject([
      { parked: { state: PARKED.state }, record: { reason: REASON } },
    ]);
    expect(await readFile(join(folders.waiting, JOB, 'reason.txt'), 'utf8')).toBe(
      'It waits.\n\nDo nothing.\n',
    );
    const again = await take(folders, join(folders.waiting, JOB));
    expect(again?.record).toMatchObject({
      reason: REASON,
      parked: { at: NOW, since: NOW, state: PARKED.state },
    });
    if (again) await arrive(folders, again, { type: 'done' }, NOW + 1_000);
    const done = join(folders.done, JOB.replace('05Z', '06Z'));
    expect((await readdir(done)).sort()).toEqual([NOTE, 'list.csv']);
    expect(await readRecord(done)).toMatchObject({ id: job.record.id, reason: null });
  });

  it('reports that the job was taken over meanwhile', async () => {
    const job = await claimed();
    await rename(job.folder, join(others.own, JOB));
    expect(await arrive(folders, job, { type: 'done' }, NOW)).toBeNull();
    expect(await readdir(folders.done)).toEqual([]);
  });
});

describe('a file that goes back', () => {
  it('stands beside another one of its name that was dropped meanwhile', async () => {
    const job = await claimed();
    await drop('list.csv', 'other\n');
    await putBack(folders, job, NOW);
    expect(await readFile(join(folders.inbox, 'list.csv'), 'utf8')).toBe('other\n');
    expect(await readFile(join(folders.waiting, JOB, 'list.csv'), 'utf8')).toBe('website\na.com\n');
  });

  it('keeps one folder and the time of the first wait through all retries', async () => {
    await arrive(folders, await claimed(), PARKED, NOW);
    for (let tries = 1; tries <= 3; tries += 1) {
      const job = await take(folders, join(folders.waiting, JOB));
      if (job) await arrive(folders, job, PARKED, NOW + tries);
    }
    const job = await take(folders, join(folders.waiting, JOB));
    if (job) await putBack(folders, job, NOW + 9);
    const waiting = await listWaiting(folders.waiting);
    expect(waiting.map(({ parked: { since, at } }) => [since, at])).toEqual([[NOW, NOW + 3]]);
  });

  it('is still suspected when it goes back after a watcher died while it read the file', async () => {
    const job = await claimed();
    await writeRecord(job.folder, { ...job.record, deaths: 2 });
    await putBack(folders, job, NOW);
    expect(await readRecord(join(folders.waiting, JOB))).toMatchObject({ deaths: 2 });
  });

  it('has its turn after others when a watcher died while it read the file', async () => {
    for (const [name, deaths] of Object.entries({ 'c.csv': 2, 'b.csv': 0, 'a.csv': undefined })) {
      const job = await claimed(name);
      await writeRecord(job.folder, { ...job.record, deaths });
      await putBack(folders, job, NOW);
    }
    expect((await listWaiting(folders.waiting)).map(({ file }) => file)).toEqual(['a.csv', 'b.csv', 'c.csv']);
  });

  it('is suspected of nothing when it waits after it was read', async () => {
    const job = await claimed();
    await writeRecord(job.folder, { ...job.record, deaths: 2 });
    await arrive(folders, job, PARKED, NOW);
    expect(await readRecord(join(folders.waiting, JOB))).not.toHaveProperty('deaths');
  });
});

describe('taking over', () => {
  it('gives a job to exactly one of two watchers', async () => {
    const { folder } = await claimed();
    const third = await watcher(folders, 'three');
    const jobs = await Promise.all([take(others, folder), take(third, folder)]);
    expect(jobs.filter((job) => job !== null).map((job) => job?.file)).toEqual(['list.csv']);
  });

  it.each([
    ['damaged', '{"fi'],
    ['empty', ''],
    [
      'forged, since orders stand under ids of jobs',
      '{"id":"schedule:nightly","run":"r-1","file":"list.csv","reason":null,"parked":null}',
    ],
  ])('leaves a file whose record is %s to a person, who finds it by its name', async (_, record) => {
    const { folder } = await claimed();
    for (const name of ['list.enriched.partial.csv', 'list.errors.csv', 'list.report.json', 'reason.txt'])
      await writeFile(join(folder, name), 'x');
    await writeFile(join(folder, NOTE), record);
    expect(await take(others, folder)).toBeNull();
    const failed = join(folders.failed, JOB);
    expect(await readFile(join(failed, 'reason.txt'), 'utf8')).toMatch(/unclear which file/);
    expect(await readRecord(failed)).toMatchObject({ id: derivedId(failed), file: 'list.csv', run: null });
  });

  it('removes a folder whose watcher was killed before the file was moved into it', async () => {
    const folder = join(folders.own, 'early');
    await mkdir(folder);
    await writeRecord(folder, {
      id: 'j-0000000000000001',
      run: null,
      file: 'list.csv',
      reason: null,
      parked: null,
    });
    expect(await take(others, folder)).toBeNull();
    expect(await readdir(others.own)).toEqual([]);
  });

  it('fails a waiting folder without a record once nobody is copying into it', async () => {
    await arrive(folders, await claimed(), PARKED, NOW);
    const odd = join(folders.waiting, 'by hand');
    await mkdir(odd);
    for (const name of ['a.csv', 'b.csv']) await writeFile(join(odd, name), 'x');
    const { mtimeMs = 0 } = (await lookAt(odd)) ?? {};
    const unclear: string[] = [];
    await listWaiting(folders.waiting, unclear);
    expect(unclear).toEqual([odd]);
    expect(await failUnclear(folders, odd, mtimeMs + 59_000)).toBe(false);
    expect(await failUnclear(folders, join(folders.waiting, JOB), mtimeMs + 120_000)).toBe(false);
    expect(await failUnclear(folders, odd, mtimeMs + 120_000)).toBe(true);
    expect(await readdir(folders.waiting)).toEqual([JOB]);
    expect(await readFile(join(folders.failed, 'by hand', 'reason.txt'), 'utf8')).toMatch(
      /unclear which file/,
    );
  });
});

it('refuses a link in place of one of the five folders', async () => {
  const root = await temporaryFolder();
  await symlink(folders.done, join(root, 'done'));
  await expect(openFolders(root)).rejects.toThrow('a folder of the inbox cannot be used');
});

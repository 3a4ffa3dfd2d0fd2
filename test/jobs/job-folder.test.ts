/** The moves of a job, each atomic, and which of several watchers gets it. */
import { link, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { lookAt, type SeenFile } from '../../src/jobs/inbox-file.js';
import { type InboxFolders, openFolders, type WatcherFolders } from '../../src/jobs/inbox-folders.js';
import {
  arrive,
  claim,
  type Job,
  listWaiting,
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

/** The folder of the job in the other watcher. */
async function reclaimed({ folder, file }: Job): Promise<Pick<Job, 'folder' | 'path'>> {
  const moved = join(others.own, basename(folder));
  return { folder: moved, path: join(moved, file) };
}

describe('claiming', () => {
  it('moves the file into a job folder', async () => {
    const job = await claimed();
    expect(basename(job.folder)).toBe(JOB);
    expect(await readFile(job.path, 'utf8')).toBe('website\na.com\n');
    expect(await readdir(folders.inbox)).toEqual([]);
  });

  it('moves the settings of one file with it, and puts both back into their folder', async () => {
    await mkdir(join(folders.inbox, 'funds'));
    const seen = { ...(await drop('funds/list.csv')), under: 'funds' };
    await drop('funds/list.csv.json', '{}');
    const job = await claim(folders, seen, NOW);
    if (job === null) throw new Error('not claimed');
    expect((await readdir(job.folder)).sort()).toEqual([NOTE, 'list.csv', 'list.csv.json']);
    expect(await readdir(join(folders.inbox, 'funds'))).toEqual([]);
    // Another watcher takes it over, even without a readable note.
    await writeFile(join(job.folder, NOTE), '');
    expect((await take(others, job.folder))?.file).toBe('list.csv');
    expect(await putBack(folders, { ...job, ...(await reclaimed(job)) })).toBe(true);
    expect((await readdir(join(folders.inbox, 'funds'))).sort()).toEqual(['list.csv', 'list.csv.json']);
  });

  it('gives a file to exactly one of two watchers', async () => {
    const seen = await drop('list.csv');
    const jobs = await Promise.all([claim(folders, seen, NOW), claim(others, seen, NOW)]);
    expect(jobs.filter((job) => job !== null)).toHaveLength(1);
    expect([...(await readdir(folders.own)), ...(await readdir(others.own))]).toEqual([JOB]);
  });

  it('returns a file that changed after it was inspected', async () => {
    const seen = await drop('list.csv');
    await drop('list.csv', 'website\na.com\nb.com\n');
    expect(await claim(folders, seen, NOW)).toBeNull();
    expect(await readFile(join(folders.inbox, 'list.csv'), 'utf8')).toContain('b.com');
    expect(await readdir(folders.own)).toEqual([]);
  });
});

describe('the id of a job', () => {
  const again = async (name = 'list.csv') => {
    const seen = await lookAt(join(folders.inbox, name));
    const job = seen && (await claim(others, seen, NOW + 60_000));
    return job?.record.id;
  };

  it('is made when the file is taken, and is another one for each file', async () => {
    const { record, folder } = await claimed();
    expect(record).toMatchObject({ id: expect.stringMatching(/^j-[0-9a-f]{16}$/), run: null });
    expect(await readRecord(folder)).toEqual(record);
    expect((await claimed()).record.id).not.toBe(record.id);
  });

  it('stays while the file goes back to the inbox and is taken again', async () => {
    const { record, ...job } = await claimed();
    expect(await putBack(folders, { record, ...job })).toBe(true);
    expect(await readdir(folders.inbox)).toEqual(['list.csv']);
    expect(await again()).toBe(record.id);
    expect(await readdir(join(folders.root, '.placed'))).toEqual([]);
  });

  it('is new for another file of the name, and for the same one dropped again later', async () => {
    const first = await claimed();
    await putBack(folders, first);
    await drop('list.csv', 'website\nb.com\n');
    const second = await again();
    expect(second).not.toBe(first.record.id);
    const third = await claimed();
    const { mtimeMs = 0 } = (await lookAt(third.path)) ?? {};
    await putBack(folders, third);
    const seen = await lookAt(join(folders.inbox, 'list.csv'));
    const job = seen && (await claim(folders, seen, NOW));
    if (job === null) throw new Error('not claimed');
    expect(job.record.id).toBe(third.record.id);
    await arrive(folders, job, { type: 'failed', reason: REASON }, NOW);
    await drop('list.csv');
    await utimes(join(folders.inbox, 'list.csv'), mtimeMs / 1_000, mtimeMs / 1_000);
    expect(await again()).not.toBe(third.record.id);
  });

  it('is not lost where it cannot be kept: the file stays in its folder then', async () => {
    const job = await claimed();
    await symlink(folders.done, join(folders.root, '.placed'));
    expect(await putBack(folders, job)).toBe(false);
    expect([await readdir(folders.inbox), await readdir(folders.done)]).toEqual([[], []]);
    expect((await take(others, job.folder))?.record.id).toBe(job.record.id);
  });

  it('is not that of a file that changed while it was taken', async () => {
    const first = await claimed();
    await putBack(folders, first);
    const seen = await lookAt(join(folders.inbox, 'list.csv'));
    await drop('list.csv', 'website\nchanged.com\n');
    expect(seen && (await claim(folders, seen, NOW))).toBeNull();
    expect(await again()).not.toBe(first.record.id);
  });

  it('stays with a file whose watcher was killed while it put it back', async () => {
    const job = await claimed();
    const { record } = job;
    // Killed before it left its own folder: the file has two names.
    await putBack(folders, job);
    await mkdir(job.folder);
    await writeRecord(job.folder, record);
    await link(join(folders.inbox, 'list.csv'), job.path);
    expect(await take(others, job.folder)).toBeNull();
    expect(await readdir(others.own)).toEqual([]);
    expect(await again()).toBe(record.id);
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
      { state: PARKED.state, headline: 'It waits.' },
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

describe('returning a file', () => {
  it('leaves none of our files behind', async () => {
    const job = await claimed();
    await writeFile(join(job.folder, 'list.enriched.partial.csv'), 'x');
    expect(await putBack(folders, job)).toBe(true);
    expect(await readdir(folders.inbox)).toEqual(['list.csv']);
    expect(await readdir(folders.own)).toEqual([]);
  });

  it('never replaces a file that was dropped meanwhile', async () => {
    const job = await claimed();
    await drop('list.csv', 'other\n');
    expect(await putBack(folders, job)).toBe(false);
    expect(await readFile(join(folders.inbox, 'list.csv'), 'utf8')).toBe('other\n');
    expect(await readFile(job.path, 'utf8')).toBe('website\na.com\n');
  });

  it('keeps one folder and the time of the first wait through all retries', async () => {
    await arrive(folders, await claimed(), PARKED, NOW);
    for (let tries = 1; tries <= 3; tries += 1) {
      const job = await take(folders, join(folders.waiting, JOB));
      if (job) await arrive(folders, job, PARKED, NOW + tries);
    }
    const waiting = await listWaiting(folders.waiting);
    expect(waiting.map(({ waitingSince, parkedAt }) => [waitingSince, parkedAt])).toEqual([[NOW, NOW + 3]]);
  });

  it('waits for the account when its record was lost', async () => {
    const folder = await arrive(folders, await claimed(), PARKED, NOW);
    await writeFile(join(folder ?? '', NOTE), '{"fi');
    const state = { why: 'limit', capMark: null };
    expect(await listWaiting(folders.waiting)).toMatchObject([{ file: 'list.csv', state, headline: null }]);
  });

  it('stays in processing when a watcher died while it read the file', async () => {
    const job = await claimed();
    expect(await putBack(folders, { ...job, record: { ...job.record, deaths: 0 } })).toBe(false);
    expect([await readdir(folders.own), await readdir(folders.inbox)]).toEqual([[JOB], []]);
  });

  it('is suspected of nothing when it waits after it was read', async () => {
    const job = await claimed();
    await writeRecord(job.folder, { ...job.record, deaths: 2 });
    await arrive(folders, job, PARKED, NOW);
    expect(await readRecord(join(folders.waiting, JOB))).not.toHaveProperty('deaths');
  });

  it('returns a parked job to waiting unchanged', async () => {
    await arrive(folders, await claimed(), PARKED, NOW);
    const job = await take(folders, join(folders.waiting, JOB));
    if (job) expect(await putBack(folders, job)).toBe(true);
    expect(await readdir(folders.waiting)).toEqual([JOB]);
    expect(await readdir(folders.inbox)).toEqual([]);
  });
});

describe('taking over', () => {
  it('gives a job to exactly one of two watchers', async () => {
    const { folder } = await claimed();
    const third = await watcher(folders, 'three');
    const jobs = await Promise.all([take(others, folder), take(third, folder)]);
    expect(jobs.filter((job) => job !== null).map((job) => job?.file)).toEqual(['list.csv']);
  });

  it('identifies the original when the note is damaged', async () => {
    const { folder } = await claimed();
    for (const name of ['list.enriched.partial.csv', 'list.errors.csv', 'list.report.json', 'reason.txt'])
      await writeFile(join(folder, name), 'x');
    await writeFile(join(folder, NOTE), '{"fi');
    expect((await take(others, folder))?.file).toBe('list.csv');
  });

  it('removes a folder whose watcher was killed before the file was moved into it', async () => {
    const folder = join(folders.own, 'early');
    await mkdir(folder);
    await writeRecord(folder, { id: 'j-1', run: null, file: 'list.csv', reason: null, parked: null });
    expect(await take(others, folder)).toBeNull();
    expect(await readdir(others.own)).toEqual([]);
  });

  it('keeps a folder in which it cannot identify the original', async () => {
    const folder = join(folders.own, 'odd');
    await mkdir(folder);
    for (const name of ['a.csv', 'b.csv']) await writeFile(join(folder, name), 'x');
    expect(await take(others, folder)).toBeNull();
    expect((await readdir(join(folders.failed, 'odd'))).sort()).toEqual(['a.csv', 'b.csv', 'reason.txt']);
  });
});

it('refuses a link in place of one of the five folders', async () => {
  const root = await temporaryFolder();
  await symlink(folders.done, join(root, 'done'));
  await expect(openFolders(root)).rejects.toThrow('a folder of the inbox cannot be used');
});

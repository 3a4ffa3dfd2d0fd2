/** Jobs that ended: which folder a run has, what may be opened, and failed files. */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFileFinder, endedAtOf, openJobFile } from '../../src/jobs/find-files.js';
import type { WatcherFolders } from '../../src/jobs/inbox-folders.js';
import { arrive, CANCELLED, type JobReason, take, typeOf } from '../../src/jobs/job-folder.js';
import { dismiss, startFile } from '../../src/jobs/start-file.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { arrivedJob, JOB, NOTE, NOW, openWatcher } from './watcher-folders.js';

let folders: WatcherFolders;

beforeEach(async () => {
  folders = await openWatcher();
});

const ODD = { headline: 'The file is odd.', details: 'What to do: look.' };

/** A job of `list.csv` that arrived in a place, dropped into `under` if given. */
async function arrived(
  place: 'done' | 'failed',
  files: Record<string, string> = {},
  under?: string,
  reason: JobReason = ODD,
) {
  const end = place === 'failed' ? { type: place, reason } : { type: place };
  return (await arrivedJob(folders, end, files, under)).folder;
}

const find = ({ id, job }: { id: string; job: string }) => createFileFinder([folders.root]).find(job, id);

describe('the folder of a run', () => {
  /** The record in a folder, with this run as its latest. */
  async function noteRun(folder: string, run: string): Promise<string> {
    const record = JSON.parse(await readFile(join(folder, NOTE), 'utf8'));
    await writeFile(join(folder, NOTE), JSON.stringify({ ...record, run }));
    return record.id;
  }

  it('has the result of the run, complete or partial, or none', async () => {
    const done = await noteRun(await arrived('done', { 'list.enriched.csv': 'x' }), 'r-1');
    const partial = { 'list.enriched.partial.csv': 'x', 'list.errors.csv': 'y' };
    const failed = await noteRun(await arrived('failed', partial), 'r-2');
    const bare = await noteRun(await arrived('failed'), 'r-3');
    const label = { host: 'etl-1', name: 'list.csv' };
    const runs = [done, failed, bare, 'j-none'].map((job, at) => ({ id: `r-${at + 1}`, job, label }));
    const results = await createFileFinder([folders.root]).results(runs);
    expect([...results]).toEqual([
      ['r-1', 'output'],
      ['r-2', 'partial'],
    ]);
  });

  it('is found by the record in it, whatever the file and the reports there are called', async () => {
    await arrived('done', { 'list.report.json': '{}' });
    const results = { 'list.report.json': '{}', 'list.report.html': '<p>' };
    const folder = await arrived('done', { ...results, 'list.enriched.csv': 'x', 'list.errors.csv': 'yz' });
    const job = await noteRun(folder, 'r-1');
    await rename(folder, join(folders.done, 'renamed by a person'));
    const found = await find({ id: 'r-1', job });
    const moved = {
      place: 'done',
      folder: join(folders.done, 'renamed by a person'),
      file: 'list.csv',
      runId: 'r-1',
    };
    expect(found).toMatchObject({ inbox: 0, ...moved });
    expect(found?.files.map(({ name, type, size }) => [type, name, size])).toEqual([
      ['page', 'list.report.html', 3],
      ['output', 'list.enriched.csv', 1],
      ['errors', 'list.errors.csv', 2],
      ['report', 'list.report.json', 2],
      ['original', 'list.csv', 14],
    ]);
  });

  it('is that of its job, which later starts share', async () => {
    const folder = await arrived('failed');
    const job = await noteRun(folder, 'r-2');
    expect(await find({ id: 'r-1', job })).toMatchObject({ place: 'failed', runId: 'r-2' });
    const copy = join(folders.done, 'copy');
    await cp(folder, copy, { recursive: true });
    await noteRun(copy, 'r-1');
    expect(await find({ id: 'r-2', job })).toMatchObject({ place: 'failed' });
    expect(await find({ id: 'r-1', job })).toMatchObject({ place: 'done', folder: copy });
    // For any other run, or no run, the folder in the first place counts.
    const record = JSON.parse(await readFile(join(copy, NOTE), 'utf8'));
    await writeFile(join(copy, NOTE), JSON.stringify({ ...record, run: null }));
    const finder = createFileFinder([folders.root]);
    for (const run of [null, 'r-9']) expect(await finder.find(job, run)).toMatchObject({ place: 'failed' });
  });

  it('is looked for again when it has moved', async () => {
    const finder = createFileFinder([await temporaryFolder(), folders.root]);
    const folder = await arrived('failed');
    const job = await noteRun(folder, 'r-1');
    expect(await finder.find(job)).toMatchObject({ inbox: 1, place: 'failed' });
    await rename(folder, join(folders.done, basename(folder)));
    expect(await finder.find(job)).toMatchObject({ place: 'done' });
    await rm(join(folders.done, basename(folder)), { recursive: true });
    expect(await finder.find(job)).toBeNull();
  });

  it('has its file while it moves', async () => {
    const folder = await arrived('done');
    const job = await noteRun(folder, 'r-1');
    const places = [join(folders.waiting, 'moving'), join(folders.done, 'moving')];
    let at = folder;
    for (let look = 0; look < 100; look += 1) {
      const next = places[look % 2] ?? '';
      const finding = find({ id: 'r-1', job });
      for (let turn = 0; turn < look % 25; turn += 1) await nextTurn();
      await rename(at, next);
      expect(await finding, `${look}`).toMatchObject({ id: job, file: 'list.csv' });
      at = next;
    }
  });

  it('is none for a run that has no files here, and none outside the inbox', async () => {
    const folder = await arrived('done');
    const job = await noteRun(folder, 'r-1');
    expect(await find({ id: 'r-1', job: 'r-1' })).toBeNull();
    const elsewhere = join(await temporaryFolder(), JOB);
    await rename(folder, elsewhere);
    await symlink(elsewhere, join(folders.done, JOB));
    expect(await find({ id: 'r-1', job })).toBeNull();
    await rm(join(folders.root, 'done'), { recursive: true });
    await symlink(join(elsewhere, '..'), join(folders.root, 'done'));
    expect(await find({ id: 'r-1', job })).toBeNull();
  });

  it('is found without reading a record that is a link or no record', async () => {
    const folder = await arrived('done');
    const job = await noteRun(folder, 'r-1');
    const away = join(await temporaryFolder(), 'note');
    await rename(join(folder, NOTE), away);
    await symlink(away, join(folder, NOTE));
    expect(await find({ id: 'r-1', job })).toBeNull();
    await rm(join(folder, NOTE));
    await writeFile(join(folder, NOTE), '{"id":');
    expect(await find({ id: 'r-1', job })).toBeNull();
  });

  it.each([
    [JOB, NOW],
    [`${JOB}-12`, NOW],
    ['list', 0],
    ['list-2026-99-14T09-30-05Z', 0],
  ])('%s says when the job ended', (name, at) => {
    expect(endedAtOf(name)).toBe(at);
  });
});

it.each([
  ['x.enriched.csv', 'x.enriched.csv', 'original'],
  ['x.enriched.enriched.csv', 'x.enriched.csv', 'output'],
  ['a.enriched.partial.csv.gz', null, 'partial'],
  ['a.errors.xlsx', null, 'errors'],
  ['a.differences.csv', null, 'differences'],
  ['a.differences.partial.csv', null, 'differences'],
  ['a.report.html', null, 'page'],
  ['reason.txt', null, 'reason'],
  ['notes.txt', 'a.csv', 'other'],
])('%s beside %s is its %s', (name, original, type) => {
  expect(typeOf(name, original)).toBe(type);
});

describe('a file of a job', () => {
  const foundDone = async (folder: string) => {
    const { id } = JSON.parse(await readFile(join(folder, NOTE), 'utf8'));
    return createFileFinder([folders.root]).find(id);
  };

  it('is listed and opened only if it is a regular file of its own folder', async () => {
    const folder = await arrived('done', { 'list.enriched.csv': 'x' });
    const secret = join(await temporaryFolder(), 'secret.txt');
    await writeFile(secret, 'secret');
    await symlink(secret, join(folder, 'list.errors.csv'));
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    await mkdir(join(folder, 'more'));
    await writeFile(join(folder, '.hidden'), 'x');
    const job = await foundDone(folder);
    if (job === null) throw new Error('no job');
    expect(job.files.map(({ name }) => name)).toEqual(['list.enriched.csv', 'list.csv']);
    for (const name of ['list.errors.csv', 'pipe.csv', 'more', '../../done', 'gone.csv', secret])
      expect(await openJobFile(job, { name, type: 'other', size: 1 }), name).toBeNull();
    const opened = await openJobFile(job, { name: 'list.enriched.csv', type: 'output', size: 1 });
    expect(opened?.size).toBe(1);
    await opened?.handle.close();
  });

  it('is not opened when its folder has become a link since it was listed', async () => {
    const folder = await arrived('done', { 'list.enriched.csv': 'x' });
    const job = await foundDone(folder);
    const elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere, 'list.csv'), 'secret');
    await rm(folder, { recursive: true });
    await symlink(elsewhere, folder);
    const file = job?.files.find(({ name }) => name === 'list.csv');
    if (!job || !file) throw new Error('not listed');
    expect(await openJobFile(job, file)).toBeNull();
  });
});

describe('a failed file', () => {
  it('is listed with its reason, the newest first', async () => {
    const folder = await arrived('failed');
    await rename(folder, join(folders.failed, 'list-2026-01-13T09-30-05Z'));
    await arrived('failed');
    await mkdir(join(folders.failed, 'by-hand'));
    const [listed] = await createFileFinder([folders.root]).listFailed();
    expect(listed).toMatchObject({ count: 3, cancelled: 0 });
    expect(listed?.files).toMatchObject([
      { file: 'list.csv', folder: join(folders.failed, JOB), endedAt: NOW, reason: ODD },
      { folder: join(folders.failed, 'list-2026-01-13T09-30-05Z') },
      {
        file: null,
        folder: join(folders.failed, 'by-hand'),
        endedAt: 0,
        reason: { headline: '', details: '' },
      },
    ]);
  });

  it('that a person cancelled is counted as such, listed or not', async () => {
    const reason = { headline: 'It was cancelled.', details: '', code: CANCELLED };
    for (let count = 0; count < 22; count += 1) await arrived('failed', {}, undefined, reason);
    await arrived('failed');
    const list = createFileFinder([folders.root]).listFailed;
    const [listed] = await list();
    expect([listed?.count, listed?.cancelled, listed?.files.length]).toEqual([23, 22, 20]);
    await rm(join(folders.failed, JOB), { recursive: true });
    expect(await list()).toMatchObject([{ count: 22, cancelled: 21 }]);
  });

  it('that a person put away is listed and counted no longer, until it fails again', async () => {
    const { folder, id } = await arrivedJob(folders, { type: 'failed', reason: ODD }, {});
    const list = createFileFinder([folders.root]).listFailed;
    expect(await list()).toMatchObject([{ count: 1, files: [{ file: 'list.csv' }] }]);
    expect(await dismiss(folder)).toBe('list.csv');
    expect(await list()).toEqual([{ count: 0, cancelled: 0, files: [] }]);
    expect((await find({ id: '', job: id }))?.reason).toEqual(ODD);
    await startFile(NO_ORDERS, folders.root, folder, NOW);
    const job = await take(folders, join(folders.waiting, JOB));
    expect(job?.record.id).toBe(id);
    if (job) await arrive(folders, job, { type: 'failed', reason: ODD }, NOW);
    expect(await list()).toMatchObject([{ count: 1 }]);
  });
});

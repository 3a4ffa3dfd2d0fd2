/** Folders of a watcher, and jobs of `list.csv` in them, without a process. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lookAt } from '../../src/jobs/inbox-file.js';
import { openFolders, type WatcherFolders } from '../../src/jobs/inbox-folders.js';
import { arrive, claim, newJobId, writeRecord } from '../../src/jobs/job-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export const NOW = Date.UTC(2026, 0, 14, 9, 30, 5);
/** The name of the folder of a `list.csv` that arrived now. */
export const JOB = 'list-2026-01-14T09-30-05Z';
export const NOTE = '.brand-enrich-job.json';
export const CONTENT = 'website\na.com\n';

/** A new inbox, and the folder of one watcher in it. */
export async function openWatcher(): Promise<WatcherFolders> {
  const opened = await openFolders(await temporaryFolder());
  const own = join(opened.processing, 'one');
  await mkdir(own);
  return { ...opened, own };
}

/** A job that ended like this with these files beside it, dropped into `under`. */
export async function arrivedJob(
  folders: WatcherFolders,
  end: Parameters<typeof arrive>[2],
  files: Readonly<Record<string, string>> = {},
  under?: string,
) {
  await mkdir(join(folders.inbox, under ?? ''), { recursive: true });
  const from = join(folders.inbox, under ?? '', 'list.csv');
  await writeFile(from, CONTENT);
  const seen = await lookAt(from);
  const job = seen && (await claim(folders, { ...seen, under }, NOW));
  if (!job) throw new Error('not claimed');
  for (const [name, text] of Object.entries(files)) await writeFile(join(job.folder, name), text);
  const folder = await arrive(folders, job, end, NOW);
  if (folder === null) throw new Error('not arrived');
  return { folder, id: job.record.id };
}

/** Makes the folder of a job with its file, `list.csv` unless the record names another. */
export async function putJob(
  folder: string,
  parts: Partial<Parameters<typeof writeRecord>[1]> = {},
  content = 'x',
): Promise<void> {
  const record = { id: newJobId(), run: null, file: 'list.csv', reason: null, parked: null, ...parts };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, record.file), content);
  await writeRecord(folder, record);
}

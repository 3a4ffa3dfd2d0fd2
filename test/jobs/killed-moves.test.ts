/**
 * Each arrow of a job's way (`src/jobs/job-folder.ts`), killed between any two of its steps: the
 * file is in one place, comes back once, and is new only if it never left the inbox.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createFileFinder } from '../../src/jobs/find-files.js';
import { lookAt } from '../../src/jobs/inbox-file.js';
import type { WatcherFolders } from '../../src/jobs/inbox-folders.js';
import { claim, take } from '../../src/jobs/job-folder.js';
import { startFile } from '../../src/jobs/start-file.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { arrivedJob, CONTENT, NOW, openWatcher } from './watcher-folders.js';

/** Kills its process before the change of the file system that has the number `STEPS`. */
const killed = (script: string) => `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
let left = Number(process.env.STEPS);
for (const name of ['rename', 'rm', 'writeFile', 'link', 'mkdir', 'chmod']) {
  const real = fs.promises[name];
  fs.promises[name] = async (...args) => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();
const [jobs, starting] = await Promise.all(JSON.parse(process.env.MODULES).map((path) => import(path)));
const [folders, given, now] = JSON.parse(process.env.GIVEN);
${script}
`;

const MODULES = ['job-folder', 'start-file'].map(
  (name) => pathToFileURL(resolve(`dist/src/jobs/${name}.js`)).href,
);
const SETTINGS = '{"maxRequests":5}';

interface Arrow {
  /** Brings a file to its start; what the script is given, and the id that the file must keep. */
  readonly begin: (folders: WatcherFolders) => Promise<{ given: unknown; id: string | null }>;
  readonly script: string;
  /** Does the rest of the way after a kill, if the file is still at the start of it. */
  readonly again: (folders: WatcherFolders) => Promise<unknown>;
}

const REASON = { headline: 'Odd.', details: '' };

async function dropped(folders: WatcherFolders) {
  await writeFile(join(folders.inbox, 'list.csv.json'), SETTINGS);
  await writeFile(join(folders.inbox, 'list.csv'), CONTENT);
  const seen = await lookAt(join(folders.inbox, 'list.csv'));
  if (seen === null) throw new Error('not dropped');
  return seen;
}

const ARROWS: Readonly<Record<string, Arrow>> = {
  'taken from the inbox': {
    begin: async (folders) => ({ given: await dropped(folders), id: null }),
    script: 'await jobs.claim(folders, given, now);',
    again: async (folders) => {
      const seen = await lookAt(join(folders.inbox, 'list.csv'));
      return seen && claim(folders, seen, NOW);
    },
  },
  'put back': {
    begin: async (folders) => {
      const job = await claim(folders, await dropped(folders), NOW);
      return { given: job, id: job?.record.id ?? '' };
    },
    script: 'await jobs.putBack(folders, given, now);',
    again: async () => undefined,
  },
  'a draft that is started': {
    begin: async (folders) => {
      const body = (async function* () {
        yield Buffer.from(CONTENT);
      })();
      const uploads = createUploads([folders.root], { now: () => NOW }, async () => undefined);
      const { id, folder } = await uploads.receive({ inbox: 0, name: 'export', length: null }, body);
      return { given: folder, id };
    },
    script: `await starting.startFile({}, folders.root, given, now, {
      name: 'list.csv', settings: ${SETTINGS}, by: 'Ada' });`,
    again: async ({ root }) => {
      const [draft] = await createFileFinder([root]).listDrafts();
      const start = { name: 'list.csv', settings: JSON.parse(SETTINGS) };
      return draft && startFile(NO_ORDERS, root, draft.folder, NOW, start);
    },
  },
  'a failed file that is tried again': {
    begin: async (folders) => {
      const files = { 'list.csv.json': SETTINGS, 'list.errors.csv': 'x' };
      const { folder: given, id } = await arrivedJob(folders, { type: 'failed', reason: REASON }, files);
      return { given, id };
    },
    script: `const runs = { uncancelJob() {}, pauses: () => [], resume() {} };
      await starting.startFile({ runs }, folders.root, given, now, { settings: { kind: 'crypto' } });`,
    again: async (folders) => {
      const [name] = await readdir(folders.failed);
      if (name !== undefined) await startFile(NO_ORDERS, folders.root, join(folders.failed, name), NOW);
    },
  },
};

/** Paths of all files with the content of the original, relative to the watched folder. */
async function originals({ root }: WatcherFolders): Promise<string[]> {
  const names = await readdir(root, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  return files.filter((_, at) => texts[at] === CONTENT);
}

/** What a watcher that starts now finds of jobs, wherever the killed one left them. */
async function found(folders: WatcherFolders) {
  const own = join(folders.processing, 'two');
  await mkdir(own);
  const left = [folders.own, folders.waiting].map(async (place) =>
    (await readdir(place)).map((name) => join(place, name)),
  );
  const jobs = [];
  for (const folder of (await Promise.all(left)).flat()) jobs.push(await take({ ...folders, own }, folder));
  return jobs.filter((job) => job !== null);
}

it.each(Object.entries(ARROWS))('%s', async (_, { begin, script, again }) => {
  let isKilled = true;
  let steps = 0;
  for (; isKilled; steps += 1) {
    const folders = await openWatcher();
    const { given, id } = await begin(folders);
    const GIVEN = JSON.stringify([folders, given, NOW]);
    const env = { ...process.env, MODULES: JSON.stringify(MODULES), STEPS: String(steps), GIVEN };
    isKilled = await new Promise<boolean>((ended, failing) =>
      execFile(process.execPath, ['--input-type=module', '-e', killed(script)], { env }, (error) =>
        error === null || error.signal === 'SIGKILL' ? ended(error !== null) : failing(error),
      ),
    );
    expect(await originals(folders)).toHaveLength(1);
    await again(folders);
    const [job, ...others] = await found(folders);
    expect([others, await readdir(folders.inbox)]).toEqual([[], []]);
    expect(job).toMatchObject({ file: 'list.csv', ...(id !== null && { record: { id } }) });
    expect(await originals(folders)).toEqual([job?.path]);
    expect(JSON.parse(await readFile(`${job?.path}.json`, 'utf8'))).toMatchObject({ maxRequests: 5 });
  }
  expect(steps).toBeGreaterThan(3);
});

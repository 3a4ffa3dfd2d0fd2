/** When a file in the inbox is complete. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { lookAt, type SeenFile } from '../../src/jobs/inbox-file.js';
import { createInboxFiles, createSettledFiles, withSideFiles } from '../../src/jobs/inbox-files.js';
import type { WatcherFolders } from '../../src/jobs/inbox-folders.js';
import { claim, putBack } from '../../src/jobs/job-folder.js';
import { keptJob, placeInInbox } from '../../src/jobs/placed-files.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { openWatcher } from './watcher-folders.js';

const SETTLE_MS = 2_000;

function seen(name: string, size: number, more: Partial<SeenFile> = {}): SeenFile {
  return { name, size, mtimeMs: 1, ino: 1, kind: 'file', ...more };
}

/** Looks at one file, as in `0, 1500 size 20`; returns when it was ready. */
function readyAt(looks: string): number | null {
  const files = createSettledFiles(SETTLE_MS);
  for (const look of looks.split(', ')) {
    const [now, of = '', value] = look.split(' ');
    const file = seen('a.csv', 10, { [of]: Number(value) });
    if (files.look([file], Number(now)).ready.length > 0) return Number(now);
  }
  return null;
}

describe('a file', () => {
  it.each<[string, string, number | null]>([
    ['is ready after it was unchanged for long enough', '0, 1999, 2000', 2_000],
    ['is not ready at the first look, however old it is', '0', null],
    ['that grows starts the wait anew', '0, 1500 size 20, 2500 size 20, 4500 size 20', 4_500],
    ['that was rewritten with the same size starts the wait anew', '0, 1000 mtimeMs 2, 2500 mtimeMs 2', null],
    ['that was replaced by another file starts the wait anew', '0, 1000 ino 2, 2500 ino 2', null],
    ['that is empty has a longer wait', '0 size 0, 9999 size 0, 10000 size 0', 10_000],
    ['that paused as it grew waits twice that pause', '0, 1800 size 20, 5300 size 20, 5400 size 20', 5_400],
    ['that grows fast waits as usual', '0, 1000 size 20, 1900 size 30, 3800 size 30, 3900 size 30', 3_900],
  ])('%s', (_, looks, expected) => {
    expect(readyAt(looks)).toBe(expected);
  });

  it('is returned in the order in which files stopped changing, with the time of the next poll', () => {
    const files = createSettledFiles(SETTLE_MS);
    files.look([seen('late.csv', 1)], 0);
    files.look([seen('late.csv', 2), seen('early.csv', 1)], 500);
    files.look([seen('late.csv', 3), seen('early.csv', 1)], 900);
    const { ready, nextAt } = files.look([seen('late.csv', 3), seen('early.csv', 1)], 2_500);
    expect(ready.map(({ name }) => name)).toEqual(['early.csv']);
    expect(nextAt).toBe(2_900);
  });

  it('that is gone is forgotten', () => {
    const files = createSettledFiles(SETTLE_MS);
    files.look([seen('a.csv', 1)], 0);
    expect(files.look([], 1_000)).toEqual({ ready: [], nextAt: null });
    expect(files.look([seen('a.csv', 1)], 2_000).ready).toEqual([]);
  });
});

describe('settings of one file', () => {
  const namesOf = (files: readonly SeenFile[]) => files.map(({ name, under }) => `${under ?? ''}/${name}`);

  it('are never enriched, and their file waits until they are complete', () => {
    const list = seen('list.csv', 10);
    const side = seen('list.csv.json', 2);
    const elsewhere = seen('list.csv', 10, { under: 'funds' });
    const json = seen('list.json', 10);
    expect(namesOf(withSideFiles([list, side, elsewhere, json], [list, elsewhere, json]))).toEqual([
      'funds/list.csv',
      '/list.json',
    ]);
    expect(namesOf(withSideFiles([list, side, elsewhere], [list, side, elsewhere]))).toEqual([
      '/list.csv',
      'funds/list.csv',
    ]);
    expect(withSideFiles([side], [side])).toEqual([]);
  });
});

describe('a file that we placed', () => {
  const log = silentLog();
  let folders: WatcherFolders;
  /** Names that one look finds complete, where others would wait for an hour. */
  const ready = async () => {
    const files = createInboxFiles(folders.inbox, { settleMs: 3_600_000, log });
    return (await files.look(0)).ready.map(({ name }) => name);
  };

  beforeEach(async () => {
    folders = await openWatcher();
  });

  it('is taken at once when it was sent, with its settings', async () => {
    await writeFile(join(folders.inbox, 'dropped.csv'), 'a.com\n');
    const uploads = createUploads([folders.root], { now: () => 0 }, async () => undefined);
    const body = (async function* () {
      yield Buffer.from('a.com\n');
    })();
    const sent = await uploads.receive({ inbox: 0, name: 'sent.csv', length: null }, body);
    expect(await uploads.start(sent, 'sent.csv', { kind: 'domain' })).toBe('sent.csv');
    expect(await ready()).toEqual(['sent.csv']);
    // A person writes to it: then it is like any other.
    await appendFile(join(folders.inbox, 'sent.csv.json'), ' ');
    expect(await ready()).toEqual([]);
  });

  it('is known before it is there: a watcher may take it at any moment', async () => {
    const [from, side] = [join(folders.root, 'a.csv'), join(folders.root, 'side')];
    for (const path of [from, side]) await writeFile(path, '{}\n');
    const placing = placeInInbox(folders.root, { name: 'a.csv', from, side, id: 'j-1' });
    let seen: SeenFile | null = null;
    while (seen === null) seen = await lookAt(join(folders.inbox, 'a.csv'));
    expect(await keptJob(folders.root, seen)).toBe('j-1');
    expect(await placing).toBe('placed');
  });

  it('is taken at once when it was put back, and keeps its job then', async () => {
    await writeFile(join(folders.inbox, 'list.csv'), 'a.com\n');
    const claimed = async () => {
      const seen = await lookAt(join(folders.inbox, 'list.csv'));
      const job = seen && (await claim(folders, seen, 0));
      if (!job) throw new Error('not claimed');
      return job;
    };
    const first = await claimed();
    expect(await putBack(folders, first)).toBe(true);
    expect(await ready()).toEqual(['list.csv']);
    const again = await claimed();
    expect(again.record.id).toBe(first.record.id);
    expect(await putBack(folders, again)).toBe(true);
    await writeFile(join(folders.inbox, 'list.csv'), 'b.com\n');
    expect(await ready()).toEqual([]);
  });
});

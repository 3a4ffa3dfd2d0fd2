/** When a file in the inbox is complete. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import type { SeenFile } from '../../src/jobs/inbox-file.js';
import { createInboxFiles, createSettledFiles, withSideFiles } from '../../src/jobs/inbox-files.js';
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
    expect(files.look([], 1_000)).toEqual({ ready: [], nextAt: Number.POSITIVE_INFINITY });
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

it('a look takes time in step with the files: 4,000 take seconds, not minutes', async () => {
  const folders = await openWatcher();
  const files = createInboxFiles(folders.inbox, { settleMs: 0, log: silentLog() });
  for (let nth = 0; nth < 4_000; nth += 1) await writeFile(join(folders.inbox, `${nth}.csv`), '');
  const before = process.cpuUsage();
  expect((await files.look(0)).ready).toHaveLength(4_000);
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
});

describe('a name that is not UTF-8', () => {
  it('is written as it is shown, never over another file, so that its file can be taken', async () => {
    const folders = await openWatcher();
    const files = createInboxFiles(folders.inbox, { settleMs: 0, log: silentLog() });
    const odd = Buffer.concat([
      Buffer.from(`${folders.inbox}/caf`),
      Buffer.from([0xe9]),
      Buffer.from('.csv'),
    ]);
    await writeFile(odd, 'a.com\n');
    await writeFile(join(folders.inbox, 'good.csv'), 'b.com\n');
    await files.look(0);
    expect((await readdir(folders.inbox)).sort()).toEqual(['caf\ufffd.csv', 'good.csv']);
    await writeFile(odd, 'c.com\n');
    const { ready } = await files.look(1);
    expect(ready.map(({ name }) => name).sort()).toEqual(['caf\ufffd.csv', 'good.csv']);
    expect(await readFile(join(folders.inbox, 'caf\ufffd.csv'), 'utf8')).toBe('a.com\n');
    expect(await readdir(folders.inbox)).toHaveLength(3);
  });
});

/** "Discard all": the sent files that the page showed, none that came later or were started. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { discardAllAction } from '../../src/dashboard/sent-files.js';
import { createFileFinder } from '../../src/jobs/find-files.js';
import { DRAFTS_FOLDER } from '../../src/jobs/job-folder.js';
import { startFile } from '../../src/jobs/start-file.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW } from './views.js';

it('discards after a question, and keeps what came later or was started', async () => {
  const root = await temporaryFolder();
  for (const place of ['inbox', 'waiting']) await mkdir(join(root, place));
  const uploads = createUploads([root], { now: () => NOW });
  const send = (name: string) =>
    uploads.receive({ inbox: 0, name, length: null }, Readable.from([Buffer.from('x\n')]));
  const finder = createFileFinder([root]);
  const [started] = [await send('started.csv'), await send('a.csv'), await send('b.csv')];
  const [last] = await finder.listDrafts();
  const fields = new URLSearchParams({ until: String(last?.changedAt) });
  const later = await send('later.csv');
  await startFile(NO_ORDERS, root, started.folder, NOW, { settings: {}, by: 'Ada' });

  const { ask, carryOut } = discardAllAction(finder);
  const asked = { user: 'Ada', id: '', fields };
  expect(await ask?.(asked)).toEqual({
    title: 'Discard 2 files?',
    lines: ['They were sent and not started: b.csv, a.csv.'],
    yes: 'Discard all',
    isFinal: true,
  });
  expect(await finder.listDrafts()).toHaveLength(3);
  expect((await carryOut(asked)).sentence).toBe('2 files were discarded.');
  expect(await finder.listDrafts()).toMatchObject([later]);
  expect(await readdir(join(root, DRAFTS_FOLDER))).toHaveLength(1);
  expect(await readdir(join(root, 'waiting'))).toEqual([expect.stringMatching(/^started-/)]);
  // Without the moment, and once more, nothing is meant.
  for (const each of [new URLSearchParams(), fields])
    expect((await carryOut({ ...asked, fields: each })).sentence).toBe('0 files were discarded.');
  expect(await finder.listDrafts()).toMatchObject([later]);
});

/** "Discard all": the sent files that the page showed, none that came later or were started. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { discardAllAction } from '../../src/dashboard/upload-card.js';
import { createUploads, UPLOADS_FOLDER } from '../../src/jobs/uploads.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW } from './views.js';

it('discards after a question, and keeps what came later or was started', async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, 'inbox'));
  let now = NOW;
  const uploads = createUploads([root], { now: () => now });
  const send = async (name: string) => {
    now += 1_000;
    return uploads.receive({ inbox: 0, name, length: null }, Readable.from([Buffer.from('x\n')]));
  };
  const [started] = [await send('started.csv'), await send('a.csv'), await send('b.csv')];
  const fields = new URLSearchParams({ until: String(now) });
  const later = await send('later.csv');
  await uploads.start(started, 'started.csv', {});

  const { ask, carryOut } = discardAllAction(uploads);
  const asked = { user: 'Ada', params: {}, fields };
  expect(await ask?.(asked)).toEqual({
    title: 'Discard 2 files?',
    lines: ['They were sent and not started: b.csv, a.csv.'],
    yes: 'Discard all',
  });
  expect(uploads.list()).toHaveLength(3);
  expect((await carryOut(asked)).sentence).toBe('2 files were discarded.');
  expect(uploads.list()).toEqual([later]);
  expect(await readdir(join(root, UPLOADS_FOLDER))).toHaveLength(1);
  expect(await readdir(join(root, 'inbox'))).toContain('started.csv');
  // Without the moment, and once more, nothing is meant.
  for (const each of [new URLSearchParams(), fields])
    expect((await carryOut({ ...asked, fields: each })).sentence).toBe('0 files were discarded.');
  expect(uploads.list()).toEqual([later]);
});

/**
 * The process's end of the database thread, when that one is away.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findTemplate } from '../../../src/engine/embedded/database-template.js';
import { openEmbeddedDatabase } from '../../../src/engine/embedded/embedded-database.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

async function open(lookMs: number) {
  const dataFolder = join(await temporaryFolder(), 'database');
  const database = await openEmbeddedDatabase({ dataFolder, templateFile: findTemplate() }, { lookMs });
  onTestFinished(() => database.close());
  return database;
}

test('a thread that answers nothing any more is ended: what was asked fails, and whoever has it open is told', async () => {
  const database = await open(10);
  expect(database.lost.aborted).toBe(false);
  const endless = database.query('SELECT count(*) FROM generate_series(1, 1000000000000)');
  await expect(endless).rejects.toMatchObject({
    code: 'engine-unfit',
    message: expect.stringMatching(/disk/),
  });
  expect(database.lost.aborted).toBe(true);
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'engine-unfit' });
});

test('one that has nothing to do is silent and well', async () => {
  const database = await open(1);
  // More looks than an open question would survive.
  for (let look = 0; look < 60; look += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  await database.query('SELECT pg_sleep(0)');
  expect(database.lost.aborted).toBe(false);
});

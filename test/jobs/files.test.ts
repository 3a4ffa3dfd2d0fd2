/** What happens to dropped files of every kind. */
import { appendFile, mkdir, open, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeXlsx } from 'hucre/xlsx';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { engineOfFile, expectPaidOnce, stop } from '../e2e/commands.js';
import { readRows } from '../support/output-files.js';
import { domainAt, domainList } from '../support/scene.js';
import { zipOf } from '../support/workbooks.js';
import { createInboxScene, readReason } from './inbox-scene.js';

const engine = engineOfFile();

test('moves a dropped file with its results into one folder in done, also with Unicode names and repeated names', async () => {
  const scene = await createInboxScene(engine);
  await mkdir(scene.path('inbox'));
  await scene.drop('Kunden Größe 顧客 🎈.csv', domainList(20));
  const watcher = await scene.watch();
  const [first = ''] = await scene.until('done', 1);
  expect(basename(first)).toMatch(/^Kunden Größe 顧客 🎈-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/);
  // The hidden record stays with the files.
  await expect
    .poll(async () => (await readdir(first)).sort())
    .toEqual(
      [
        '.brand-enrich-job.json',
        'Kunden Größe 顧客 🎈.csv',
        'Kunden Größe 顧客 🎈.enriched.csv',
        'Kunden Größe 顧客 🎈.report.html',
        'Kunden Größe 顧客 🎈.report.json',
      ].sort(),
    );
  expect(await readFile(join(first, 'Kunden Größe 顧客 🎈.csv'), 'utf8')).toBe(domainList(20));
  const report = JSON.parse(await readFile(join(first, 'Kunden Größe 顧客 🎈.report.json'), 'utf8'));
  expect(report.files.output).toBe('Kunden Größe 顧客 🎈.enriched.csv');

  const page = await readFile(join(first, 'Kunden Größe 顧客 🎈.report.html'), 'utf8');
  expect(page).toContain(`href="./${encodeURIComponent('Kunden Größe 顧客 🎈.enriched.csv')}"`);
  expect(page).not.toContain(scene.path(''));

  await scene.drop('list.csv', domainList(20));
  await scene.drop('Kunden Größe 顧客 🎈.csv', domainList(30));
  await scene.until('done', 3);
  await scene.drop('list.csv', domainList(40));
  const all = await scene.until('done', 4);
  expect(all.filter((path) => basename(path).startsWith('list-'))).toHaveLength(2);
  expectPaidOnce(scene.service.meter, 40);
  expect(await scene.list('inbox')).toEqual([]);
  await stop(watcher);
  expect(await scene.list('processing')).toEqual([]);
});

test('enriches a file with the longest name that a file system takes', async () => {
  const scene = await createInboxScene(engine);
  const name = `${'ä'.repeat(125)}a.csv`;
  expect(Buffer.byteLength(name)).toBe(255);
  await mkdir(scene.path('inbox'));
  await writeFile(join(scene.path('inbox'), name), domainList(3));
  const watcher = await scene.watch();
  const [done = ''] = await scene.until('done', 1);
  await expect.poll(() => readdir(done)).toContain(name);
  await stop(watcher);
});

test('enriches workbooks, Parquet files, JSON arrays and archives, and keeps their format', async () => {
  const scene = await createInboxScene(engine);
  await scene.watch();
  const sites = Array.from({ length: 5 }, (_, at) => domainAt(at));
  const rows = [['website'], ...sites.map((site) => [site])];
  await scene.drop(
    'book.xlsx',
    Buffer.from((await writeXlsx({ sheets: [{ name: 'S', rows }] })) as Uint8Array),
  );
  await scene.drop(
    'table.parquet',
    Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'website', data: sites }] })),
  );
  await scene.drop('array.json', JSON.stringify(sites.map((website) => ({ website }))));
  await scene.drop('archive.zip', await zipOf({ 'list.csv': domainList(5) }));
  const done = await scene.until('done', 4);
  const results = await Promise.all(
    done.map(async (folder) => (await readdir(folder)).filter((name) => name.includes('.enriched.'))),
  );
  expect(results.flat()).toEqual([
    'archive.enriched.csv',
    'array.enriched.json',
    'book.enriched.xlsx',
    'table.enriched.parquet',
  ]);
  expect(scene.service.meter.billed).toBe(5);
});

test('moves unreadable files to failed with a reason, refuses links, and leaves unfinished files alone', async () => {
  const scene = await createInboxScene(engine);
  await scene.write('beside.csv', domainList(1));
  const watcher = await scene.watch();
  await watcher.untilSaid(/"files":\["beside\.csv"\].*not in the inbox/);
  const odd = Buffer.concat([Buffer.from(scene.path('inbox/caf')), Buffer.from([0xe9]), Buffer.from('.csv')]);
  await writeFile(odd, domainList(1));
  await scene.drop('photo.csv', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  await scene.drop('empty.csv', '');
  await scene.drop('colours.csv', 'red,green\n1,2\n');
  await writeFile(scene.path('secret.csv'), domainList(3));
  await symlink(scene.path('secret.csv'), join(scene.path('inbox'), 'link.csv'));
  for (const name of ['a.csv.part', 'b.csv.tmp', 'c.csv.crdownload', '~$d.csv', '.e.csv']) {
    await writeFile(join(scene.path('inbox'), name), domainList(3));
  }
  await mkdir(join(scene.path('inbox'), 'folder.csv'));
  await scene.drop('good.csv', domainList(3));
  const done = await scene.until('done', 2);
  expect(done.map((path) => basename(path).replace(/-2.*/, ''))).toEqual(['caf\ufffd', 'good']);
  const failed = await scene.until('failed', 4);
  const reasonOf = (start: string) =>
    readReason(failed.find((path) => basename(path).startsWith(start)) ?? '');
  expect(await reasonOf('photo-')).toMatch(
    /^This is a picture, not a table: photo\.csv is a PNG image\.\n\nWhat to do: .*\n\nNothing was spent\./,
  );
  expect(await reasonOf('empty-')).toMatch(/^This file is empty: empty\.csv/);
  expect(await reasonOf('colours-')).toMatch(
    /save this line, with the name and kind of your column, as colours\.csv\.json .*\n\n\{"column":"NAME:KIND"\}\n/,
  );
  expect(await reasonOf('link-')).toMatch(/symbolic link/);
  expect(await readFile(scene.path('secret.csv'), 'utf8')).toBe(domainList(3));
  expect((await scene.list('inbox')).sort()).toEqual(
    ['.e.csv', 'a.csv.part', 'b.csv.tmp', 'c.csv.crdownload', 'folder.csv', '~$d.csv'].sort(),
  );
  expect(scene.service.meter.billed).toBe(3);
});

test('leaves a file alone while it is copied, in pieces or by a program that pauses', async () => {
  const scene = await createInboxScene(engine);
  await scene.watchAlone('--poll', '100ms', '--settle', '500ms');
  const [header = '', ...lines] = domainList(12).trimEnd().split('\n');
  const pieces = join(scene.path('inbox'), 'pieces.csv');
  const paused = join(scene.path('inbox'), 'paused.csv');
  const writer = await open(paused, 'w');
  await writer.write(`${[header, ...lines.slice(0, 3)].join('\n')}\n`);
  await writeFile(pieces, `${header}\n`);
  // The small file is complete from the start and shows the watcher's progress: the other grows
  // until it is done.
  await scene.drop('whole.csv', domainList(1));
  let written = 0;
  for (; (await scene.list('done')).length === 0; written += 1) {
    await appendFile(pieces, `${lines[written % lines.length]}\n`);
    // The pace of a slow program, well below what counts as the end.
    await sleep(20);
  }
  expect(await scene.list('inbox')).toContain('pieces.csv');
  // Unchanged for long enough, but still open in another program.
  const first = await scene.until('done', process.platform === 'linux' ? 2 : 3);
  const grown = first.find((path) => basename(path).startsWith('pieces')) ?? '';
  expect(await readRows(join(grown, 'pieces.enriched.csv'))).toHaveLength(written);
  if (process.platform === 'linux') expect(await scene.list('inbox')).toEqual(['paused.csv']);
  await writer.write(`${lines.slice(3).join('\n')}\n`);
  await writer.close();
  const all = await scene.until('done', 3);
  const other = all.find((path) => basename(path).startsWith('paused')) ?? '';
  expect(await readRows(join(other, 'paused.enriched.csv'))).toHaveLength(12);
});

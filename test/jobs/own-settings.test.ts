/** Settings of folders below the inbox, and of one file. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { engineOfFile, stop } from '../e2e/commands.js';
import { createInboxScene, readReason } from './inbox-scene.js';

const engine = engineOfFile();

test('a folder below the inbox and one file have settings; invalid ones fail that file', {
  tags: ['long'],
}, async () => {
  const scene = await createInboxScene(engine);
  const { meter } = scene.service;
  const watcher = await scene.watch();
  await mkdir(join(scene.path('inbox'), 'funds'));
  await mkdir(join(scene.path('inbox'), 'other'));
  await writeFile(scene.path('brand-enrich.json'), '{"column": "site:domain", "maxRequests": 1}');
  await writeFile(join(scene.path('inbox'), 'funds', 'brand-enrich.json'), '{"column": "parent:domain"}');
  await writeFile(join(scene.path('inbox'), 'other', 'list.csv'), 'site\nother.com\n');
  await scene.drop('own.csv.json', '{"prefix": "x_", "column": "parent:domain", "maxRequests": 50}');
  await scene.drop('wrong.csv.json', '{"colum": "parent"}');
  await scene.drop('wrong.csv', 'site\nnever.com\n');
  await scene.drop('lonely.csv.json', '{}');
  await writeFile(join(scene.path('inbox'), 'funds', 'list.csv'), 'site,parent\na.com,b.com\n');
  await scene.drop('own.csv', 'site,parent\na.com,d.com\n');

  const done = await scene.until('done', 2);
  const asked = () => meter.requests.map(({ identifier }) => identifier).sort();
  expect(asked()).toEqual(['domain:b.com', 'domain:d.com']);
  const own = done.find((path) => basename(path).startsWith('own-')) ?? '';
  expect((await readdir(own)).sort()).toEqual([
    '.brand-enrich-job.json',
    'own.csv',
    'own.csv.json',
    'own.enriched.csv',
    'own.report.html',
    'own.report.json',
  ]);
  expect(await readFile(join(own, 'own.enriched.csv'), 'utf8')).toContain('x_status');
  const [failed = ''] = await scene.until('failed', 1);
  expect(await readReason(failed)).toMatch(/No such setting.*colum in wrong\.csv\.json/);
  expect(await readdir(failed)).toContain('wrong.csv.json');
  // Settings without a file, and folders without settings, are ignored.
  expect(await scene.list('inbox')).toEqual(['funds', 'lonely.csv.json', 'other']);
  await watcher.untilSaid(/lonely\.csv\.json.*wait for the file that they are named after/);

  // The cap of the watched folder also applies below it: the rest waits.
  await writeFile(join(scene.path('inbox'), 'funds', 'more.csv'), 'parent\ne.com\nf.com\n');
  await scene.until('waiting', 1);
  expect(meter.billed).toBe(3);
  await stop(watcher);
});

test('in the inbox itself, a file of the name of the settings is a file like any other', async () => {
  const scene = await createInboxScene(engine);
  const watcher = await scene.watch();
  await scene.drop('brand-enrich.json', '[{"website": "a.com", "maxRequests": 0}]');
  const [done = ''] = await scene.until('done', 1);
  expect(await readdir(done)).toContain('brand-enrich.json');
  await scene.drop('list.csv', 'website\nb.com\n');
  await scene.until('done', 2);
  expect(scene.service.meter.billed).toBe(2);
  await stop(watcher);
});

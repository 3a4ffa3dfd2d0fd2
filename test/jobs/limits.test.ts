/**
 * What stops files: quota, caps of the folder, wrong settings, refused credentials, a missing
 * folder.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { listWaiting } from '../../src/jobs/find-files.js';
import { ends, engineOfFile, expectPaidOnce } from '../e2e/commands.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { domainAt, domainList } from '../support/scene.js';
import { newToken } from '../support/service-options.js';
import { createInboxScene, readReason } from './inbox-scene.js';

const engine = engineOfFile();

// A look for the own domain counts until it is proven free, which takes two quiet minutes.
test.each([
  { flags: [], looks: 0 },
  { flags: ['--own-domain', 'brandfetch.com'], looks: 1 },
])(
  'a file that runs out of quota waits with its partial result, and finishes when the quota is raised ($flags)',
  async ({ flags, looks }) => {
    const scene = await createInboxScene(engine, { quota: 20 });
    const { meter, options } = scene.service;
    await scene.watch(...flags);
    await scene.drop('list.csv', domainList(50));
    const [waiting = ''] = await scene.until('waiting', 1);
    expect(await readdir(waiting)).toEqual(
      expect.arrayContaining(['list.csv', 'list.enriched.partial.csv', 'list.errors.csv', 'reason.txt']),
    );
    expect(await readReason(waiting)).toMatch(/^The quota is used up\.\n\nThis file is not finished yet\. /);
    expect(await listWaiting(dirname(waiting))).toMatchObject([
      { record: { reason: { headline: 'The quota is used up.' } } },
    ]);
    expect(countStatuses(await readRows(join(waiting, 'list.enriched.partial.csv'))).deferred).toBe(
      30 + looks,
    );
    expect(meter.billed).toBe(20 - looks);

    options.quota = 1_000;
    const [done = ''] = await scene.until('done', 1);
    expect((await readdir(done)).sort()).toEqual([
      '.brand-enrich-job.json',
      'list.csv',
      'list.enriched.csv',
      'list.report.html',
      'list.report.json',
    ]);
    expectPaidOnce(meter, 50);
    expect(await scene.list('waiting')).toEqual([]);
  },
);

test('while the quota is used up, fully stored files are finished, and the others send hardly any requests', async () => {
  const scene = await createInboxScene(engine, { quota: 10 });
  const { meter } = scene.service;
  await scene.watch();
  await scene.drop('first.csv', domainList(10));
  await scene.until('done', 1);
  for (let index = 0; index < 12; index += 1) {
    await scene.drop(`more-${index}.csv`, `website\n${domainAt(index, 'more')}\n`);
  }
  await scene.drop('again.csv', domainList(10));
  await scene.until('waiting', 12);
  await scene.until('done', 2);
  expect(meter.billed).toBe(10);
  expect(meter.requests.length).toBeLessThanOrEqual(12);
});

test('brand-enrich.json is read for each file: column, fields and a cap; a raised cap lets the file continue', async () => {
  const scene = await createInboxScene(engine);
  const { meter } = scene.service;
  const say = (settings: object) =>
    writeFile(scene.path('brand-enrich.json'), JSON.stringify(settings)).then(() => undefined);
  await say({ column: 'two:domain', fields: ['name'], maxRequests: 5 });
  await scene.watch();
  const rows = Array.from({ length: 8 }, (_, index) => `${domainAt(index, 'a')},${domainAt(index, 'b')}`);
  await scene.drop('pairs.csv', `one,two\n${rows.join('\n')}\n`);
  const [waiting = ''] = await scene.until('waiting', 1);
  expect(await readReason(waiting)).toContain('cap of 5 paid lookups is reached');
  const partial = await readFile(join(waiting, 'pairs.enriched.partial.csv'), 'utf8');
  expect(partial.split('\n', 1)[0]).toMatch(/^one,two,.*brand_name/);
  expect(partial).not.toContain('brand_industry');
  expect([...meter.billedOf.keys()].every((key) => key.startsWith('domain:b-'))).toBe(true);
  expect(meter.billed).toBe(5);

  await say({ column: 'two:domain', fields: ['name'], maxRequests: 50 });
  await scene.until('done', 1);
  expect(meter.billed).toBe(8);
});

test('refused credentials end the watcher with 4; no file is lost', async () => {
  const scene = await createInboxScene(engine);
  await mkdir(scene.path('inbox'));
  for (let index = 0; index < 8; index += 1)
    await scene.drop(`list-${index}.csv`, domainList(5, `list${index}`));
  const watcher = scene.startHere(['watch', '.', '--settle', '200ms'], { BRAND_API_TOKEN: newToken() });
  const { stderr } = await ends(4, watcher.done);
  expect(stderr).toContain('refuses the credentials');
  expect([...(await scene.list('inbox')), ...(await scene.list('waiting'))]).toHaveLength(8);
  expect(await scene.list('processing')).toEqual([]);
  expect(scene.service.meter.requests.length).toBeLessThanOrEqual(4);
});

test('the watcher waits for a missing inbox folder, and continues when it is back', async () => {
  const scene = await createInboxScene(engine);
  await mkdir(scene.path('share'));
  const watcher = scene.startHere(['watch', 'share', '--settle', '200ms']);
  await watcher.untilSaid(/watching the inbox/);
  await rename(scene.path('share'), scene.path('unplugged'));
  await watcher.untilSaid(/the inbox is closed/);
  await rename(scene.path('unplugged'), scene.path('share'));
  await writeFile(join(scene.path('share'), 'inbox', 'list.csv'), domainList(4));
  await expect
    .poll(() => readdir(scene.path('share/done')), { timeout: 30_000, interval: 50 })
    .toHaveLength(1);
});

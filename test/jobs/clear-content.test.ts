/** Files with unambiguous content work without settings. */
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { engineOfFile } from '../e2e/commands.js';
import { isKnown } from '../support/brand-profile.js';
import { domainAt } from '../support/scene.js';
import { createInboxScene, readReason, stopWatcher } from './inbox-scene.js';

const engine = engineOfFile();

const all = Array.from({ length: 200 }, (_, index) => domainAt(index));
const known = all.filter((domain) => isKnown('domain', domain));
const [one = '', three = ''] = all.filter((domain) => !isKnown('domain', domain));
const [four = '', ...rest] = known;

test('columns of the same companies, no header, a title above the table', async () => {
  const scene = await createInboxScene(engine);
  const { meter } = scene.service;
  const watcher = await scene.watch();
  const header = 'Name,Website URL,Company Domain Name';
  const same = [`A,${one},www.${one}`, `B,${three},`, `C,,${four}`];
  await scene.drop('same.csv', `${header}\n${same.join('\n')}\n`);
  await scene.drop('bare.csv', `Acme,${rest[0]},DE\nBeta,${rest[1]},FR\nGamma,${rest[2]},US\n`);
  await scene.drop('title.csv', `Customers 2026\n\nname,website\nA,${rest[3]}\nB,${rest[4]}\nC,${rest[5]}\n`);
  await scene.drop('tie.csv', 'a,b\nx.com,y.com\n');
  const done = await scene.until('done', 3);
  const names = done.map((path) => basename(path).replace(/-2\d\d\d-.*/, ''));
  expect(names.sort()).toEqual(['bare', 'same', 'title']);
  const [failed = ''] = await scene.until('failed', 1);
  const reason = await readReason(failed);
  expect(reason).toContain('as tie.csv.json in the inbox for this file only');
  expect(reason).toContain('\n{"column":"a:domain"}\n{"column":"b:domain"}\n');
  const asked = [...meter.billedOf.keys()].map((identifier) => identifier.replace('domain:', ''));
  expect(asked.sort()).toEqual([one, three, four, ...rest.slice(0, 6)].sort());
  expect(meter.mostBilledOnce()).toBe(1);
  expect(await stopWatcher(watcher)).toBe(0);
});

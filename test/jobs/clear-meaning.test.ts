/** Files with unambiguous content work without settings. */
import { basename } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSettings } from '../../src/config/load-settings.js';
import { clearSettings } from '../../src/jobs/inbox-work.js';
import { isKnown } from '../support/brand-profile.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { domainAt } from '../support/scene.js';
import { createInboxScene, readReason, stopWatcher } from './inbox-scene.js';

const redis = redisEngine();
const engine = redis.missing === null ? redis : embeddedEngine();
beforeAll(() => engine.start());
afterAll(() => engine.stop());

const all = Array.from({ length: 200 }, (_, index) => domainAt(index));
const known = all.filter((domain) => isKnown('domain', domain));
const [one = '', three = ''] = all.filter((domain) => !isKnown('domain', domain));
const [two = '', four = '', spared = '', ...rest] = known;

test('tries variants of one column in turn, and reads tables without a header or below a title', async () => {
  const scene = await createInboxScene(engine);
  const { meter } = scene.service;
  const watcher = await scene.watch();
  const header = 'Name,Website URL,Company Domain Name';
  const variants = [`A,${one},www.${two}`, `B,${three},${three}`, `C,${four},${spared}`];
  await scene.drop('variants.csv', `${header}\n${variants.join('\n')}\n`);
  await scene.drop('bare.csv', `Acme,${rest[0]},DE\nBeta,${rest[1]},FR\nGamma,${rest[2]},US\n`);
  await scene.drop('title.csv', `Customers 2026\n\nname,website\nA,${rest[3]}\nB,${rest[4]}\nC,${rest[5]}\n`);
  await scene.drop('tie.csv', 'a,b\nx.com,y.com\n');
  const done = await scene.until('done', 3);
  const names = done.map((path) => basename(path).replace(/-2\d\d\d-.*/, ''));
  expect(names.sort()).toEqual(['bare', 'title', 'variants']);
  const [failed = ''] = await scene.until('failed', 1);
  const reason = await readReason(failed);
  expect(reason).toContain('as tie.csv.json in the inbox for this file only');
  expect(reason).toContain('\n{"column":"a:domain"}\n{"column":"b:domain"}\n');
  // The second variant is looked up only if the first one is not found.
  const asked = [...meter.billedOf.keys()].map((identifier) => identifier.replace('domain:', ''));
  expect(asked.sort()).toEqual([one, two, three, four, ...rest.slice(0, 6)].sort());
  expect(meter.mostBilledOnce()).toBe(1);
  expect(await stopWatcher(watcher)).toBe(0);
});

test('given settings win over unambiguous content, and each is used once', () => {
  const columns = [{ name: 'a', kind: 'domain' as const }];
  const settingsOf = (flags: object) =>
    loadSettings({ flags: { sample: true, ...flags }, env: {}, file: null, command: 'run', home: '/' })
      .settings;
  const plain = settingsOf({});
  expect(clearSettings({ header: false }, plain)).toEqual({ header: false });
  expect(clearSettings({ header: false }, { ...plain, header: false })).toBeNull();
  expect(clearSettings({ skipLines: 3 }, plain)).toEqual({ skipLines: 3 });
  expect(clearSettings({ skipLines: 3 }, settingsOf({ skipLines: '1' }))).toBeNull();
  expect(clearSettings({ columns }, plain)).toEqual({ columns, waterfall: true });
  expect(clearSettings({ columns }, settingsOf({ column: ['b'] }))).toBeNull();
  expect(clearSettings(null, plain)).toBeNull();
});

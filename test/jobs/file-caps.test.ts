/** Caps of a waiting file: its own, those of its inbox, and which ones it may be given. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DaemonContext } from '../../src/app/daemon-context.js';
import { ConfigError } from '../../src/core/errors.js';
import { readOwnSettings } from '../../src/jobs/inbox-folder-settings.js';
import { createFileCaps } from '../../src/jobs/start-file.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PAID = { plan: 'paid', overageBudget: '100', overagePrice: '0.1' } as const;

/** A file that waits, with these settings beside it and in its inbox. */
async function waiting(own: string | null, inbox: string | null, flags: Record<string, string> = PAID) {
  const root = await temporaryFolder();
  const folder = join(root, 'waiting', 'list');
  await mkdir(folder, { recursive: true });
  if (own !== null) await writeFile(join(folder, 'list.csv.json'), own);
  if (inbox !== null) await writeFile(join(root, 'brand-enrich.json'), inbox);
  const loaded = loadSettings({
    command: 'up',
    flags: { baseUrl: 'http://127.0.0.1:9', ...flags },
    env: { BRAND_API_TOKEN: 'sesame-open' },
    file: null,
    home: root,
  });
  const service = { service: 'http://127.0.0.1:9', account: 'a', isLoopback: true, ownDomain: null };
  const caps = createFileCaps({ loaded, service } as unknown as DaemonContext);
  const job = { root, folder: join(root, 'waiting', 'list'), file: 'list.csv', under: undefined };
  return {
    read: () => caps.read(job),
    check: (given: Record<string, string | null>) => caps.check(job, given),
  };
}

const NONE = { own: null, most: null };
const [OWN_5, OWN_2, MOST_9] = [
  ['5', null],
  ['2', null],
  [null, '9'],
] as const;

it.each([
  ['its own, as they stand', '{"maxRequests": 5, "maxCost": "2"}', null, PAID, [OWN_5, OWN_2]],
  ['those of its inbox, which bound it', null, '{"maxRequests": 9}', PAID, [MOST_9, [null, null]]],
  ['no money where there is no overage', '{"maxRequests": 5}', null, {}, [OWN_5, null]],
] as const)('shows %s', async (_, own, inbox, flags, [requests, money]) => {
  const { read } = await waiting(own, inbox, flags);
  const capOf = (cap: readonly [string | null, string | null] | null) => cap && { own: cap[0], most: cap[1] };
  expect(await read()).toEqual({ maxRequests: capOf(requests), maxCost: capOf(money) });
});

it('shows a cap on money that the file has, though there is no overage any more', async () => {
  const { read } = await waiting('{"maxCost": "2"}', null, {});
  expect(await read()).toEqual({ maxRequests: NONE, maxCost: { own: '2', most: null } });
});

it('shows none where settings cannot be read', async () => {
  for (const [own, inbox] of [
    ['{', null],
    [null, '{"colum": 1}'],
  ] as const)
    expect(await (await waiting(own, inbox)).read()).toBeNull();
});

it('its next run has the new caps instead of the old ones', async () => {
  const { check } = await waiting('{"maxRequests": 5, "maxCost": "2"}', '{"maxRequests": 100}');
  expect(await check({ maxRequests: '50' })).toMatchObject({ maxRequests: 50, maxOverageRequests: 20 });
  expect(await check({ maxRequests: null, maxCost: '0.5' })).toMatchObject({
    maxRequests: 100,
    maxOverageRequests: 5,
  });
});

it.each([
  ['more than its inbox allows', { maxRequests: '101' }, /this inbox allows at most 100: maxRequests 101/],
  ['more money than its inbox allows', { maxCost: '7.5' }, /this inbox allows at most 7: maxCost 7\.5/],
  ['what is not a number', { maxRequests: 'many' }, /not a whole number/],
  ['less than nothing', { maxCost: '-1' }, /maxCost/],
])('refuses %s', async (_, given, message) => {
  const { check } = await waiting('{"maxRequests": 5}', '{"maxRequests": 100, "maxCost": "7"}');
  const refused = check(given);
  await expect(refused).rejects.toBeInstanceOf(ConfigError);
  await expect(refused).rejects.toThrow(message);
});

it('are not shown, nor replaced, where the settings of the file cannot be read', async () => {
  const root = await temporaryFolder();
  const folder = join(root, 'waiting', 'list');
  await mkdir(join(folder, 'list.csv.json'), { recursive: true });
  await expect(readOwnSettings(join(folder, 'list.csv.json'))).rejects.toThrow(
    /the settings cannot be read.*list\.csv\.json/,
  );
  expect(await readOwnSettings(join(folder, 'other.csv.json'))).toBeNull();
});

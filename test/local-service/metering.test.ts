import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readUsageCounts } from '../../src/local-service/usage-journal.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createTinyService, OWN_DOMAIN, QUOTA, type TinyService, USAGE } from './tiny-service.js';

const files = (dir: string) => ({ usageFile: join(dir, 'usage'), statementFile: join(dir, 'statements') });

/** How many of `count` different lookups are not refused, sent all at once. */
async function served({ get }: TinyService, count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => get(`/v2/brands/domain/site-${i}.com`)),
  );
  return answers.filter(({ status }) => status !== 429).length;
}

describe('what a request counts', () => {
  it.each([
    ['a brand that is found', '/v2/brands/acme.com', 'GET', 1],
    ['a brand that is not found', '/v2/brands/nobody.com', 'GET', 1],
    ['a brand that is withheld', '/v2/brands/withheld.com', 'GET', 1],
    ['a HEAD', '/v2/brands/acme.com', 'HEAD', 0],
    ['a malformed request', '/v2/brands/acme.com?allowNsfw=x', 'GET', 0],
    ['a route that does not exist', '/v2/brands/logo/acme.com', 'GET', 0],
    ['another method', '/v2/brands/acme.com', 'POST', 0],
    ['the own brand by its route', `/v2/brands/domain/${OWN_DOMAIN}`, 'GET', 0],
    ['the own brand by the generic route', `/v2/brands/${OWN_DOMAIN.toUpperCase()}`, 'GET', 0],
    ['the own brand with www.', `/v2/brands/domain/www.${OWN_DOMAIN}`, 'GET', 0],
    ['the own brand with WWW. and a dot at its end', `/v2/brands/WWW.${OWN_DOMAIN}.`, 'GET', 0],
    ['another name below the own domain', `/v2/brands/domain/api.${OWN_DOMAIN}`, 'GET', 1],
    ['the own domain asked for as a ticker', `/v2/brands/ticker/${OWN_DOMAIN}`, 'GET', 1],
    ['the ticker of the own brand, which is not its domain', '/v2/brands/ticker/OWN', 'GET', 1],
  ])('%s', async (_title, path, method, counted) => {
    const tiny = createTinyService();
    await tiny.get(path, { method });
    const after = await tiny.get(`/v2/brands/${OWN_DOMAIN}`);
    expect(after.headers).toMatchObject({ [USAGE]: String(counted), [QUOTA]: '100' });
  });

  it('the usage header includes the request that it answers', async () => {
    const { get } = createTinyService();
    expect((await get('/v2/brands/acme.com')).headers[USAGE]).toBe('1');
    expect((await get('/v2/brands/acme.com')).headers[USAGE]).toBe('2');
  });
});

describe('the limit', () => {
  it.each([
    ['a free plan serves its quota', { plan: 'free', quota: 10 }, 10],
    ['a paid plan serves the quota and what the budget buys', { quota: 10, overageBudget: 0.3 }, 13],
    ['a budget of 0 disables overage', { quota: 10, overageBudget: 0 }, 10],
    ['a dearer request buys fewer', { quota: 10, overageBudget: 1, overagePrice: 0.3 }, 13],
    ['a free plan has no overage', { plan: 'free', quota: 10, overageBudget: 5 }, 10],
    ['a budget below the price buys none', { quota: 10, overageBudget: 0.09 }, 10],
    ['a lifetime quota has no overage', { period: 'lifetime', quota: 10 }, 10],
    ['a quota of 0 serves nothing', { plan: 'free', quota: 0 }, 0],
  ])('%s, exactly', async (_title, terms, limit) => {
    const tiny = createTinyService({ terms });
    expect(await served(tiny, 40)).toBe(limit);
    const refused = await tiny.get('/v2/brands/acme.com');
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ [QUOTA]: String(terms.quota), [USAGE]: String(limit) });
  });

  it('answers the own brand beyond the quota without counting it', async () => {
    const tiny = createTinyService({ terms: { plan: 'free', quota: 2 } });
    await served(tiny, 5);
    const own = await tiny.get(`/v2/brands/${OWN_DOMAIN}`);
    expect(own.status).toBe(200);
    expect(own.headers[USAGE]).toBe('2');
  });

  it('is renewed when the month turns in UTC', async () => {
    const tiny = createTinyService({ terms: { plan: 'free', quota: 2 } });
    tiny.clock.set('2026-03-31T23:59:59.999Z');
    expect(await served(tiny, 5)).toBe(2);
    tiny.clock.set('2026-04-01T00:00:00.000Z');
    const first = await tiny.get('/v2/brands/acme.com');
    expect(first.status).toBe(200);
    expect(first.headers[USAGE]).toBe('1');
  });

  it('counts in the last month again when the clock is set back into it', async () => {
    const tiny = createTinyService({ terms: { plan: 'free', quota: 2 } });
    tiny.clock.set('2026-03-31T23:59:59.999Z');
    await served(tiny, 5);
    tiny.clock.set('2026-04-01T00:00:00.000Z');
    await served(tiny, 1);
    tiny.clock.set('2026-03-31T23:59:59.000Z');
    expect((await tiny.get('/v2/brands/acme.com')).status).toBe(429);
  });

  it('is not renewed for a lifetime quota', async () => {
    const tiny = createTinyService({ terms: { period: 'lifetime', quota: 2 } });
    expect(await served(tiny, 5)).toBe(2);
    tiny.clock.set('2027-04-01T00:00:00.000Z');
    expect(await served(tiny, 5)).toBe(0);
  });
});

describe('usage and statements across restarts', () => {
  it('a request is recorded before its answer is sent', async () => {
    const { usageFile } = files(await temporaryFolder());
    const tiny = createTinyService({ usageFile });
    for (const requests of [1, 2, 3]) {
      const answer = await tiny.get('/v2/brands/acme.com');
      expect(readUsageCounts(usageFile)).toMatchObject([{ account: 'data', period: '2026-03', requests }]);
      expect(answer.status).toBe(200);
    }
    await tiny.service.close();
  });

  it('an account continues when its quota is raised', async () => {
    const dir = await temporaryFolder();
    const first = createTinyService({ ...files(dir), terms: { plan: 'free', quota: 3 } });
    expect(await served(first, 9)).toBe(3);
    await first.service.close();
    const second = createTinyService({ ...files(dir), terms: { plan: 'free', quota: 5 } });
    expect(await served(second, 9)).toBe(2);
    await second.service.close();
  });

  it('a month is closed once, by the first request of the next, and does not change with the terms', async () => {
    const dir = await temporaryFolder();
    const lines = () => readFileSync(files(dir).statementFile, 'utf8').trimEnd().split('\n');
    const first = createTinyService({ ...files(dir), terms: { quota: 10 } });
    await served(first, 13);
    first.clock.set('2026-04-01T00:00:00Z');
    await first.get('/v2/brands/acme.com');
    const closed = { account: 'data', month: '2026-03', requests: 13, overageRequests: 3 };
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      { ...closed, overageOwed: '0.3', isFinal: true },
    ]);
    const [before] = lines();
    await first.service.close();
    const second = createTinyService({ ...files(dir), terms: { quota: 10, overagePrice: 7 } });
    second.clock.set('2026-04-30T00:00:00Z');
    second.service.closeMonths();
    await second.service.close();
    expect(lines()).toEqual([before]);
  });

  it('a statement never owes more than the budget, which was lowered during the month', async () => {
    const dir = await temporaryFolder();
    const first = createTinyService({ ...files(dir), terms: { quota: 10 } });
    await served(first, 20);
    await first.service.close();
    const second = createTinyService({ ...files(dir), terms: { quota: 10, overageBudget: 0.3 } });
    second.clock.set('2026-04-01T00:00:00Z');
    second.service.closeMonths();
    const owed = { requests: 20, overageRequests: 3, overagePrice: '0.1', overageOwed: '0.3' };
    expect(JSON.parse(readFileSync(files(dir).statementFile, 'utf8'))).toMatchObject(owed);
    await second.service.close();
  });

  it('a month that ended while the service was down is closed when it starts', async () => {
    const dir = await temporaryFolder();
    const first = createTinyService({ ...files(dir) });
    first.clock.set('2026-02-10T00:00:00Z');
    await served(first, 4);
    await first.service.close();
    const second = createTinyService({ ...files(dir) });
    const statement = JSON.parse(readFileSync(files(dir).statementFile, 'utf8'));
    expect(statement).toMatchObject({ month: '2026-02', requests: 4 });
    await second.service.close();
  });

  it('the journal has a line per billed request, written before its answer', async () => {
    const journalFile = join(await temporaryFolder(), 'journal.jsonl');
    const tiny = createTinyService({ journalFile });
    await tiny.get('/v2/brands/domain/acme.com');
    await tiny.get(`/v2/brands/${OWN_DOMAIN}`);
    await tiny.get('/v2/brands/NOBODY');
    const lines = readFileSync(journalFile, 'utf8').trimEnd().split('\n');
    const by = { time: '2026-03-15T12:00:00.000Z', account: 'data' };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...by, kind: 'domain', identifier: 'acme.com', status: 200 },
      { ...by, kind: 'auto', identifier: 'NOBODY', status: 404 },
    ]);
    await tiny.service.close();
  });

  it('a closed service answers 503 and counts nothing', async () => {
    const { usageFile } = files(await temporaryFolder());
    const tiny = createTinyService({ usageFile });
    await tiny.service.close();
    await tiny.service.close();
    expect((await tiny.get('/v2/brands/acme.com')).status).toBe(503);
    expect(readUsageCounts(usageFile)).toEqual([]);
  });
});

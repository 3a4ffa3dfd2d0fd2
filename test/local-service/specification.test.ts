/**
 * The specification, sentence by sentence, over HTTP against a service with the specified coverage.
 * `service-rules.test.ts`, `metering.test.ts` and `usage-notice.test.ts` cover the edge cases.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { writeCatalogue } from '../../src/local-service/generate-catalogue.js';
import {
  generatedCrypto,
  generatedDomain,
  generatedEtf,
  generatedId,
  generatedIsin,
  generatedTicker,
} from '../../src/local-service/generate-keys.js';
import { serve } from '../../src/local-service/serve.js';
import type { Brand } from '../../src/lookup/brand.js';
import { SPECIFIED_COVERAGE, specifiedBrand } from '../fixtures/specified-brand.js';

const COVERAGE = SPECIFIED_COVERAGE;
/** Listed, no provider, no coin, and exactly as the specification writes brands. */
const PLAIN = 9_000;
const [FLAGGED, WITHHELD] = [2_499, 2_999].map(generatedDomain);
const OWN = 'brand-service.example';
const ROUTES = [
  `${generatedDomain(PLAIN)}`,
  `domain/${generatedDomain(PLAIN)}`,
  `ticker/${generatedTicker(PLAIN)}`,
  `isin/${generatedIsin(PLAIN)}`,
  `crypto/${generatedCrypto(0)}`,
];

let folder: string;
let serving: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'brand-enrich-specification-'));
  const catalogue = join(folder, 'catalogue.jsonl');
  const accounts = join(folder, 'accounts.json');
  await writeCatalogue(catalogue, { ...COVERAGE, seed: 1 });
  const named = [
    { name: 'data', plan: 'free', quota: 1_000_000 },
    { name: 'counted', plan: 'free', quota: 500 },
    { name: 'free', plan: 'free', quota: 3 },
    { name: 'paid', plan: 'paid', quota: 3 },
    { name: 'thrifty', plan: 'paid', quota: 3, overageBudget: 0.4 },
    { name: 'strict', plan: 'paid', quota: 3, overageBudget: 0 },
  ];
  writeFileSync(
    accounts,
    JSON.stringify({ accounts: named.map((account) => ({ token: account.name, ...account })) }),
  );
  serving = await serve({ port: 0, catalogue, accounts, log: silentLog() });
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(path: string, as: { token?: string | null; method?: string } = {}) {
  const { token = 'data', method = 'GET' } = as;
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${serving.url}${path.startsWith('/') ? '' : '/v2/brands/'}${path}`, {
    method,
    headers,
  });
  const text = await answer.text();
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    quota: answer.headers.get('x-api-key-quota'),
    usage: answer.headers.get('x-api-key-approximate-usage'),
    text,
    brand: (text === '' ? {} : JSON.parse(text)) as Brand,
  };
}

/** The statuses of this many lookups, one after the other. */
async function statusesOf(token: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1) statuses.push((await ask(`domain/none-${n}.com`, { token })).status);
  return statuses;
}

/** The domains that many lookups lead to, without sockets. */
async function domainsOf(paths: readonly string[]): Promise<(string | null)[]> {
  const answers = await Promise.all(
    paths.map((path) =>
      serving.service.handle({ method: 'GET', path: `/v2/brands/${path}`, authorization: 'Bearer data' }),
    ),
  );
  return answers.map(({ status, body }) =>
    status === 200 ? ((JSON.parse(body.toString()) as Brand).domain ?? null) : null,
  );
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe('what the service does', () => {
  it.each([
    ['domain name', generatedDomain(PLAIN)],
    ['brand ID', generatedId(PLAIN)],
    ['ISIN code', generatedIsin(PLAIN)],
    ['stock ticker', generatedTicker(PLAIN)],
  ])('a brand profile for one identifier per request: %s', async (_kind, identifier) => {
    const { status, brand } = await ask(identifier);
    expect(status).toBe(200);
    expect(specifiedBrand.parse(brand)).toMatchObject({
      domain: generatedDomain(PLAIN),
      company: {
        financialIdentifiers: { isin: [generatedIsin(PLAIN)], ticker: [generatedTicker(PLAIN)] },
      },
    });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'all operations are GET: %s is refused, as JSON',
    async (method) => {
      expect(await ask(ROUTES[0] ?? '', { method })).toMatchObject({ status: 405, text: '{}' });
    },
  );

  it('no operation changes data', async () => {
    const [first, second] = [await ask(ROUTES[1] ?? ''), await ask(ROUTES[1] ?? '')];
    expect(first.text).toBe(second.text);
  });

  it('the top 2000 crypto symbols are supported', async () => {
    expect(COVERAGE.cryptoSymbols).toBe(2_000);
    const symbols = times(COVERAGE.cryptoSymbols, generatedCrypto);
    expect(
      (await domainsOf(symbols.map((symbol) => `crypto/${symbol}`))).filter((domain) => domain === null),
    ).toEqual([]);
  });

  it('the top 10,000 ETFs from more than 300 providers are supported, and resolve to their provider', async () => {
    expect([COVERAGE.etfTickers, COVERAGE.etfProviders > 300]).toEqual([10_000, true]);
    const domains = await domainsOf(times(COVERAGE.etfTickers, (n) => `ticker/${generatedEtf(n)}`));
    expect(domains.map((domain, n) => domain === generatedDomain(n % COVERAGE.etfProviders))).not.toContain(
      false,
    );
    expect(new Set(domains).size).toBe(COVERAGE.etfProviders);
  });
});

describe('endpoints', () => {
  it.each(ROUTES)('%s needs Authorization, and is 401 without it', async (route) => {
    expect(await ask(route)).toMatchObject({ status: 200, type: 'application/json' });
    for (const token of [null, 'nobody'])
      expect(await ask(route, { token })).toMatchObject({
        status: 401,
        type: 'application/json',
        text: '{}',
      });
  });

  it('rules 1 and 2: a symbol that is ticker and coin is the ticker, unless its route says otherwise', async () => {
    const both = generatedCrypto(3);
    expect(both).toBe(generatedTicker(9));
    const [auto, ticker, crypto] = await domainsOf([both, `ticker/${both}`, `crypto/${both}`]);
    expect([auto, ticker]).toEqual([generatedDomain(9), generatedDomain(9)]);
    expect(crypto).toBe(generatedDomain(COVERAGE.etfProviders + 3));
  });

  it('a crypto symbol is preferred in upper case, and found in lower', async () => {
    expect((await ask(`crypto/${generatedCrypto(0).toLowerCase()}`)).status).toBe(200);
  });

  it.each([
    ['rule 4', FLAGGED, '', true],
    ['rule 4', WITHHELD, '', null],
    ['rule 5', FLAGGED, '?allowNsfw=true', true],
    ['rule 5', WITHHELD, '?allowNsfw=true', true],
    ['rule 6', FLAGGED, '?allowNsfw=false', null],
    ['rule 6', WITHHELD, '?allowNsfw=false', null],
    ['rule 6', generatedDomain(PLAIN), '?allowNsfw=false', false],
  ])('%s: %s%s', async (_rule, domain, query, isNsfw) => {
    const { status, text, brand } = await ask(`domain/${domain}${query}`);
    expect([status, isNsfw === null ? text : brand.isNsfw]).toEqual(
      isNsfw === null ? [404, '{}'] : [200, isNsfw],
    );
  });

  it.each([
    [400, 'domain/a.com?allowNsfw=perhaps', 'data'],
    [401, 'domain/a.com', null],
    [404, 'domain/nobody-knows.com', 'data'],
    [404, '/v1/brands/domain/a.com', 'data'],
    [404, '/brands/domain/a.com', 'data'],
  ])('errors: %i is JSON and an empty object: %s', async (status, path, token) => {
    expect(await ask(path, { token })).toMatchObject({ status, type: 'application/json', text: '{}' });
  });
});

describe('quality scores', () => {
  it('are between 0 and 1, in all three thirds', async () => {
    const scores: number[] = [];
    for (let n = 0; n < 60; n += 1)
      scores.push((await ask(`domain/${generatedDomain(n)}`)).brand.qualityScore ?? -1);
    expect(scores.filter((score) => score < 0 || score > 1)).toEqual([]);
    expect(new Set(scores.map((score) => Math.min(2, Math.floor(score * 3))))).toEqual(new Set([0, 1, 2]));
  });
});

describe('limits', () => {
  it('both headers are on every answer of an account, with its quota and its usage of the month', async () => {
    const counted = { token: 'counted' };
    for (const [path, usage] of [
      [ROUTES[1], '1'],
      ['domain/nobody-knows.com', '2'],
      [`domain/${OWN}`, '2'],
      ['domain/a.com?allowNsfw=perhaps', '2'],
    ] as const)
      expect(await ask(path ?? '', counted)).toMatchObject({ quota: '500', usage });
  });

  it.each([
    ['free plan: no overage is available', 'free', 3],
    ['overage budget: 0 disables overage', 'strict', 3],
    ['overage: requests beyond the quota are served up to the budget', 'thrifty', 7],
  ])('%s, then 429', async (_rule, token, served) => {
    const statuses = await statusesOf(token, 9);
    expect(statuses).toEqual(times(9, (n) => (n < served ? 404 : 429)));
    expect(await ask(ROUTES[1] ?? '', { token })).toMatchObject({ status: 429, text: '{}', quota: '3' });
    expect(await ask(`domain/${OWN}`, { token })).toMatchObject({ status: 200, usage: String(served) });
  });

  it('overage budget: 100 by default, which buys 1,000 requests at 0.1', async () => {
    const paths = times(1_010, (n) => `/v2/brands/domain/none-${n}.com`);
    const answers = await Promise.all(
      paths.map((path) => serving.service.handle({ method: 'GET', path, authorization: 'Bearer paid' })),
    );
    expect(answers.filter(({ status }) => status !== 429)).toHaveLength(1_003);
    expect(serving.service.statement('paid')).toMatchObject({ overageRequests: 1_000, overageOwed: '100' });
  });

  it.each([OWN, `domain/${OWN}`, `domain/www.${OWN}`])(
    "requests for the service's own brand domain are free: %s",
    async (path) => {
      const { usage } = await ask(`domain/${OWN}`);
      expect(await ask(path)).toMatchObject({ status: 200, usage });
    },
  );
});

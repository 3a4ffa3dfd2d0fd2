/** The specification, rule by rule, through `handle`. */
import { afterEach, describe, expect, it } from 'vitest';
import { sendTo } from '../../src/local-service/service-request.js';
import { specifiedBrand } from '../fixtures/specified-brand.js';
import {
  accountsOf,
  createTinyService,
  nameIn,
  OWN_DOMAIN,
  QUOTA,
  type TinyService,
  USAGE,
} from './tiny-service.js';

let tiny: TinyService;
const start = (...options: Parameters<typeof createTinyService>) => {
  tiny = createTinyService(...options);
  return tiny;
};
afterEach(() => tiny.service.close());

describe('endpoints', () => {
  it.each([
    ['rule 1: a domain goes before a ticker', 'both.io', 'Both Site'],
    ['rule 1: a ticker goes before a crypto symbol', 'SUN', 'Sun Stock'],
    ['rule 1: an ISIN goes before a crypto symbol', 'DE0007164600', 'Isin Stock'],
    ['rule 1: a crypto symbol is found when nothing else has it', 'BTC', 'Coin'],
    ['a brand id is found by its prefix', 'id_Acme01', 'Acme'],
    ['in a brand id case matters', 'id_acme01', null],
    ['an unknown brand is not found', 'unknown.example', null],
    ['another parameter is ignored', 'acme.com?c=1', 'Acme'],
    ['a question mark is ignored', 'acme.com?', 'Acme'],
    ['rule 2: a domain by its own route', 'domain/acme.com', 'Acme'],
    ['rule 2: a ticker by its own route', 'ticker/ACME', 'Acme'],
    ['rule 2: an ISIN by its own route', 'isin/US0378331005', 'Acme'],
    ['rule 2: a crypto symbol by its own route, though a ticker has the same', 'crypto/SUN', 'Sun Coin'],
    ['rule 2: a ticker is not a domain', 'domain/ACME', null],
    ['rule 2: a coin is not a ticker', 'ticker/BTC', null],
    ['a crypto symbol may be lower-case', 'crypto/btc', 'Coin'],
    ['a domain may be upper-case', 'domain/ACME.COM', 'Acme'],
    ['rule 4: a flagged brand is shown when allowNsfw is not set', 'flagged.com', 'Flagged'],
    ['rule 4: a withheld brand is not shown when allowNsfw is not set', 'withheld.com', null],
    ['rule 5: allowNsfw true shows a flagged brand', 'flagged.com?allowNsfw=true', 'Flagged'],
    ['rule 5: allowNsfw true shows a withheld brand', 'domain/withheld.com?allowNsfw=true', 'Withheld'],
    ['rule 6: allowNsfw false hides a flagged brand', 'domain/flagged.com?allowNsfw=false', null],
    ['rule 6: allowNsfw false hides a withheld brand', 'withheld.com?allowNsfw=false', null],
    ['rule 6: allowNsfw false shows every other brand', 'acme.com?allowNsfw=false', 'Acme'],
    ['a withheld ticker is not answered with the coin of that name', 'VICE', null],
    ['the coin of that name has its own route', 'crypto/VICE', 'Vice Coin'],
  ])('%s', async (_title, path, name) => {
    const response = await start().get(`/v2/brands/${path}`);
    expect(response.status).toBe(name === null ? 404 : 200);
    expect(nameIn(response)).toBe(name);
  });

  it('rule 3: a brand is returned byte for byte as in the catalogue', async () => {
    const response = await start().get('/v2/brands/flagged.com');
    expect(response.body.toString()).toBe('{"name":"Flagged","isNsfw":true}');
  });
});

describe('the own brand', () => {
  it.each([
    ['brandfetch.com', 'brandfetch.com'],
    ['brandfetch.com', 'domain/brandfetch.com'],
    ['brandfetch.com', 'domain/www.brandfetch.com'],
    ['www.brandfetch.com', 'domain/brandfetch.com?allowNsfw=false'],
    ['Bücher.example', 'domain/xn--bcher-kva.example'],
  ])('%s is found though it is missing from the catalogue: %s', async (ownDomain, path) => {
    const { get } = start({ ownDomain });
    const response = await get(`/v2/brands/${path}`);
    expect([response.status, response.headers[USAGE]]).toEqual([200, '0']);
    const brand = specifiedBrand.parse(JSON.parse(response.body.toString()));
    expect((await get(`/v2/brands/${brand.id}`)).body).toEqual(response.body);
    expect((await get(`/v2/brands/ticker/${ownDomain}`)).status).toBe(404);
  });

  it('from the catalogue is preferred', async () => {
    expect(nameIn(await start().get(`/v2/brands/www.${OWN_DOMAIN}`))).toBe('Own');
  });
});

describe('answers', () => {
  it.each([
    [200, 'GET', '/v2/brands/acme.com', {}],
    [400, 'GET', '/v2/brands/acme.com?allowNsfw=maybe', {}],
    [401, 'GET', '/v2/brands/acme.com', { authorization: undefined }],
    [404, 'GET', '/v2/brands/unknown.example', {}],
    [404, 'GET', '/v2/brands/logo/acme.com', {}],
    [404, 'GET', '/health', { authorization: undefined }],
    [405, 'DELETE', '/v2/brands/acme.com', {}],
    [429, 'GET', '/v2/brands/acme.com', { account: 'spent' }],
  ])('%i of %s %s is JSON with its length and a date', async (status, method, path, as) => {
    const accounts = accountsOf({ name: 'data', quota: 5 }, { name: 'spent', quota: 0 });
    const response = await start({ accounts }).get(path, { ...as, method });
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(response.body.length),
      date: 'Sun, 15 Mar 2026 12:00:00 GMT',
    });
    if (status !== 200) expect(response.body.toString()).toBe('{}');
  });

  it.each([
    [400, 'GET', '/v2/brands/acme.com?allowNsfw='],
    [400, 'GET', '/v2/brands/acme.com?allowNsfw=TRUE'],
    [400, 'GET', '/v2/brands/acme.com?allowNsfw=true&allowNsfw=false'],
    [400, 'GET', '/v2/brands/%E0%A4%A'],
    [404, 'GET', '/v2/brands/'],
    [404, 'GET', '/v2/brands/id/id_Acme01'],
    [404, 'POST', '/v1/brands/acme.com'],
    [405, 'OPTIONS', '/v2/brands/acme.com'],
  ])('%i: %s %s', async (status, method, path) => {
    expect((await start().get(path, { method })).status).toBe(status);
  });

  it('in process are the same as over a socket', async () => {
    const request = { path: '/v2/brands/acme.com', authorization: 'Bearer token-data' };
    const { service } = start();
    const { status, headers } = await service.handle({ ...request, method: 'HEAD' });
    expect(await sendTo(service)(request)).toEqual({
      type: 'answer',
      status,
      headers: { ...headers, [USAGE]: '1' },
      body: Buffer.from('{"name":"Acme","isNsfw":false}'),
      incomplete: null,
    });
  });

  it.each(['acme.com', 'unknown.example', 'acme.com?allowNsfw=x', 'logo/acme.com', OWN_DOMAIN])(
    'the answer to %s has both usage headers',
    async (path) => {
      const { headers } = await start().get(`/v2/brands/${path}`);
      expect(headers).toMatchObject({ [QUOTA]: '100', [USAGE]: expect.stringMatching(/^[01]$/) });
    },
  );

  it('405 names the allowed methods', async () => {
    const response = await start().get('/v2/brands/acme.com', { method: 'PUT' });
    expect(response.headers.allow).toBe('GET, HEAD');
  });

  it('the date follows the clock', async () => {
    const { get, clock } = start();
    clock.set('2026-03-15T12:00:01.900Z');
    expect((await get('/')).headers.date).toBe('Sun, 15 Mar 2026 12:00:01 GMT');
  });

  it.each(['acme.com', 'unknown.example'])('HEAD of %s is GET without its body, and free', async (value) => {
    const { get } = start();
    const head = await get(`/v2/brands/${value}`, { method: 'HEAD' });
    expect(head.headers[USAGE]).toBe('0');
    const full = await get(`/v2/brands/${value}`);
    expect(head.status).toBe(full.status);
    expect(head.headers['content-length']).toBe(String(full.body.length));
    expect(head.body.length).toBe(0);
  });
});

describe('authentication', () => {
  const routes = ['acme.com', 'domain/acme.com', 'ticker/ACME', 'isin/US0378331005', 'crypto/BTC'];
  const wrong = [undefined, '', 'Bearer', 'Bearer wrong', 'token-data', 'Basic token-data'];
  it.each(routes.flatMap((route) => wrong.map((given) => [route, given] as const)))(
    '%s with the credentials %j is 401 and shows no usage',
    async (route, authorization) => {
      const response = await start().get(`/v2/brands/${route}`, { authorization });
      expect(response.status).toBe(401);
      expect(response.headers).not.toHaveProperty(USAGE);
      expect(response.headers).not.toHaveProperty(QUOTA);
    },
  );

  it('the own brand and a malformed request need credentials too', async () => {
    const { get } = start();
    expect((await get(`/v2/brands/${OWN_DOMAIN}`, { authorization: undefined })).status).toBe(401);
    expect((await get('/v2/brands/a.com?allowNsfw=x', { authorization: undefined })).status).toBe(401);
  });

  it('each token counts for its own account', async () => {
    const { get } = start({ accounts: accountsOf({ name: 'data', quota: 5 }, { name: 'other', quota: 7 }) });
    await get('/v2/brands/acme.com');
    const other = await get('/v2/brands/acme.com', { account: 'other' });
    expect(other.headers).toMatchObject({ [QUOTA]: '7', [USAGE]: '1' });
  });
});

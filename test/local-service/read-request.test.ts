import { describe, expect, it } from 'vitest';
import { readRequest, sendTo } from '../../src/local-service/service-request.js';
import { createTinyService, USAGE } from './tiny-service.js';

const lookup = (route: string | null, value: string, allowNsfw = 'unset') => ({
  type: 'lookup',
  route: { route, value },
  allowNsfw,
});
const refused = (status: number, isOutside = false) => ({ type: 'refused', status, isOutside });

describe('parsing a request', () => {
  it.each([
    ['GET', '/v2/brands/acme.com', lookup(null, 'acme.com')],
    ['HEAD', '/v2/brands/acme.com', lookup(null, 'acme.com')],
    ['GET', '/v2/brands/domain/acme.com', lookup('domain', 'acme.com')],
    ['GET', '/v2/brands/ticker/M%26M', lookup('ticker', 'M&M')],
    ['GET', '/v2/brands/isin/US0378331005', lookup('isin', 'US0378331005')],
    ['GET', '/v2/brands/crypto/BTC', lookup('crypto', 'BTC')],
    ['GET', '/v2/brands/domain', lookup(null, 'domain')],
    ['GET', '/v2/brands/a.com?allowNsfw=true', lookup(null, 'a.com', 'true')],
    ['GET', '/v2/brands/a.com?allowNsfw=false', lookup(null, 'a.com', 'false')],
    ['GET', '/v2/brands/a.com?c=1', lookup(null, 'a.com')],
    ['GET', '/v2/brands/a.com?', lookup(null, 'a.com')],
    ['GET', '/v2/brands/a.com?allowNsfw=', refused(400)],
    ['GET', '/v2/brands/a.com?allowNsfw=1', refused(400)],
    ['GET', '/v2/brands/a.com?allowNsfw=TRUE', refused(400)],
    ['GET', '/v2/brands/a.com?allowNsfw=true&allowNsfw=false', refused(400)],
    ['GET', '/v2/brands/%E0%A4%A', refused(400)],
    ['GET', '/v2/brands/', refused(404)],
    ['GET', '/v2/brands/domain/', refused(404)],
    ['GET', '/v2/brands/id/id_Acme01', refused(404)],
    ['GET', '/v2/brands/domain/a.com/b', refused(404)],
    ['GET', '/', refused(404, true)],
    ['GET', '/v1/brands/a.com', refused(404, true)],
    ['POST', '/v1/brands/a.com', refused(404, true)],
    ['POST', '/v2/brands/a.com', refused(405, true)],
    ['OPTIONS', '/v2/brands/a.com', refused(405, true)],
  ])('%s %s', (method, path, asked) => {
    expect(readRequest({ method, path })).toEqual(asked);
  });
});

it('an in-process call gives the same answer as one over a socket', async () => {
  const { service } = createTinyService();
  const request = { path: '/v2/brands/acme.com', authorization: 'Bearer token-data' };
  const { status, headers, body } = await service.handle({ ...request, method: 'HEAD' });
  expect(await sendTo(service)(request)).toEqual({
    type: 'answer',
    status,
    headers: { ...headers, [USAGE]: '1' },
    body: Buffer.from('{"name":"Acme","isNsfw":false}'),
    incomplete: null,
  });
  expect(body).toHaveLength(0);
});

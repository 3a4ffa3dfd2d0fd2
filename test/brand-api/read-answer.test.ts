/** Every line of the answer table, in both dialects of errors: empty objects, and named codes. */
import { describe, expect, test } from 'vitest';
import { type Answer, isBilledStatus, readAnswer } from '../../src/brand-api/read-answer.js';

/** The default of `--free-statuses`. */
const FREE_STATUSES = ['204', '400', '402', '5xx'];
const NOON = Date.UTC(2030, 0, 15, 12);

interface Given {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly incomplete?: 'too_large' | 'cut_off';
}

function read(status: number, { headers = {}, body = '', incomplete }: Given = {}, free = FREE_STATUSES) {
  const content = { body: Buffer.from(body), incomplete: incomplete ?? null };
  return readAnswer({ type: 'answer', status, headers, ...content }, free, NOON);
}

const BRAND = '{"id":"id_1","name":"Acme","domain":"acme.example","novel":{"field":[1]}}';

describe('a brand', () => {
  test('is matched and billed, with its exact bytes', () => {
    const { meaning, cost } = read(200, { body: BRAND });
    const brand = { id: 'id_1', name: 'Acme', domain: 'acme.example', novel: { field: [1] } };
    expect(meaning).toEqual({ type: 'matched', body: Buffer.from(BRAND), text: BRAND, brand });
    expect(cost).toBe('billed');
  });

  test.each<[string, Given]>([
    ['the minimal brand', { body: '{"name":null,"domain":null}' }],
    ['surrounding blanks', { body: ' \n{"name":"Acme","domain":"acme.example"}\n' }],
    ['letters of any script', { body: '{"name":"Ærø Bryggeri 麒麟 🍺","logos":[]}' }],
    ['a member called error', { body: '{"name":"Acme","claimed":false,"error":"quota_exceeded"}' }],
  ])('%s is matched', (_what, given) => {
    expect(read(200, given).meaning.type).toBe('matched');
  });

  test.each<[string, Given, string]>([
    ['nothing', { body: '' }, 'not a JSON object'],
    ['no JSON', { body: '<html>gateway</html>' }, 'not a JSON object'],
    ['half a brand', { body: BRAND.slice(0, 30) }, 'not a JSON object'],
    ['an array', { body: '[{"name":"Acme"}]' }, 'not a JSON object'],
    ['null', { body: 'null' }, 'not a JSON object'],
    ['bytes that are no UTF-8', { body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) }, 'not UTF-8'],
    ['a body over the cap', { body: BRAND, incomplete: 'too_large' }, 'too large'],
    ['a body cut off', { body: BRAND, incomplete: 'cut_off' }, 'cut off'],
  ])('%s instead of a brand is worth one more request, and was billed', (_what, given, why) => {
    const { meaning, cost } = read(200, given);
    expect(meaning).toMatchObject({ type: 'unusable', reason: `answer damaged, was billed (${why})` });
    expect(cost).toBe('maybe_billed');
  });
});

describe('a 200 that is not a brand at all', () => {
  test.each([
    '{}',
    '{"message":"Not Found"}',
    '{"statusCode":404,"error":"Not Found"}',
    '{"constructor":{},"toString":1}',
  ])('%s has failed, billed: a second request would be answered alike', (body) => {
    const meaning = { type: 'failed', isNoBrand: true };
    expect(read(200, { body })).toMatchObject({ meaning, cost: 'billed' });
  });

  test.each([
    '{"id":1}',
    '{"id":"id_1"}',
    '{"domain":"acme.example","available":true}',
    '{"id":"7","name":"a repository","description":"of code","stars":3}',
    '{"name":"x","links":{"self":"/x"},"company":"Acme"}',
    '{"name":"x","qualityScore":"high","claimed":"yes"}',
    '{"name":"x","company":[],"logos":"none"}',
  ])('%s is not enough for a brand: any service has such fields', (body) => {
    const why = /^the answer is not a brand, was billed \(it has (too few fields|no field) of a brand\)$/;
    const meaning = { type: 'failed', isNoBrand: true, reason: expect.stringMatching(why) };
    expect(read(200, { body })).toMatchObject({ meaning, cost: 'billed' });
  });

  test.each([
    '{"name":"Acme","qualityScore":0.9}',
    '{"id":"id_1","urn":"urn:brand:1"}',
    '{"domain":"acme.example","company":null}',
    '{"name":null,"description":null,"longDescription":null,"links":null,"logos":null}',
    '{"name":"Acme","domain":"acme.example","claimed":true,"links":[],"logos":[],"colors":[],"fonts":[],"images":[]}',
    '{"qualityScore":1,"isNsfw":true,"new":{"field":7}}',
    '{"name":7,"domain":"acme.example","isNsfw":false}',
  ])('%s is enough: nothing is required, and new fields are accepted', (body) => {
    expect(read(200, { body }).meaning.type).toBe('matched');
  });

  test('a page or unrelated JSON shows that this is not the service, half a brand does not', () => {
    const evidence = (given: Given) => (read(200, given).meaning as { evidence?: string }).evidence;
    expect(evidence({ body: '<!doctype html>' })).toBe('none');
    expect(evidence({ body: 'OK' })).toBe('none');
    expect(evidence({ body: '[]' })).toBe('none');
    for (const body of ['', ' \n{"name":"Ac', '\ufeff{"na']) expect(evidence({ body })).toBeUndefined();
    expect(evidence({ body: '<html>', incomplete: 'cut_off' })).toBeUndefined();
    expect(evidence({ body: '<html>', headers: { 'x-api-key-quota': '9' } })).toBeUndefined();
  });
});

describe('a byte order mark', () => {
  const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
  const marked = (text: string) => Buffer.concat([BOM, Buffer.from(text)]);

  test('before a brand is skipped, and is not kept', () => {
    const { meaning, cost } = read(200, { body: marked(BRAND) });
    expect([meaning, cost]).toMatchObject([{ type: 'matched', body: Buffer.from(BRAND) }, 'billed']);
  });

  test('before an error hides neither its code nor that it is an object', () => {
    const queued = read(404, { body: marked('{"error":"crawl_queued"}') });
    expect(queued.meaning).toMatchObject({ retryLater: true });
    expect(read(404, { body: marked('{}') }).meaning).toMatchObject({ evidence: 'object' });
  });

  test('alone is not a brand', () => {
    expect(read(200, { body: BOM }).meaning.type).toBe('unusable');
  });
});

const USAGE = { 'x-api-key-approximate-usage': '7' };
const to = (location: string) => ({ headers: { location } });

test.each<[number, string, Given, string]>([
  [404, 'an empty object and usage', { body: '{}', headers: USAGE }, 'own'],
  [404, 'a page and the quota', { body: '<h1>404</h1>', headers: { 'x-api-key-quota': '250' } }, 'own'],
  [404, 'a code in the header', { headers: { 'x-bf-error': 'brand_not_found' } }, 'own'],
  [404, 'a code in the body', { body: '{"error":"not_found"}' }, 'own'],
  [204, 'usage', { headers: USAGE }, 'own'],
  [404, 'an empty object', { body: '{}' }, 'object'],
  [404, 'words as the error', { body: '{"status":404,"error":"Not Found"}' }, 'object'],
  [404, 'usage that is not a number', { body: '{}', headers: { 'x-api-key-quota': 'many' } }, 'object'],
  [404, 'an object that broke off', { body: '{"mess', incomplete: 'cut_off' }, 'object'],
  [204, 'nothing', {}, 'object'],
  [404, 'a page', { body: '<h1>404</h1>' }, 'none'],
  [404, 'no body', {}, 'none'],
  [404, 'a list', { body: '[]' }, 'none'],
  [405, 'an empty object', { body: '{}' }, 'object'],
  [410, 'a code', { body: '{"error":"gone"}' }, 'own'],
  [400, 'a page', { body: '<h1>400 The plain HTTP request was sent to HTTPS port</h1>' }, 'none'],
  [400, 'an empty object', { body: '{}' }, 'object'],
  [301, 'a place and an object', { ...to('https://api.example/v2/brands/x'), body: '{}' }, 'none'],
  [308, 'a place and usage', { headers: { ...USAGE, location: '/login' } }, 'own'],
  [302, 'no place, and an object', { body: '{}' }, 'object'],
  [304, 'nothing', {}, 'none'],
])('what %i with %s reveals of its sender', (status, _what, given, evidence) => {
  const type = status === 404 || status === 204 ? 'not_found' : 'failed';
  expect(read(status, given).meaning).toMatchObject({ type, evidence });
});

describe('a redirect', () => {
  test.each([
    ['https://api.example/v2/brands/domain/acme.com?allowNsfw=true', 'https://api.example'],
    ['https://api.example:8443/team/v2/brands/domain/acme.com', 'https://api.example:8443/team'],
    ['//api.example/v2/brands/ticker/ACM', 'http://api.example'],
    ['https://user:pass@login.example/start?back=acme.com#top', 'https://login.example/start'],
    ['/v2/brands/domain/www.acme.com', '/v2/brands/'],
    ['/login?to=/v2/brands/domain/acme.com', '/login'],
  ])('a redirect to %s names %s, and nothing of the request', (location, target) => {
    const reason = `the service answered 301 (a redirect to ${target}, not followed)`;
    expect(read(301, to(location)).meaning).toMatchObject({ reason });
  });

  test.each(['', 'http://[', undefined])('a redirect to %j leads nowhere', (location) => {
    const { meaning } = read(301, location === undefined ? {} : to(location));
    const reason = 'the service answered 301 (a redirect or empty answer, not followed)';
    expect(meaning).toMatchObject({ reason });
  });
});

describe('the answer table', () => {
  const NOT_FOUND = { type: 'not_found', status: 404, retryLater: false };
  const LATER = { type: 'not_found', status: 404, retryLater: true };
  const FAILED = { type: 'failed' };
  const BAD_TOKEN = { type: 'credentials' };
  const DOWN = { type: 'unavailable', retryAfterMs: null };
  const named = (code: string): Given => ({ headers: { 'x-bf-error': code } });
  const inBody = (code: string): Given => ({ body: JSON.stringify({ message: 'words', error: code }) });
  const SPEC: Given = { body: '{}', headers: { 'content-type': 'application/json' } };

  test.each<[number, string, Given, object, Answer['cost']]>([
    [404, 'an empty object', SPEC, NOT_FOUND, 'billed'],
    [404, 'no body', {}, NOT_FOUND, 'billed'],
    [404, 'a code for later', named('crawl_queued'), LATER, 'billed'],
    [404, 'a code for later in the body', inBody('CRAWL_QUEUED'), LATER, 'billed'],
    [404, 'a code for ever', named('domain_unresolvable'), NOT_FOUND, 'billed'],
    [404, 'a body cut off', { body: '{"mess', incomplete: 'cut_off' }, NOT_FOUND, 'billed'],
    [204, 'no body', {}, { ...NOT_FOUND, status: 204 }, 'free'],
    [400, 'an empty object', SPEC, FAILED, 'free'],
    [400, 'a code', named('invalid_domain'), FAILED, 'free'],
    [405, 'an empty object', SPEC, FAILED, 'billed'],
    [301, 'no body', { headers: { location: 'https://elsewhere.example/' } }, FAILED, 'billed'],
    [304, 'no body', {}, FAILED, 'billed'],
    [201, 'a brand', { body: BRAND }, FAILED, 'billed'],
    [401, 'an empty object', SPEC, BAD_TOKEN, 'free'],
    [402, 'an empty object', SPEC, BAD_TOKEN, 'free'],
    [403, 'an empty object', SPEC, BAD_TOKEN, 'free'],
    [500, 'an empty object', SPEC, DOWN, 'free'],
    [503, 'a wait', { headers: { 'retry-after': '7' } }, { ...DOWN, retryAfterMs: 7_000 }, 'free'],
    [599, 'no body', {}, DOWN, 'free'],
  ])('%i with %s', (status, _what, given, meaning, cost) => {
    const answer = read(status, given);
    expect(answer.meaning).toMatchObject(meaning);
    expect(answer.cost).toBe(cost);
  });

  const QUOTA = 'quota';
  const THROUGHPUT = 'throughput';
  const SEEN_BODY = '{"message":"API key quota exceeded","quota":250,"used":251}';
  test.each<[string, Given, string | null]>([
    ['nothing said', SPEC, null],
    ['a code for quota', named('quota_exceeded'), QUOTA],
    ['a code for quota in the body', inBody('quota_exceeded'), QUOTA],
    ['a code for credit', named('no_credits_left'), QUOTA],
    ['the body that was observed for quota', { body: SEEN_BODY }, QUOTA],
    ['the same at the last request', { body: '{"quota":250,"used":250}' }, QUOTA],
    ['the code before the body', { ...named('rate_limited'), body: SEEN_BODY }, THROUGHPUT],
    ['numbers that leave room', { body: '{"message":"slow down","quota":250,"used":90}' }, null],
    ['a code for throughput', named('rate_limit_exceeded'), THROUGHPUT],
    ['another one', inBody('too_many_requests'), THROUGHPUT],
    ['a third', named('THROTTLED'), THROUGHPUT],
    ['a code nobody knows', named('enhance_your_calm'), null],
    ['a code that is not a word', { headers: { 'x-bf-error': 'quota exceeded, sorry' } }, null],
  ])('429 with %s', (_what, given, code) => {
    const answer = read(429, given);
    expect(answer.meaning).toEqual({ type: 'refused', code, retryAfterMs: null });
    expect(answer.cost).toBe('free');
  });

  test('429 with a Retry-After says how long to wait', () => {
    const dated = { 'retry-after': 'Tue, 15 Jan 2030 12:00:09 GMT', date: 'Tue, 15 Jan 2030 12:00:00 GMT' };
    expect(read(429, { headers: { 'retry-after': '2' } }).meaning).toMatchObject({ retryAfterMs: 2_000 });
    expect(read(429, { headers: dated }).meaning).toMatchObject({ retryAfterMs: 9_000 });
  });

  test('a failure names its status and its code, and nothing else of the body', () => {
    const { meaning } = read(400, { body: '{"message":"secret words","error":"invalid_domain"}' });
    const reason = 'the service answered 400 invalid_domain (request rejected)';
    expect(meaning).toEqual({ type: 'failed', reason, evidence: 'own' });
  });

  test.each([401, 402, 403] as const)('a refused token is reported with its status: %i', (status) => {
    expect(read(status).meaning).toMatchObject({ type: 'credentials', status });
  });
});

describe('no answer', () => {
  test.each([
    ['no_http', { evidence: 'none' }],
    ['passing', {}],
    [undefined, {}],
  ] as const)('after the request was sent (%s) may have been billed', (fault, shown) => {
    const result = {
      type: 'no_answer',
      wasSent: true,
      reason: 'ECONNRESET',
      ...(fault && { fault }),
    } as const;
    expect(readAnswer(result, FREE_STATUSES, NOON)).toEqual({
      meaning: { type: 'unusable', reason: 'no answer, may have been billed (ECONNRESET)', ...shown },
      cost: 'maybe_billed',
      ...{ quota: null, usage: null, date: null },
    });
  });

  test('before it was sent cannot have been billed', () => {
    const result = { type: 'no_answer', wasSent: false, reason: 'ECONNREFUSED' } as const;
    const meaning = { type: 'unavailable', reason: 'ECONNREFUSED', retryAfterMs: null };
    expect(readAnswer(result, FREE_STATUSES, NOON)).toMatchObject({ meaning, cost: 'free' });
  });
});

describe('what is billed', () => {
  test.each<[readonly string[], boolean, readonly number[]]>([
    [FREE_STATUSES, true, [200, 304, 404]],
    [FREE_STATUSES, false, [204, 400, 402, 500, 599]],
    [[], false, [401, 403, 429]],
    [[], true, [402, 500]],
    [['404'], false, [404]],
    [['4xx'], false, [404]],
    [['4xx', '5xx'], true, [200]],
  ])('with free statuses %j is %s for %j', (free, isBilled, statuses) => {
    for (const status of statuses) expect(isBilledStatus(status, free)).toBe(isBilled);
  });

  test('a damaged answer that was free fails: it is not retried like a billed one', () => {
    expect(read(200, { body: '?' }, ['200'])).toMatchObject({ meaning: { type: 'failed' }, cost: 'free' });
  });
});

describe('the account in the headers', () => {
  test.each<[string, Record<string, string>, [number | null, number | null]]>([
    ['both', { 'x-api-key-quota': '250', 'x-api-key-approximate-usage': '17' }, [250, 17]],
    ['neither', {}, [null, null]],
    ['one', { 'x-api-key-quota': '250' }, [250, null]],
    ['nonsense', { 'x-api-key-quota': '2.5e2', 'x-api-key-approximate-usage': '-1' }, [null, null]],
  ])('%s', (_what, headers, [quota, usage]) => {
    expect(read(404, { headers })).toMatchObject({ quota, usage });
  });

  test('is read from refusals and failures too', () => {
    const headers = { 'x-api-key-quota': '250', 'x-api-key-approximate-usage': '251' };
    for (const status of [200, 204, 400, 404, 429, 503])
      expect(read(status, { headers })).toMatchObject({ quota: 250, usage: 251 });
  });

  test('is dated by the service', () => {
    expect(read(404, { headers: { date: 'Tue, 15 Jan 2030 12:00:00 GMT' } }).date).toBe(NOON);
    expect(read(404, { headers: { date: 'yesterday' } }).date).toBeNull();
  });
});

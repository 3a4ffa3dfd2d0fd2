import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { FAULTS, type Faults, parseFaults, withFaults } from '../../src/local-service/faults.js';
import type { ServiceResponse } from '../../src/local-service/service-request.js';
import { billedBy, createTinyService, getFrom, OWN_DOMAIN, QUOTA, USAGE } from './tiny-service.js';

function start(faults: Partial<Faults>, terms: Record<string, unknown> = { quota: 10_000 }) {
  const tiny = createTinyService({ terms });
  const get = getFrom(withFaults(tiny.service, { ...parseFaults([]), ...faults }, tiny.clock));
  return { get, billed: () => billedBy(tiny.service), clock: tiny.clock, service: tiny.service };
}

async function ask({ get }: ReturnType<typeof start>, count: number): Promise<ServiceResponse[]> {
  const answers: ServiceResponse[] = [];
  for (let i = 0; i < count; i += 1) answers.push(await get('/v2/brands/acme.com'));
  return answers;
}

const share = (answers: readonly ServiceResponse[], is: (answer: ServiceResponse) => boolean) =>
  answers.filter(is).length / answers.length;
const isJson = ({ body }: ServiceResponse) => {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
};

describe('faults', () => {
  it('change nothing by default', async () => {
    const faulty = start({});
    const asked = { path: '/v2/brands/acme.com', authorization: 'Bearer token-data' };
    const body = Buffer.from('{"name":"Acme","isNsfw":false}');
    const answer = await faulty.get(asked.path);
    expect(answer).toEqual({ ...(await faulty.service.handle({ ...asked, method: 'HEAD' })), body });
  });

  it.each([
    ['500', { 500: 0.2 }, (answer: ServiceResponse) => answer.status === 500, false],
    ['503', { 503: 0.2 }, (answer: ServiceResponse) => answer.status === 503, false],
    ['dropped ones', { drop: 0.2 }, (answer: ServiceResponse) => answer.cut === 'before-headers', false],
    ['reset connections', { reset: 0.2 }, (answer: ServiceResponse) => answer.cut === 'before-headers', true],
    ['truncated bodies', { truncate: 0.2 }, (answer: ServiceResponse) => answer.cut === 'in-body', true],
    ['damaged bodies', { damage: 0.2 }, (answer: ServiceResponse) => !isJson(answer), true],
  ])('make a fifth of the answers %s, billed as specified', async (_title, faults, isFaulty, isBilled) => {
    const faulty = start(faults);
    const answers = await ask(faulty, 2_000);
    expect(share(answers, isFaulty)).toBeGreaterThan(0.16);
    expect(share(answers, isFaulty)).toBeLessThan(0.24);
    const good = answers.filter((answer) => !isFaulty(answer)).length;
    expect(await faulty.billed()).toBe(isBilled ? 2_000 : good);
  });

  it('add up', async () => {
    const answers = await ask(start({ 500: 0.5, 503: 0.5 }), 200);
    expect(share(answers, ({ status }) => status >= 500)).toBe(1);
  });

  it('shorten a truncated body, but not a damaged one', async () => {
    for (const answer of await ask(start({ truncate: 1 }), 50)) {
      expect(answer.body.length).toBeLessThan(Number(answer.headers['content-length']));
    }
    for (const answer of await ask(start({ damage: 1 }), 50)) {
      expect(answer.body.length).toBe(Number(answer.headers['content-length']));
    }
  });

  it('repeat with an equal seed', async () => {
    const statuses = async (seed: number) =>
      (await ask(start({ seed, 503: 0.5 }), 50)).map(({ status }) => status);
    expect(await statuses(7)).toEqual(await statuses(7));
    expect(await statuses(7)).not.toEqual(await statuses(8));
  });

  it('wait for latency on the clock, with jitter on top', async () => {
    const faulty = start({ latency: 100, jitter: 50 });
    await ask(faulty, 20);
    expect(faulty.clock.slept).toHaveLength(20);
    for (const ms of faulty.clock.slept) expect(ms).toSatisfy((wait: number) => wait >= 100 && wait < 150);
    expect(new Set(faulty.clock.slept).size).toBeGreaterThan(10);
  });

  it('start and end an outage on the clock', async () => {
    const faulty = start({ 'outage-from': 1_000, 'outage-for': 5_000 });
    const began = faulty.clock.now();
    const statusAt = async (ms: number) => {
      faulty.clock.set(began + ms);
      return (await faulty.get('/v2/brands/acme.com')).status;
    };
    const statuses: number[] = [];
    for (const ms of [999, 1_000, 5_999, 6_000]) statuses.push(await statusAt(ms));
    expect(statuses).toEqual([200, 503, 503, 200]);
  });

  it('apply a throughput limit in every rolling second, and refuse for free', async () => {
    const faulty = start({ 'per-second': 3, 'retry-after': 2 });
    const began = faulty.clock.now();
    const statusAt = async (ms: number) => {
      faulty.clock.set(began + ms);
      const answer = await faulty.get('/v2/brands/acme.com');
      if (answer.status === 429) expect(answer.headers['retry-after']).toBe('2');
      return answer.status;
    };
    const statuses: number[] = [];
    for (const ms of [0, 600, 900, 950, 999, 1_000, 1_001, 1_599, 1_600, 1_900])
      statuses.push(await statusAt(ms));
    expect(statuses).toEqual([200, 200, 200, 429, 429, 200, 429, 429, 200, 200]);
    expect(await faulty.billed()).toBe(6);
  });

  it('send no Retry-After without a value for it', async () => {
    const answers = await ask(start({ 'per-second': 1 }), 2);
    expect(answers.at(1)?.status).toBe(429);
    expect(answers.at(1)?.headers).not.toHaveProperty('retry-after');
  });

  it('can omit usage headers', async () => {
    const [answer] = await ask(start({ 'usage-headers': 'off' }), 1);
    expect(answer?.status).toBe(200);
    expect(answer?.headers).not.toHaveProperty(USAGE);
    expect(answer?.headers).not.toHaveProperty(QUOTA);
  });

  it('delay the usage header, from before the first request on', async () => {
    const faulty = start({ 'usage-lag': 2_000 });
    const send = () =>
      faulty.service.handle({ method: 'GET', path: '/v2/brands/a.com', authorization: 'Bearer token-data' });
    for (let i = 0; i < 60; i += 1) await send();
    const began = faulty.clock.now();
    const usageAt = async (ms: number) => {
      faulty.clock.set(began + ms);
      return (await faulty.get('/v2/brands/acme.com')).headers[USAGE];
    };
    const usages: unknown[] = [];
    for (const ms of [0, 1_000, 1_999, 2_000, 3_500]) usages.push(await usageAt(ms));
    expect(usages).toEqual(['60', '60', '60', '61', '62']);
  });
});

describe('the coded dialect', () => {
  const coded = (faults: Partial<Faults> = {}, terms?: Record<string, unknown>) =>
    start({ dialect: 'coded', ...faults }, terms);

  it.each([
    ['a malformed header', 401, { authorization: 'Basic x' }],
    ['no credentials', 402, { authorization: undefined }],
    ['an unknown token', 403, { authorization: 'Bearer wrong' }],
  ])('%s is %i', async (_title, status, as) => {
    const answer = await coded().get('/v2/brands/acme.com', as);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ error: answer.headers['x-bf-error'] });
  });

  it('has a code and the numbers for a spent quota, and none for a throughput limit', async () => {
    const spent = await coded({}, { plan: 'free', quota: 0 }).get('/v2/brands/acme.com');
    expect(spent.headers['x-bf-error']).toBe('quota_exceeded');
    expect(JSON.parse(spent.body.toString())).toMatchObject({ quota: 0, used: 0 });
    const [, fast] = await ask(coded({ 'per-second': 1 }), 2);
    expect(fast?.status).toBe(429);
    expect(fast?.headers).not.toHaveProperty('x-bf-error');
    expect(JSON.parse(fast?.body.toString() ?? '')).toEqual({ message: 'Too many requests' });
  });

  it('has codes for a brand that is not found or being fetched', async () => {
    const codeOf = async (faults: Partial<Faults>) =>
      (await coded(faults).get('/v2/brands/nobody.com')).headers['x-bf-error'];
    expect(await codeOf({})).toBe('not_found');
    expect(await codeOf({ 'crawl-queued': 1 })).toBe('crawl_queued');
  });

  it('leaves brands unchanged, and every error has the right length', async () => {
    const { get } = coded();
    expect((await get(`/v2/brands/${OWN_DOMAIN}`)).body.toString()).toBe('{"name":"Own","isNsfw":false}');
    const missing = await get('/v2/brands/nobody.com');
    expect(missing.headers['content-length']).toBe(String(missing.body.length));
  });
});

describe('fault settings', () => {
  it('may be absent', () => {
    const none = { seed: 1, latency: 0, 503: 0, 'usage-headers': 'on', dialect: 'spec' };
    expect(parseFaults([])).toMatchObject(none);
  });

  it.each([
    ['latency=100ms', { latency: 100 }],
    ['latency=100', { latency: 100 }],
    ['jitter=2s', { jitter: 2000 }],
    ['500=0.1', { 500: 0.1 }],
    ['503=10%', { 503: 0.1 }],
    ['503=100%', { 503: 1 }],
    ['outage-from=1m', { 'outage-from': 60_000 }],
    ['per-second=50', { 'per-second': 50 }],
    ['retry-after=3', { 'retry-after': 3 }],
    ['usage-headers=off', { 'usage-headers': 'off' }],
    ['dialect=coded', { dialect: 'coded' }],
  ])('%s', (text, part) => {
    expect(parseFaults([text])).toEqual({ ...parseFaults([]), ...part });
  });

  it('use the last value of a fault', () => {
    expect(parseFaults(['drop=1', 'drop=0.5']).drop).toBe(0.5);
  });

  it('list everything that is wrong at once, with the valid form', () => {
    const wrong = ['503=2', 'latency=soon', 'colour=red', 'reset', 'constructor=1'];
    expect(() => parseFaults(wrong)).toThrow(ConfigError);
    for (const text of wrong) expect(() => parseFaults(wrong)).toThrow(text);
    expect(() => parseFaults(wrong)).toThrow(FAULTS.latency.form);
  });
});

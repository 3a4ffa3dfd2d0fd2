/** A real proxy, a real service with TLS behind it, and what each of them received. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpSend } from '../../src/brand-api/send.js';
import { postWebhook, WEBHOOK_TERMS } from '../../src/notify/webhook.js';
import { fetchLogos, openLogoAgent, type Resolve } from '../../src/run/report/fetch-logos.js';
import { networkOf } from '../../src/settings/network.js';
import { COMPANY_CA, COMPANY_TLS } from '../support/company-ca.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { listenForTest } from '../support/listen-anew.js';

const TOKEN = 'Bearer tok_Zx81-secret';
const NO_PROXIES = { httpsProxy: null, httpProxy: null, noProxy: null, caFile: null, nodeCaFile: null };

/** `arrived`: the paths requested. */
async function startService({ isTls = true, answer }: { isTls?: boolean; answer?: RequestListener } = {}) {
  const arrived: string[] = [];
  const listener: RequestListener = (request, response) => {
    arrived.push(request.url ?? '');
    if (answer) answer(request, response);
    else response.end('{}');
  };
  const server = isTls ? createTlsServer(COMPANY_TLS, listener) : createServer(listener);
  return { arrived, port: await listenForTest(server) };
}

const USER = `me:${encodeURIComponent('pa:ss w@rd')}@`;
type Way = { scheme?: string; trusts?: boolean; noProxy?: string; user?: string };

const through = (proxy: ConnectProxy, rest: Way = {}) => {
  const { scheme = 'http', trusts = true, noProxy = null, user = USER } = rest;
  const address = `${scheme}://${user}127.0.0.1:${proxy.port}`;
  const network = networkOf({ ...NO_PROXIES, httpsProxy: address, httpProxy: address, noProxy });
  return { ...network, extraCa: trusts ? COMPANY_CA : null };
};

function sending(baseUrl: string, network: ReturnType<typeof through>, timeoutMs = 20_000) {
  const http = createHttpSend({ baseUrl, connections: 4, timeoutMs, network });
  onTestFinished(() => http.close());
  return (path: string) => http.send({ path, authorization: TOKEN });
}

test.each(['http', 'https'])('a lookup goes through the tunnel of an %s proxy unread', async (scheme) => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port, { isTls: scheme === 'https' });
  const send = sending('https://api.test', through(proxy, { scheme }));
  const answers = await Promise.all(['/a', '/b', '/c'].map(send));
  expect(answers.map((answer) => answer.type === 'answer' && answer.status)).toEqual([200, 200, 200]);
  expect(service.arrived.sort()).toEqual(['/a', '/b', '/c']);
  expect(new Set(proxy.targets)).toEqual(new Set(['api.test:443']));
  expect(proxy.credentials[0]).toBe(`Basic ${Buffer.from('me:pa:ss w@rd').toString('base64')}`);
  expect(proxy.seen().length).toBeGreaterThan(500);
  expect(proxy.seen()).not.toMatch(/tok_Zx81|Bearer|GET \/a HTTP/);
  expect(proxy.plain).toBe(0);
});

test('plain http goes through a tunnel too, so no proxy forwards the token', async () => {
  const service = await startService({ isTls: false });
  const proxy = await startConnectProxy(service.port);
  expect(await sending('http://api.test', through(proxy))('/a')).toMatchObject({ status: 200 });
  expect([proxy.targets, proxy.plain]).toEqual([['api.test:80'], 0]);
});

test('hosts in NO_PROXY, and this machine, are reached directly', async () => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port);
  for (const [host, noProxy] of [['127.0.0.1'], ['localhost', 'other.test']]) {
    const send = sending(
      `https://${host}:${service.port}`,
      through(proxy, noProxy === undefined ? {} : { noProxy }),
    );
    expect(await send('/a')).toMatchObject({ status: 200 });
  }
  // A name with a hyphen in front is refused without a DNS server.
  expect(await sending('https://-api.test', through(proxy, { noProxy: '.test' }))('/a')).toMatchObject({
    wasSent: false,
    reason: 'the host -api.test does not exist',
  });
  expect(proxy.targets).toEqual([]);
});

test.each<[behaviour: number | 'close' | 'hang', fault: string, words: RegExp, user?: string]>([
  [407, 'barred', /not accept the user and password \(407\); set them as http:\/\/user:password@HOST:PORT$/],
  [407, 'barred', /asks for a user and a password \(407\); set them as http:/, ''],
  [403, 'barred', /refuses to connect to api.test:443 \(403\)/],
  [502, 'passing', /cannot connect to api.test:443 at the moment \(502\)$/],
  ['close', 'passing', /the other side closed the connection$/],
  ['hang', 'passing', /did not answer in time$|no complete answer/],
])('nothing is sent when a proxy answers %s: %s', async (behaviour, fault, words, user = USER) => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port, { behaviour });
  const send = sending('https://api.test', through(proxy, { user }), behaviour === 'hang' ? 500 : 20_000);
  const result = await send('/a');
  expect(result).toMatchObject({ type: 'no_answer', wasSent: false, reason: expect.stringMatching(words) });
  if (behaviour !== 'hang') expect(result).toMatchObject({ fault });
  expect(JSON.stringify(result)).not.toMatch(/pa:ss|pa%3Ass|cGE6c3M|me:/);
  expect([proxy.targets.length, service.arrived]).toEqual([1, []]);
});

test('a proxy that cannot be reached is named with its variable', async () => {
  const proxy = await startConnectProxy(1);
  const gone = { ...proxy, port: 1 };
  expect(await sending('https://api.test', through(gone))('/a')).toEqual({
    type: 'no_answer',
    wasSent: false,
    reason: 'the proxy 127.0.0.1:1 (HTTPS_PROXY): nothing listens at 127.0.0.1:1',
    fault: 'refused',
  });
});

test('a proxy that dies before the request is sent costs nothing; after it, the request may be billed', async () => {
  const silent = await startConnectProxy(1);
  // The tunnel stands, and ends in the handshake: the port behind it is closed.
  expect(await sending('https://api.test', through(silent))('/a')).toMatchObject({ wasSent: false });
  let cut: () => void = () => undefined;
  const service = await startService({ answer: () => cut() });
  const proxy = await startConnectProxy(service.port);
  cut = () => proxy.cut();
  expect(await sending('https://api.test', through(proxy))('/a')).toMatchObject({
    type: 'no_answer',
    wasSent: true,
  });
  expect(service.arrived).toEqual(['/a']);
});

test('without the authority of the company nothing is sent, and the reason names --ca-file', async () => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port);
  const result = await sending('https://api.test', through(proxy, { trusts: false }))('/a');
  expect(result).toMatchObject({
    wasSent: false,
    fault: 'lasting',
    reason: expect.stringMatching(/--ca-file$/),
  });
  const secure = await startConnectProxy(service.port, { isTls: true });
  const refused = await sending(
    'https://api.test',
    through(secure, { scheme: 'https', trusts: false }),
  )('/a');
  expect(refused).toMatchObject({
    wasSent: false,
    fault: 'lasting',
    reason: expect.stringMatching(
      /^the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\): the certificate .*--ca-file$/,
    ),
  });
  expect(service.arrived).toEqual([]);
});

test('a certificate for another host is refused through a tunnel too', async () => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port);
  const result = await sending('https://wrong.test', through(proxy))('/a');
  expect(result).toMatchObject({ wasSent: false, reason: 'the certificate belongs to another host' });
});

test('webhooks use the same tunnel', async () => {
  const service = await startService();
  const proxy = await startConnectProxy(service.port);
  const message = { url: 'https://hooks.test/brands?key=of-the-receiver', content: {}, secret: null };
  await postWebhook(message, { ...WEBHOOK_TERMS, network: through(proxy) });
  expect(service.arrived).toEqual(['/brands?key=of-the-receiver']);
  expect(proxy.seen()).not.toContain('of-the-receiver');
});

test.each([
  ['of the internet', 'logos.test', '1.1.1.1', 1],
  ['that only the proxy can resolve', 'logos.test', null, 1],
  ['of the company', 'logos.test', '10.1.2.3', 0],
])('a logo at an address %s: %s', async (_, host, address, fetched) => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const service = await startService({ answer: (_request, response) => response.end(png) });
  const proxy = await startConnectProxy(service.port);
  const resolve: Resolve = (_name, _options, done) =>
    address === null
      ? done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), [])
      : done(null, [{ address, family: 4 }]);
  const dispatcher = openLogoAgent(through(proxy), resolve);
  onTestFinished(() => dispatcher.destroy());
  const options = { dispatcher, stop: new AbortController().signal, totalMs: 30_000 };
  const logos = await fetchLogos([`https://${host}/a.png`], options);
  expect([logos.size, proxy.targets.length, service.arrived.length]).toEqual([fetched, fetched, fetched]);
});

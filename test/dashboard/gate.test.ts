/** Access to the dashboard: password, session and headers. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ownPath, SESSION_MS } from '../../src/dashboard/gate.js';
import { ask, basic, cookieOf, PAGE, sessionOf, signIn } from './asking.js';
import { LINK_TOKEN, PASSWORD, startCrowded, startDashboard } from './served.js';

const PATHS = ['/', '/status.json', '/runs/x', '/files/x', '/x'];

it.each(PATHS)('refuses %s without the password', async (path) => {
  const served = await startDashboard();
  const answer = await ask(served, path);
  expect(answer.status).toBe(401);
  expect(answer.text).toMatch(path.endsWith('.json') ? /"code":"signed-out"/ : /^sign in first/);
  const page = await ask(served, path, { headers: PAGE });
  expect(page.status).toBe(303);
  expect(page.headers.location).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
  expect((await ask(served, path, { headers: basic('something else') })).status).toBe(401);
  expect(
    (await ask(served, path, { headers: { cookie: `brand-enrich-${new URL(served.url).port}=1.2` } })).status,
  ).toBe(401);
  for (const method of ['POST', 'PUT', 'DELETE']) {
    expect((await ask(served, path, { method })).status).toBe(401);
  }
});

it('accepts HTTP basic authentication with any user name', async () => {
  const served = await startDashboard();
  const answer = await ask(served, '/status.json', { headers: basic(PASSWORD, 'anybody') });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({
    host: 'etl-1',
    engineUnavailableSince: null,
    serviceOutage: null,
    data: { account: { left: 9_780 }, inboxes: [{ waiting: [{ file: 'Kunden März.csv' }] }] },
  });
});

it('signs in by form with a cookie that does not contain the password and is hidden from scripts', async () => {
  const served = await startDashboard();
  const answer = await ask(served, '/sign-in', signIn(PASSWORD, '/runs/x'));
  expect(answer.status).toBe(303);
  expect(answer.headers.location).toBe('/runs/x');
  const cookie = cookieOf(answer);
  expect(cookie).not.toMatch(/; Secure/);
  for (const part of ['; HttpOnly', '; SameSite=Strict']) expect(cookie).toContain(part);
  expect(cookie).not.toContain(PASSWORD);
  const session = sessionOf(answer);
  expect((await ask(served, '/', { headers: session })).status).toBe(200);
  served.advance(SESSION_MS);
  expect((await ask(served, '/', { headers: session })).status).toBe(401);
});

it('signs in by link and removes the token from the address', async () => {
  const served = await startDashboard();
  const form = await ask(served, `/?token=${LINK_TOKEN}&a=1`, { headers: PAGE });
  expect(form.status).toBe(200);
  expect(form.text).toContain('Your name');
  expect(form.text).toContain('name="next" value="/?a=1"');
  const answer = await ask(served, `/?token=${LINK_TOKEN}&name=Ada&a=1`, { headers: PAGE });
  expect(answer.status).toBe(303);
  expect(answer.headers.location).toBe('/?a=1');
  expect(cookieOf(answer)).toContain('HttpOnly');
  const wrong = await ask(served, '/?token=something-else&name=Ada', { headers: PAGE });
  expect(wrong.status).toBe(401);
  expect(wrong.headers['set-cookie']).toBeUndefined();
  expect(wrong.text).toContain('This link is old: each start of brand-enrich makes a new one');
  expect(wrong.text).toContain('Ask the person who set this up for the password or a link.');
  const again = await ask(served, '/?token=old&b=2', { headers: { ...PAGE, ...sessionOf(answer) } });
  expect([again.status, again.headers.location]).toEqual([303, '/?b=2']);
});

it('answers wrong passwords one by one, and looks at none while fifty wait; sessions and the link work', async () => {
  const { served, session, calm } = await startCrowded();
  const right = () => ask(served, '/sign-in', signIn(PASSWORD));
  const early = await right();
  expect([early.status, early.headers['retry-after']]).toEqual([429, '10']);
  expect(early.text).toContain('try again in 10 s');
  expect((await ask(served, '/', { headers: session })).status).toBe(200);
  expect((await ask(served, `/?token=${LINK_TOKEN}&name=Ada`, { headers: PAGE })).status).toBe(303);
  expect(new Set((await calm()).map(({ status }) => status))).toEqual(new Set([401]));
  expect((await right()).status).toBe(303);
});

describe('the Host header', () => {
  it.each([
    ['localhost', 200],
    ['127.0.0.1', 200],
    ['[::1]:8787', 200],
    ['dash.localhost', 200],
    ['127.0.0.1.evil.example', 421],
    ['localhost.evil.example:8787', 421],
    ['192.168.0.7', 421],
    ['queue', 421],
    ['127.0y.0.1', 421],
  ])('%s on loopback: %i', async (host, status) => {
    const served = await startDashboard();
    const answer = await ask(served, '/', { headers: { ...basic(PASSWORD), host } });
    expect(answer.status).toBe(status);
    expect(answer.headers['x-frame-options']).toBe('DENY');
    expect(served.errors).toEqual([]);
  });

  it.each([
    ['192.168.0.7:8787', 200],
    ['[fe80::1]', 200],
    ['up:8787', 200],
    ['etl.internal', 200],
    [hostname(), 200],
    ['DASH.example.', 200],
    ['evil.example', 421],
    ['dash.example.evil.example', 421],
    ['10.0.0.1.evil.example', 421],
  ])('%s on all addresses, with https://dash.example: %i', async (host, status) => {
    const served = await startDashboard({ host: '0.0.0.0', publicUrl: 'https://dash.example' });
    const here = { ...served, url: served.url.replace('0.0.0.0', '127.0.0.1') };
    expect((await ask(here, '/', { headers: { ...basic(PASSWORD), host } })).status).toBe(status);
  });
});

it.each([...PATHS, '/sign-in'])('sends %s with the headers that protect a page', async (path) => {
  const served = await startDashboard();
  const { headers } = await ask(served, path, { headers: basic(PASSWORD) });
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  if (!path.endsWith('/x')) expect(headers['content-security-policy']).toContain("default-src 'none'");
});

it('refuses an oversized form', async () => {
  const served = await startDashboard();
  const long = signIn('x'.repeat(5_000));
  const headers = { ...long.headers, 'content-length': String(Buffer.byteLength(long.body)) };
  expect((await ask(served, '/sign-in', { ...long, headers })).status).toBe(413);
});

it.each([
  [undefined, '/'],
  ['/runs/x?status=active', '/runs/x?status=active'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['/a\r\nset-cookie: x', '/'],
  ['/sign-out', '/'],
])('redirects after signing in with next=%s to %s', (next, path) => {
  expect(ownPath(next)).toBe(path);
});

describe('a session', () => {
  it('is that of its cookie, at the process that gave it, and of no other text', async () => {
    const [served, other] = [await startDashboard(), await startDashboard()];
    const statusWith = async (cookie: string) => (await ask(served, '/', { headers: { cookie } })).status;
    const { cookie } = sessionOf(await ask(served, '/sign-in', signIn(PASSWORD)));
    const [name] = cookie.split('=');
    const foreign = sessionOf(await ask(other, '/sign-in', signIn(PASSWORD))).cookie.split('=')[1];
    expect(await statusWith(cookie)).toBe(200);
    for (const text of [foreign, '', cookie.slice(0, -1).split('=')[1], '__proto__'])
      expect(await statusWith(`${name}=${text}`)).toBe(401);
  });

  it.each(['', 'Bearer abc', 'Basic', 'Basic !!!', `Basic ${Buffer.from('nobody').toString('base64')}`])(
    'ignores the header %s as credentials',
    async (authorization) => {
      const answer = await ask(await startDashboard(), '/', { headers: { authorization } });
      expect(answer.text).toMatch(/^sign in first/);
    },
  );

  it.each(['a:b', 'päss'])('accepts the password %s', async (password) => {
    const served = await startDashboard({ password });
    const { authorization } = basic(password, '');
    const headers = { authorization: authorization.replace('Basic', 'basic') };
    expect((await ask(served, '/', { headers })).status).toBe(200);
  });
});

it('a name is cut between characters, never inside one', async () => {
  const served = await startDashboard();
  const form = new URLSearchParams({ password: PASSWORD, user: `${'a'.repeat(59)}😀b` });
  const answer = await ask(served, '/sign-in', { ...signIn(PASSWORD), body: form.toString() });
  expect(answer.status).toBe(303);
  const page = await ask(served, '/', { headers: sessionOf(answer) });
  expect(page.text).toContain(`${'a'.repeat(59)}😀<`);
  expect(served.errors).toEqual([]);
});

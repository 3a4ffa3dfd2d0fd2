/** The gate against a hostile page in the user's browser, guessers, and hostile names of files. */
import { connect } from 'node:net';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { randomPassword } from '../../src/dashboard/gate.js';
import { ask, basic, cookieOf, PAGE, sessionOf, signIn } from './asking.js';
import { LINK_TOKEN, PASSWORD, type ServedDashboard, startCrowded, startDashboard } from './served.js';

const FOREIGN = { origin: 'https://evil.example' };
const signInWith = (served: ServedDashboard, password: string, headers: object) => {
  const form = signIn(password);
  return ask(served, '/sign-in', { ...form, headers: { ...form.headers, ...headers } });
};
const right = (served: ServedDashboard, headers = {}) => signInWith(served, PASSWORD, headers);
const guess = (served: ServedDashboard, headers = {}) => signInWith(served, 'wrong-guess', headers);

it('no page of another site can lock anybody out', async () => {
  const served = await startDashboard();
  for (let time = 0; time < 10; time += 1) {
    const answers = [
      await ask(served, `/?token=wrong-${time}&name=x`, { headers: { ...PAGE, ...FOREIGN } }),
      await ask(served, `/status.json?token=wrong-${time}`),
      await guess(served, FOREIGN),
      await guess(served, { origin: 'null' }),
      await guess(served, { origin: 'http://127.0.0.1:1' }),
      await ask(served, '/', {
        headers: { ...basic('wrong-guess'), 'sec-fetch-site': 'cross-site', accept: '*/*' },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403, 401]);
    expect((await right(served)).status).toBe(303);
  }
});

it('a form without an origin is no sign-in: programs use HTTP Basic', async () => {
  const served = await startDashboard();
  const answer = await right(served, { origin: '' });
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('HTTP Basic');
  expect((await ask(served, '/status.json', { headers: basic(PASSWORD) })).status).toBe(200);
});

it('behind a TLS proxy, the origin is that of --dashboard-url, whatever Host the proxy sends', async () => {
  const served = await startDashboard({ publicUrl: 'https://dash.example' });
  const secure = { origin: 'https://dash.example' };
  for (const host of ['dash.example', '127.0.0.1:8787']) {
    const answer = await right(served, { ...secure, host });
    expect(answer.status, host).toBe(303);
    expect(cookieOf(answer)).toMatch(/; Secure/);
    expect((await right(served, { ...FOREIGN, host })).status).toBe(403);
  }
});

it('the link is 192 random bits, and the only thing that a GET is compared with', async () => {
  expect(Buffer.from(randomPassword(), 'base64url')).toHaveLength(24);
  expect(new Set(Array.from({ length: 100 }, randomPassword)).size).toBe(100);
  const served = await startDashboard();
  for (const path of [`/?token=${PASSWORD}`, `/?token=${PASSWORD}&name=Ada`]) {
    expect((await ask(served, path)).status).toBe(401);
    expect((await ask(served, path, { headers: PAGE })).status).toBe(401);
  }
  const unlinked = await startDashboard({ linkToken: null });
  for (const token of ['', LINK_TOKEN, PASSWORD, 'null']) {
    expect((await ask(unlinked, `/?token=${token}&name=Ada`)).status).toBe(401);
  }
});

it('passwords that nobody looks at are refused before they are read', async () => {
  const { served } = await startCrowded();
  const { hostname, port, host, origin } = new URL(served.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  // The form itself is never sent.
  socket.write(`POST /sign-in HTTP/1.1\r\nhost: ${host}\r\norigin: ${origin}\r\ncontent-length: 40\r\n\r\n`);
  const answer = await new Promise<string>((resolve) =>
    socket.once('data', (bytes) => resolve(String(bytes))),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 429 /);
  expect(answer).toMatch(/connection: close/i);
});

it('wrong passwords are logged, one line a minute, without what was guessed', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const served = await startDashboard({ log });
  await right(served);
  await guess(served, FOREIGN);
  expect(lines).toEqual([]);
  for (let time = 0; time < 8; time += 1) await guess(served);
  expect(lines).toMatchObject([
    { level: 40, address: '127.0.0.1', msg: 'wrong passwords for the dashboard' },
  ]);
  served.advance(60_000);
  await ask(served, '/', { headers: basic('wrong-guess') });
  expect(lines).toMatchObject([{}, { unlogged: 7 }]);
  expect(JSON.stringify(lines)).not.toContain('wrong-guess');
});

it('sign-out ends the session at the server', async () => {
  const served = await startDashboard();
  const [one, other] = [await right(served), await right(served)];
  const status = async (headers: { cookie: string }) => (await ask(served, '/', { headers })).status;
  expect(await status(sessionOf(one))).toBe(200);
  const out = await ask(served, '/sign-out', { method: 'POST', headers: sessionOf(one) });
  expect([out.status, out.headers.location]).toEqual([303, '/sign-in']);
  expect(cookieOf(out)).toMatch(/Max-Age=0/);
  expect(await status(sessionOf(one))).toBe(401);
  expect(await status(sessionOf(other))).toBe(200);
});

it.each([FOREIGN, { origin: 'null' }, { origin: 'http://127.0.0.1:1' }, { origin: '' }])(
  'sign-out from %o is refused',
  async (foreign) => {
    const served = await startDashboard();
    const session = sessionOf(await right(served));
    const out = await ask(served, '/sign-out', { method: 'POST', headers: { ...session, ...foreign } });
    expect(out.status).toBe(403);
    expect(out.headers['set-cookie']).toBeUndefined();
    expect((await ask(served, '/', { headers: session })).status).toBe(200);
  },
);

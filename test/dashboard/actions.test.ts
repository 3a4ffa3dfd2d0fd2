/** Actions of the dashboard: who may do them, what is asked, and what is logged. */
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { ConfigError, usageProblem } from '../../src/core/errors.js';
import { type Action, noEngine, RefusedAction } from '../../src/dashboard/actions.js';
import { faultsOf } from '../support/schemas.js';
import { ask, basic, noticeOf, sessionFor } from './asking.js';
import { PASSWORD, type ServedDashboard, startDashboard } from './served.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A dashboard with one action that asks and one that does not, and what was done and logged. */
async function withActions() {
  const done: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const actions: Action[] = [
    {
      path: '/runs/:id/resume',
      ask: async ({ id }) => ({ title: `Resume ${id}?`, lines: ['It may cost 3.00.'], yes: 'Resume' }),
      async carryOut({ id }) {
        done.push(`resume ${id}`);
        return { path: '/', sentence: `${id} goes on`, subject: id };
      },
    },
    {
      path: '/runs/:id/pause',
      async carryOut({ id }) {
        if (id === 'r-none') throw new RefusedAction('not-found', 'no such run', id, 'choose another');
        if (id === 'r-ended') throw new RefusedAction('not-now', 'it has ended', id, 'choose another');
        if (id === 'r-away') throw noEngine(id);
        if (id === 'r-stays') return { path: '/', sentence: 'it was not started', isRefused: true };
        if (id === 'r-gone') {
          throw new ConfigError(usageProblem('the engine knows no such run', id, 'reload the page'));
        }
        done.push(`pause ${id}`);
        return { path: '/', sentence: `<b>${id}</b> is paused` };
      },
    },
  ];
  return { done, lines, served: await startDashboard({ actions, log }) };
}

const post = (served: ServedDashboard, path: string, cookie: string, fields: Record<string, string>) =>
  ask(served, path, {
    method: 'POST',
    headers: { ...FORM, cookie },
    body: new URLSearchParams(fields).toString(),
  });

describe('an action', () => {
  it('is done once it was confirmed, and logged with the name of the session', async () => {
    const { served, done, lines } = await withActions();
    const { cookie, token } = await sessionFor(served, 'Ada\u202e\nKing ');
    const question = await post(served, 'runs/r-1/resume', cookie, { token });
    expect(question.status).toBe(200);
    for (const text of ['Resume r-1?', 'It may cost 3.00.', `value="${token}"`])
      expect(question.text).toContain(text);
    expect(done).toEqual([]);
    const answer = await post(served, 'runs/r-1/resume', cookie, { token, confirmed: 'yes' });
    expect(answer.status).toBe(303);
    expect(done).toEqual(['resume r-1']);
    const line = { by: 'Ada King', address: '127.0.0.1', action: '/runs/r-1/resume', subject: 'r-1' };
    expect(lines).toMatchObject([{ ...line, msg: 'r-1 goes on' }]);
  });

  it('says on the next page of its session, once, what was done, escaped', async () => {
    const { served } = await withActions();
    const { cookie, token } = await sessionFor(served, '');
    const other = await sessionFor(served, '');
    await post(served, 'runs/r-1/pause', cookie, { token });
    expect(await noticeOf(served, other.cookie)).toBeUndefined();
    expect(await noticeOf(served, cookie)).toBe('&lt;b&gt;r-1&lt;/b&gt; is paused');
    expect(await noticeOf(served, cookie)).toBeUndefined();
  });

  it('that cannot be done says why, is logged, and goes back to our own pages only', async () => {
    const { served, done, lines } = await withActions();
    const { cookie, token } = await sessionFor(served, 'Ada');
    const refused = await post(served, 'runs/r-gone/pause', cookie, { token, back: '//evil.example' });
    expect([refused.status, refused.headers.location]).toEqual([303, '/']);
    expect(await noticeOf(served, cookie)).toContain('no such run');
    expect(lines).toMatchObject([{ by: 'Ada', msg: 'refused on the dashboard' }]);
    expect(done).toEqual([]);
  });

  it.each<[string, (token: string) => Record<string, string>]>([
    ['no token', () => ({})],
    ['an empty token', () => ({ token: '' })],
    ['the token of another session', (token) => ({ token })],
  ])('is refused with %s', async (_name, fieldsOf) => {
    const { served, done } = await withActions();
    const { token } = await sessionFor(served, 'Ada');
    const { cookie } = await sessionFor(served, 'Ada');
    const answer = await post(served, 'runs/r-1/pause', cookie, { ...fieldsOf(token), confirmed: 'yes' });
    expect(answer.status).toBe(403);
    expect(done).toEqual([]);
  });

  it('that is forged is logged without its fields, once a minute with the number of others', async () => {
    const { served, lines } = await withActions();
    const { cookie } = await sessionFor(served, 'Ada');
    const forge = () => post(served, 'runs/r-1/pause', cookie, { token: 'stolen' });
    for (let times = 0; times < 3; times += 1) expect((await forge()).status).toBe(403);
    const line = { by: 'Ada', action: '/runs/r-1/pause', msg: 'a forged form was refused' };
    expect(lines).toMatchObject([{ ...line, address: '127.0.0.1' }]);
    expect(JSON.stringify(lines)).not.toContain('stolen');
    served.advance(60_000);
    await forge();
    expect(lines.slice(1)).toMatchObject([{ ...line, unlogged: 2 }]);
  });

  it('is open to programs with HTTP Basic, but not to the pages of other sites in a browser that sends it', async () => {
    const { served, done } = await withActions();
    const statusWith = async (some: Record<string, string>) => {
      const headers = { ...FORM, ...basic(PASSWORD, 'job'), ...some };
      return (await ask(served, '/runs/r-1/pause', { method: 'POST', headers })).status;
    };
    expect(await statusWith({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusWith({ origin: 'null' })).toBe(403);
    expect(await statusWith({ 'sec-fetch-site': 'cross-site' })).toBe(401);
    expect(done).toEqual([]);
    expect(await statusWith({})).toBe(200);
    expect(done).toEqual(['pause r-1']);
  });

  it('is refused when its form is too long', async () => {
    const { served } = await withActions();
    const { cookie, token } = await sessionFor(served, 'Ada');
    const answer = await post(served, 'runs/r-1/pause', cookie, { token, more: 'x'.repeat(20_000) });
    expect(answer.status).toBe(413);
  });
});

describe('an action that a program orders', () => {
  /** As `curl -X POST` sends it: without a body it has no length either. */
  async function order(path: string, body?: string, headers: Record<string, string> = {}) {
    const { served, done, lines } = await withActions();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(new URL(path, served.url), {
        method: 'POST',
        headers: { ...(body !== undefined && FORM), ...basic(PASSWORD, 'etl'), ...headers },
      });
      if (body === undefined)
        for (const name of ['content-length', 'transfer-encoding']) asked.removeHeader(name);
      asked.on('response', resolve).on('error', reject).end(body);
    });
    const json = JSON.parse(await text(answer));
    return { status: answer.statusCode, headers: answer.headers, json, done, lines };
  }

  it('is answered with what was done, and sets no cookie', async () => {
    const { status, headers, json, done, lines } = await order('/runs/r-1/pause');
    expect([status, done, faultsOf('http-done', json)]).toEqual([200, ['pause r-1'], []]);
    expect(json).toEqual({ version: 1, done: '<b>r-1</b> is paused', links: { page: '/' } });
    expect([headers.location, headers['set-cookie']]).toEqual([undefined, undefined]);
    expect(lines).toMatchObject([{ by: 'etl', action: '/runs/r-1/pause' }]);
  });

  it.each([
    ['r-none', 404, 'not-found'],
    ['r-ended', 409, 'not-now'],
    ['r-stays', 409, 'not-now'],
    ['r-away', 503, 'engine-unreachable'],
    ['r-gone', 400, 'usage-invalid'],
  ])('and cannot have, of %s, is refused with %d', async (id, status, code) => {
    const { status: got, json, done } = await order(`/runs/${id}/pause`);
    expect([got, json.error.code, faultsOf('http-error', json)]).toEqual([status, code, []]);
    expect(done).toEqual([]);
  });

  it('has to be confirmed in the body, and the message says what it may cost', async () => {
    for (const answer of [await order('/runs/r-1/resume'), await order('/runs/r-1/resume?confirmed=yes')]) {
      expect([answer.status, answer.json.error.code, answer.done]).toEqual([400, 'unconfirmed', []]);
      expect(answer.json.error.message).toContain('Resume r-1? It may cost 3.00.');
    }
    const { status, done } = await order('/runs/r-1/resume', 'confirmed=yes');
    expect([status, done]).toEqual([200, ['resume r-1']]);
  });

  it.each<[string, number, string, string | undefined, Record<string, string>]>([
    ['another page', 403, 'form-foreign', 'x=1', { origin: 'https://evil.example' }],
    ['a wrong password', 401, 'password-wrong', undefined, basic('wrong')],
    ['a long body', 413, 'form-too-long', `x=${'x'.repeat(20_000)}`, {}],
    ['a body of unknown length', 413, 'form-too-long', 'x=1', { 'transfer-encoding': 'chunked' }],
  ])('is refused in JSON with %s', async (_name, status, code, body, headers) => {
    const answer = await order('/runs/r-1/pause', body, headers);
    expect([answer.status, answer.json.error.code, answer.done]).toEqual([status, code, []]);
  });
});

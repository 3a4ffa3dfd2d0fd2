import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import { forwardingLog, openLog, textOfLine } from '../../src/core/log.js';
import { keepSecret } from '../../src/core/secrets.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECRET = 'tok-3ecret-value';

async function newLog(level = 'info', name = 'run.log') {
  const path = join(await temporaryFolder(), name);
  const text = () => readFileSync(path, 'utf8');
  return { path, ...openLog({ level, file: path, stderr: process.stderr }), text };
}

it('writes each line as JSON with an ISO time, at once', async () => {
  const { log, text } = await newLog('info', 'deep/run.log');
  log.info({ rows: 3 }, 'read');
  log.warn('odd');
  const lines = text().trimEnd().split('\n');
  const first = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  expect(lines).toHaveLength(2);
  expect(first).toMatchObject({ level: 30, rows: 3, msg: 'read' });
  expect(first.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(first).not.toHaveProperty('hostname');
});

it('an error of ours is written in words, a bug with its stack', async () => {
  const { log, text } = await newLog();
  const cause = new Error('EACCES');
  log.error({ err: new RunError({ code: 'disk-low', subject: '/data', todo: 'free', cause }) }, 'ended');
  log.error({ err: new TypeError('odd') }, 'ended');
  const [ours, bug] = text().trimEnd().split('\n');
  expect(JSON.parse(ours ?? '').err).toEqual({
    code: 'disk-low',
    message: 'too little disk space is left to store paid answers: /data; free',
  });
  expect(JSON.parse(bug ?? '').err).toMatchObject({
    type: 'TypeError',
    stack: expect.stringMatching(/ at /),
  });
});

it.each([
  [{ level: 30, file: 'list.csv', job: 'j-1', msg: 'taken' }, 'list.csv: taken (job j-1)'],
  [
    { level: 40, file: 'list.csv', job: null, reason: 'It has no rows.', msg: 'failed' },
    'warning: list.csv: failed: It has no rows.',
  ],
  [{ level: 30, schedule: 'nightly', exitCode: 7, msg: '3 rows' }, 'nightly: 3 rows (exitCode 7)'],
  [{ level: 50, err: { code: 'disk-low', message: 'low' }, msg: 'ended' }, 'error: ended: low'],
  [{ level: 60, err: { message: 'odd', stack: 'Error: odd\n  at x' } }, 'error: odd\nError: odd\n  at x'],
  [{ level: 30, file: 'a\nb.csv', at: { x: 1 }, msg: 'odd' }, 'a\\nb.csv: odd'],
])('for people, %j reads as a line', (line, text) => {
  const at = new Date(2026, 10, 20, 14, 5, 9);
  expect(textOfLine(JSON.stringify({ time: at.toISOString(), ...line }))).toBe(`14:05:09 ${text}\n`);
});

it('a second log appends to the same file', async () => {
  const { log, path, text } = await newLog();
  log.info('one');
  openLog({ level: 'info', file: path, stderr: process.stderr }).log.info('two');
  expect(text()).toMatch(/"one".*\n.*"two"/);
});

it('after rotation the moved file keeps its lines, and new ones go to a new file of the same name', async () => {
  const { log, path, reopen, text } = await newLog();
  log.info('one');
  renameSync(path, `${path}.1`);
  reopen();
  log.info('two');
  expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/"one"/);
  expect(text()).toMatch(/^[^\n]*"two"/);
});

it('refuses a named pipe as log file, since it would block until another process reads', async () => {
  const path = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  expect(() => openLog({ level: 'info', file: path, stderr: process.stderr })).toThrow(
    /^the log cannot be written: .*\(it is a named pipe\)/,
  );
});

it.each<[string, object]>([
  ['a token', { token: SECRET }],
  ['the token of settings', { settings: { token: SECRET } }],
  ['the authorization in the headers of a request', { request: { headers: { authorization: SECRET } } }],
  ['an Authorization as it is written', { Authorization: SECRET }],
  ['an Authorization in its headers as it is written', { request: { headers: { Authorization: SECRET } } }],
])('removes %s from every line', async (_what, fields) => {
  const { log, text } = await newLog();
  log.info(fields, 'asking');
  expect(text()).not.toContain(SECRET);
  expect(text()).toContain('[removed]');
});

it('removes a known secret from every line, whatever logs it, and keeps lines valid JSON', async () => {
  const { log, text } = await newLog();
  keepSecret(SECRET);
  log.warn({ err: new Error(`refused: ${SECRET.toUpperCase()}`), code: SECRET }, `said ${SECRET}`);
  expect(text().toLowerCase()).not.toContain(SECRET);
  expect(JSON.parse(text())).toMatchObject({ code: '***', msg: 'said ***' });
});

it('escapes control characters without changing the meaning of a line', async () => {
  const { log, text } = await newLog();
  const message = 'a\u001b[2J\u007f\u009b31m\u202e\u2028b';
  log.warn({ message }, message);
  expect(text()).not.toMatch(/(?!\n)\p{Cc}|[\u2028\u202e]/u);
  expect(JSON.parse(text())).toMatchObject({ message, msg: message });
});

it('another logger gets the lines with their facts, whatever it does with them, and no secret', () => {
  const seen: unknown[][] = [];
  const take = (name: string) => (facts: object, message: string) => {
    seen.push([name, facts, message]);
    throw new Error('the disk of that logger is full');
  };
  const target = { debug: take('debug'), info: take('info'), warn: take('warn'), error: take('error') };
  const log = forwardingLog(target);
  keepSecret(SECRET);
  log.debug('one');
  log.warn({ code: SECRET, token: 'short' }, `said ${SECRET}`);
  log.fatal({ err: new Error('three') }, 'broken');
  expect(seen).toEqual([
    ['debug', {}, 'one'],
    ['warn', { code: '***', token: '[removed]' }, 'said ***'],
    ['error', { err: expect.objectContaining({ message: 'three' }) }, 'broken'],
  ]);
});

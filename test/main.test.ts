import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError, RunError } from '../src/core/errors.js';
import { failureOf } from '../src/main.js';

const missing = new RunError({ code: 'input-missing', subject: 'x.csv', todo: 'check the path' });
const wrong = new ConfigError({
  code: 'usage-invalid',
  what: 'no such flag',
  subject: '--x',
  todo: 'see --help',
});

describe('an error that ends a process', () => {
  it.each([
    [
      missing,
      { code: 'input-missing', message: 'the input cannot be opened: x.csv; check the path', exitCode: 5 },
    ],
    [wrong, { code: 'usage-invalid', message: 'no such flag: --x; see --help', exitCode: 2 }],
    [new TypeError('x is not a function'), { code: 'bug', message: 'x is not a function', exitCode: 5 }],
    [
      Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', path: '/x.js' }),
      { code: 'files-limit', message: expect.stringMatching(/: ulimit -n; raise this limit/), exitCode: 5 },
    ],
    [
      Object.assign(new Error('ENOENT: uv_cwd'), { code: 'ENOENT', syscall: 'uv_cwd' }),
      { code: 'usage-invalid', message: expect.stringMatching(/working folder was removed/), exitCode: 2 },
    ],
    ['a text', { code: 'bug', message: 'a text', exitCode: 5 }],
  ])('is printed as JSON for programs: %s', (error, data) => {
    expect(failureOf(error, '').data).toEqual({ error: data });
  });

  it.each([
    ['EACCES', 'permission denied', 'give this user access to it'],
    ['ENOSPC', 'the disk is full', 'free some space there'],
    ['EDQUOT', 'the disk quota is exceeded', 'free some space there'],
    ['EFBIG', 'it would be too large', 'raise the limit of file sizes'],
    ['EEXIST', 'something else has this name', 'move it out of the way'],
  ])('of a file says what helps: %s', (code, words, advice) => {
    const error = Object.assign(new Error(code), { code, syscall: 'open', path: '/x' });
    expect(failureOf(error, '').data.error).toEqual({
      code: 'file-refused',
      message: expect.stringContaining(`: /x (${words}); ${advice}`),
      exitCode: 5,
    });
  });

  it('is printed in one line for people, and with its stack when it is a bug', () => {
    expect(failureOf(missing, '').text).toBe(
      'brand-enrich: the input cannot be opened: x.csv; check the path\n',
    );
    expect(failureOf(new TypeError('odd'), '').text).toMatch(
      /^brand-enrich: this is a bug.*TypeError: odd\n +at /,
    );
  });

  it('that quotes the token is printed without it', () => {
    const error = new TypeError('Invalid character in header: Bearer s3cr3t');
    expect(failureOf(error, 's3cr3t').data.error.message).toBe('Invalid character in header: Bearer ***');
    expect(failureOf(error, 's3cr3t').text).not.toContain('s3cr3t');
  });
});

it.runIf(existsSync('/dev/full'))('a full disk is an error in words', { tags: ['long'] }, async () => {
  const cli = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
  for (const args of [
    ['schema', 'report'],
    ['config', '--json'],
    ['plan', '-'],
  ]) {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['pipe', full, 'pipe'] });
    closeSync(full);
    if (child.stderr === null) throw new Error('no standard error');
    child.stdin?.end('website\nacme.com\n');
    const said = text(child.stderr);
    const [code] = await once(child, 'exit');
    const words = /^brand-enrich: an output cannot be written: standard output \(the disk is full\);.*\n$/;
    expect([code, await said]).toEqual([5, expect.stringMatching(words)]);
  }
});

it('a reader that leaves early ends no command with an error', async () => {
  const cli = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
  const child = spawn(process.execPath, [cli, 'schema', 'report'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const said = text(child.stderr);
  const [code] = await once(child, 'exit');
  expect([code, await said]).toEqual([0, '']);
});

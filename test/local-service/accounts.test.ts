import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decimalText } from '../../src/core/decimal.js';
import { ConfigError } from '../../src/core/errors.js';
import {
  Accounts,
  bearerToken,
  hashToken,
  loadAccounts,
  parseAccounts,
} from '../../src/local-service/accounts.js';
import { loadCatalogue } from '../../src/local-service/load-catalogue.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { accountsOf } from './tiny-service.js';

const parse = (...accounts: unknown[]) => parseAccounts(JSON.stringify({ accounts }), 'accounts.json');
const problemOf = (text: string) => {
  try {
    parseAccounts(text, 'accounts.json');
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
};

describe('accounts', () => {
  it('an account without overage settings has the defaults of the specification', () => {
    const [account] = parse({ name: 'data', token: 't', quota: 5 }).all;
    const notices = { webhook: null, email: null };
    expect(account).toMatchObject({ plan: 'free', period: 'month', quota: 5, notices });
    expect(account && decimalText(account.overageBudget)).toBe('100');
    expect(account && decimalText(account.overagePrice)).toBe('0.1');
  });

  it('a plain-text token is kept as its hash only, is reported, and the file is left alone', async () => {
    const path = join(await temporaryFolder(), 'accounts.json');
    const text = JSON.stringify({ accounts: [{ name: 'data', token: 'very-secret-word', quota: 5 }] });
    await writeFile(path, text);
    const accounts = loadAccounts(path);
    expect(accounts.all[0]?.isInClear).toBe(true);
    expect(
      JSON.stringify(accounts.all, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('very-secret-word');
    expect(accounts.authenticate('Bearer very-secret-word')?.name).toBe('data');
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('a hashed token is found by the token', () => {
    const tokenSha256 = hashToken('t').toString('hex').toUpperCase();
    const accounts = parse({ name: 'data', tokenSha256, quota: 5 });
    expect(accounts.authenticate('Bearer t')?.name).toBe('data');
    expect(accounts.authenticate('Bearer u')).toBeUndefined();
    expect(accounts.all[0]?.isInClear).toBe(false);
  });

  it('a budget may be a string or a number', () => {
    const [a, b] = parse(
      { name: 'a', token: 'a', quota: 1, overageBudget: '0.3' },
      { name: 'b', token: 'b', quota: 1, overageBudget: 0.3 },
    ).all;
    expect(a?.overageBudget).toEqual(b?.overageBudget);
  });

  const good = { name: 'data', token: 'secret-word', quota: 5 };
  const { token: _, ...bare } = good;
  it.each<[string, object[], string]>([
    ['no accounts', [], 'accounts'],
    ['no token', [bare], 'tokenSha256 or token'],
    ['both tokens', [{ ...good, tokenSha256: 'a'.repeat(64) }], 'tokenSha256 or token'],
    ['a bad hash', [{ ...bare, tokenSha256: 'abc' }], 'accounts.0.tokenSha256'],
    ['a negative quota', [{ ...good, quota: -1 }], 'accounts.0.quota'],
    ['a negative budget', [{ ...good, overageBudget: -1 }], 'accounts.0.overageBudget'],
    ['a price of nothing', [{ ...good, overagePrice: 0 }], 'accounts.0.overagePrice'],
    ['an unknown plan', [{ ...good, plan: 'gold' }], 'accounts.0.plan'],
    ['an unknown key', [{ ...good, qouta: 1 }], 'qouta'],
    ['one name twice', [good, { ...good, token: 'other' }], 'two accounts are named data'],
    ['one token twice', [good, { ...good, name: 'b' }], 'two accounts share a token'],
    ['e-mail without a server', [{ ...good, notices: { email: 'a@b.example' } }], 'needs smtp'],
  ])('%s is refused with the problem named and no token shown', (_title, accounts, words) => {
    const message = problemOf(JSON.stringify({ accounts }));
    expect(message).toContain('accounts.json');
    expect(message).toContain(words);
    expect(message).not.toContain('secret-word');
  });

  it('a file that is not JSON is refused', () => {
    expect(problemOf('{')).toMatch(/accounts.json.*not JSON/);
  });

  it('every problem is listed at once', () => {
    const accounts = [
      { ...good, quota: -1 },
      { ...good, plan: 'gold' },
    ];
    const message = problemOf(JSON.stringify({ accounts }));
    expect(message).toContain('accounts.0.quota');
    expect(message).toContain('accounts.1.plan');
  });

  it('a named pipe is refused, not waited for', async () => {
    const path = join(await temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(() => loadAccounts(path)).toThrow('it is not a regular file');
    await expect(loadCatalogue(path)).rejects.toThrow('it is not a regular file');
  });

  it('a missing file is named', () => {
    expect(() => loadAccounts('/nowhere/accounts.json')).toThrow('/nowhere/accounts.json');
  });
});

describe('credentials', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Bearer   abc ', 'abc'],
    ['Bearer', null],
    ['Bearer a b', null],
    ['Basic abc', null],
    ['', null],
    [undefined, null],
  ])('%j holds the token %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  it('a token finds its account wherever it stands, and no other', () => {
    const names = ['one', 'two', 'three'];
    const accounts = accountsOf(...names.map((name) => ({ name, quota: 1 })));
    for (const name of names) expect(accounts.authenticate(`Bearer token-${name}`)?.name).toBe(name);
    expect(accounts.authenticate('Bearer token-four')).toBeUndefined();
    expect(accounts.authenticate('Bearer token-on')).toBeUndefined();
    expect(new Accounts([]).authenticate('Bearer token-one')).toBeUndefined();
  });

  it('a hash is the SHA-256 that sha256sum prints', () => {
    expect(hashToken('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

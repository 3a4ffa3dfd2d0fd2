import { describe, expect, it } from 'vitest';
import { Accounts, bearerToken, hashToken } from '../../src/local-service/accounts.js';
import { accountsOf } from './tiny-service.js';

describe('credentials', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Bearer   abc ', 'abc'],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearer a b', null],
    ['Basic abc', null],
    ['abc', null],
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

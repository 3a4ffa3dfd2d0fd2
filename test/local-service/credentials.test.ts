import { describe, expect, it } from 'vitest';
import { bearerToken, findHolder, hashToken } from '../../src/local-service/accounts.js';

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

  it('a token finds its holder wherever it stands, and no other', () => {
    const holders = ['one', 'two', 'three'].map((name) => ({ name, tokenHash: hashToken(`token-${name}`) }));
    for (const { name } of holders) expect(findHolder(holders, `token-${name}`)?.name).toBe(name);
    expect(findHolder(holders, 'token-four')).toBeUndefined();
    expect(findHolder(holders, 'token-on')).toBeUndefined();
    expect(findHolder([], 'token-one')).toBeUndefined();
  });

  it('a hash is the SHA-256 that sha256sum prints', () => {
    expect(hashToken('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedact, jsonWithoutSecrets, keepSecret, withoutSecrets } from '../../src/core/secrets.js';

const TOKEN = 'tok_Ab9/+."\\$1x';

describe('a secret', () => {
  it.each([
    ['as it is', TOKEN],
    ['in capitals', TOKEN.toUpperCase()],
    ['in lower case', TOKEN.toLowerCase()],
    ['in JSON', JSON.stringify(TOKEN).slice(1, -1)],
    ['in an address', encodeURIComponent(TOKEN)],
    ['with a character escaped', TOKEN.replace('A', '\\u0041').replace('/', '\\/')],
  ])('%s is removed', (_, written) => {
    expect(createRedact([TOKEN])(`code ${written}, twice: ${written}.`)).toBe('code ***, twice: ***.');
  });

  it('shorter than four characters is kept, since it occurs in words by chance', () => {
    expect(createRedact(['abc', ''])('abc and more')).toBe('abc and more');
  });

  it('of any characters is removed, and no other text', () => {
    const tokens = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 4,
      maxLength: 60,
    });
    fc.assert(
      fc.property(tokens, (token) => {
        expect(createRedact([token])(`: ${token} :`)).toBe(': *** :');
        expect(createRedact([token], '$&')(`: ${token} :`)).toBe(': $& :');
        expect(createRedact([token])('')).toBe('');
      }),
    );
  });
});

it('removes all registered secrets from texts and JSON, which stays valid', () => {
  keepSecret('1234567890123456');
  keepSecret('seSame-open-the-door');
  keepSecret('too-short');
  expect(withoutSecrets('SESAME-OPEN-THE-DOOR or 1234567890123456 in /data/too-short.csv')).toBe(
    '*** or *** in /data/too-short.csv',
  );
  const value = {
    n: 1234567890123456,
    code: 'sesame-open-the-door',
    'SeSame-Open-The-Door': '1234567890123456',
  };
  const line = jsonWithoutSecrets(`${JSON.stringify(value)}\n`);
  expect(JSON.parse(line)).toMatchObject({ n: 1234567890123456, code: '***' });
  expect(line.endsWith('}\n')).toBe(true);
  expect(jsonWithoutSecrets('{"SESAME-open-the-door":1}\n')).toBe('{"***":1}\n');
  expect(jsonWithoutSecrets('{"a":1}\n')).toBe('{"a":1}\n');
});

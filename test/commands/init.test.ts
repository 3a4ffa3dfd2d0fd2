import { expect, it } from 'vitest';
import { mayBeOwnBrand } from '../../src/commands/init.js';

it.each([
  ['brand.com', 'https://api.brand.io', true],
  ['brand.co.uk', 'https://brand.com/api', true],
  ['acme.com', 'https://api.brand.io', false],
  ['com', 'https://com', false],
  ['acme.com', 'https://10.0.0.7', false],
  ['acme.com', 'http://127.0.0.1:8080', true],
])('a lookup of %s at %s can be free: %s', (domain, baseUrl, isFree) => {
  expect(mayBeOwnBrand(domain, baseUrl)).toBe(isFree);
});

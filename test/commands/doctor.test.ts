import { expect, it } from 'vitest';
import { judgeClock, whyNotAsked } from '../../src/commands/doctor.js';

it.each([
  ['brand.com', 'https://api.brand.io', true],
  ['brand.co.uk', 'https://brand.com/api', true],
  ['acme.com', 'https://api.brand.io', false],
  ['com', 'https://com', false],
  ['acme.com', 'https://10.0.0.7', false],
  ['acme.com', 'http://127.0.0.1:8080', true],
])('a lookup of %s at %s can be free: %s', (ownDomain, baseUrl, isFree) => {
  expect(whyNotAsked({ baseUrl, ownDomain }) === null).toBe(isFree);
});

it.each([
  [[], 'skipped', /no other clock/],
  [[['the engine', -400]], 'ok', /^0 s from the engine's$/],
  [
    [
      ['the service', 61_000],
      ['the engine', 0],
    ],
    'warning',
    /^61 s from the service's, 0 s from the engine's: set/,
  ],
  [[['the engine', -3_600_000]], 'warning', /^3,600 s/],
] as const)('clocks with offsets %j are %s', (offsets, state, text) => {
  expect(judgeClock(offsets)).toEqual({ state, text: expect.stringMatching(text) });
});

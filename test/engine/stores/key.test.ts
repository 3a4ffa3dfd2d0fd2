/** Lookups with an equal key are one purchase; what could change the answer is in the key. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AllowNsfw } from '../../../src/brand-api/protocol.js';
import {
  IDENTIFIER_KINDS,
  type Identifier,
  identifierText,
  readIdentifierText,
} from '../../../src/core/identifier.js';
import { isOutcomeKey, outcomeKeys, serviceTag } from '../../../src/engine/stores/outcome-key.js';

const SERVICE = 'https://brands.example';
const ACME: Identifier = { kind: 'domain', value: 'acme.com' };

function keyOf(service: string, allowNsfw: AllowNsfw, identifier: Identifier): string {
  return outcomeKeys(service, allowNsfw)(identifierText(identifier));
}

it('consists of service, allowNsfw, kind and value', () => {
  const tag = serviceTag(SERVICE);
  expect(keyOf(SERVICE, 'unset', ACME)).toBe(`${tag}:ud:acme.com`);
  expect(keyOf(SERVICE, 'true', ACME)).toBe(`${tag}:td:acme.com`);
  expect(keyOf(SERVICE, 'false', { kind: 'ticker', value: 'A:B' })).toBe(`${tag}:ft:A:B`);
});

it('is recognised by its form for every kind, unlike the key of a foreign text', () => {
  for (const kind of IDENTIFIER_KINDS) {
    for (const allowNsfw of ['unset', 'true', 'false'] as const)
      expect(isOutcomeKey(keyOf(SERVICE, allowNsfw, { kind, value: 'x' }))).toBe(true);
  }
  expect(isOutcomeKey(outcomeKeys(SERVICE, 'unset')('name:x'))).toBe(false);
  expect(isOutcomeKey(outcomeKeys(SERVICE, 'unset')('domain:'))).toBe(false);
});

it('names a service by seven characters that never change', () => {
  expect(serviceTag('https://brands.example')).toBe('QNOY4ew');
  expect(serviceTag('https://brands.example/')).not.toBe(serviceTag('https://brands.example'));
});

it('is equal only for the same request', () => {
  const question = fc.record({
    service: fc.constantFrom('https://a.example', 'https://b.example'),
    allowNsfw: fc.constantFrom<AllowNsfw>('unset', 'true', 'false'),
    kind: fc.constantFrom(...IDENTIFIER_KINDS),
    value: fc.oneof(fc.constantFrom('A', 'a', 'A:B', 'ticker:A', ':', 'é'), fc.string()),
  });
  fc.assert(
    fc.property(question, question, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(keyOf(one.service, one.allowNsfw, one) === keyOf(other.service, other.allowNsfw, other)).toBe(
        same,
      );
    }),
    { numRuns: 500 },
  );
});

it('of any other text is not the key of an identifier', () => {
  const keyOfText = outcomeKeys(SERVICE, 'unset');
  const others = fc.oneof(fc.constantFrom('d:acme.com', 'domain', ':acme.com', ''), fc.string());
  fc.assert(
    fc.property(others, (text) => {
      fc.pre(readIdentifierText(text) === null);
      expect(keyOfText(text)).toBe(`${serviceTag(SERVICE)}:u:${text}`);
    }),
  );
});

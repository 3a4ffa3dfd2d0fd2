/**
 * Two lookups with an equal key are one purchase; whatever could change the answer makes another
 * key.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IDENTIFIER_KINDS, type Identifier, parseIdentifierText } from '../../src/core/identifier.js';
import type { AllowNsfw } from '../../src/lookup/protocol.js';
import { outcomeKey, outcomeKeyPrefix, serviceTag } from '../../src/stores/outcome-key.js';

const SERVICE = 'https://brands.example';
const ACME: Identifier = { kind: 'domain', value: 'acme.com' };

function keyOf(service: string, allowNsfw: AllowNsfw, identifier: Identifier): string {
  return outcomeKey(outcomeKeyPrefix(service, allowNsfw), identifier);
}

it('consists of service, allowNsfw, kind and value', () => {
  expect(keyOf(SERVICE, 'unset', ACME)).toBe(`${serviceTag(SERVICE)}:u:domain:acme.com`);
  expect(keyOf(SERVICE, 'true', ACME)).toBe(`${serviceTag(SERVICE)}:t:domain:acme.com`);
  expect(keyOf(SERVICE, 'false', ACME)).toBe(`${serviceTag(SERVICE)}:f:domain:acme.com`);
});

it('names a service by ten hexadecimal digits that never change', () => {
  expect(serviceTag('https://brands.example')).toBe('40d398e1ec');
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

it('contains the identifier, whatever its value', () => {
  const prefix = outcomeKeyPrefix(SERVICE, 'unset');
  fc.assert(
    fc.property(fc.constantFrom(...IDENTIFIER_KINDS), fc.string(), (kind, value) => {
      const key = outcomeKey(prefix, { kind, value });
      expect(parseIdentifierText(key.slice(prefix.length))).toEqual({ kind, value });
    }),
  );
});

/** Distinct identifiers on disk: each by its number, all of them in order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createIdentifierSpool } from '../../../src/run/scan/identifier-spool.js';
import { openSpool } from '../spools.js';

const line = fc
  .string({ unit: 'binary', maxLength: 80 })
  .map((value) => `auto:${value.replaceAll('\n', '')}`);

it('any texts come back by number and in order', async () => {
  const texts: string[] = [];
  const spool = createIdentifierSpool(await openSpool());
  fc.assert(
    fc.property(fc.array(line, { maxLength: 100 }), (more) => {
      for (const text of more) spool.add(text);
      texts.push(...more);
      expect(spool.count).toBe(texts.length);
      expect([...spool.batches()].flatMap((batch) => batch.texts)).toEqual(texts);
      for (const [at, text] of texts.entries()) if (at % 7 === 0) expect(spool.at(at)).toBe(text);
    }),
    { numRuns: 40 },
  );
});

it('each batch says the number of its first', async () => {
  const spool = createIdentifierSpool(await openSpool());
  const texts = Array.from({ length: 20_000 }, (_, at) => `domain:b${at}.example`);
  for (const text of texts) spool.add(text);
  const batches = [...spool.batches()];
  expect(batches.length).toBeGreaterThan(3);
  for (const batch of batches)
    expect(batch.texts).toEqual(texts.slice(batch.first, batch.first + batch.texts.length));
  expect(batches.reduce((sum, batch) => sum + batch.texts.length, 0)).toBe(20_000);
  expect(spool.at(19_999)).toBe('domain:b19999.example');
});

it('a text longer than one reading comes back whole', async () => {
  const spool = createIdentifierSpool(await openSpool());
  const texts = ['ticker:A', `ticker:${'é'.repeat(200_000)}`, 'ticker:B'];
  for (const text of texts) spool.add(text);
  expect([...spool.batches()].flatMap((batch) => batch.texts)).toEqual(texts);
  expect(spool.at(1)).toBe(texts[1]);
});

it('can be added to after it was read', async () => {
  const spool = createIdentifierSpool(await openSpool());
  spool.add('isin:US0378331005');
  expect(spool.at(0)).toBe('isin:US0378331005');
  spool.add('isin:DE0007164600');
  expect([...spool.batches()]).toEqual([{ first: 0, texts: ['isin:US0378331005', 'isin:DE0007164600'] }]);
});

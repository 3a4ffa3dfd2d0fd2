import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IdentifierSpool } from '../../../src/run/scan/identifier-spool.js';
import { anyText } from '../../support/properties.js';
import { openSpool } from '../spools.js';

/** This many texts are kept as text; later ones are kept as a hash. */
const TEXTS = 131_072;

const line = anyText({ maxLength: 80 }).map((value) => `auto:${value.replaceAll('\n', '')}`);

it('the spool numbers texts, equal ones alike, and returns them by number and in order', async () => {
  const texts: string[] = [];
  const spool = new IdentifierSpool(await openSpool());
  fc.assert(
    fc.property(fc.array(line, { maxLength: 100 }), (more) => {
      for (const text of more) {
        const known = texts.indexOf(text);
        expect(spool.add(text)).toBe(known < 0 ? texts.length : known);
        if (known < 0) texts.push(text);
      }
      expect(spool.count).toBe(texts.length);
      expect([...spool.batches()].flatMap((batch) => batch.texts)).toEqual(texts);
      for (const [at, text] of texts.entries()) if (at % 7 === 0) expect(spool.at(at)).toBe(text);
    }),
    { numRuns: 40 },
  );
});

it('the spool gives the number of the first text with each batch', async () => {
  const spool = new IdentifierSpool(await openSpool());
  const texts = Array.from({ length: 20_000 }, (_, at) => `domain:b${at}.example`);
  for (const text of texts) spool.add(text);
  const batches = [...spool.batches()];
  expect(batches.length).toBeGreaterThan(3);
  for (const batch of batches)
    expect(batch.texts).toEqual(texts.slice(batch.first, batch.first + batch.texts.length));
  expect(batches.reduce((sum, batch) => sum + batch.texts.length, 0)).toBe(20_000);
  expect(spool.at(19_999)).toBe('domain:b19999.example');
});

it('the spool returns a text longer than one read', async () => {
  const spool = new IdentifierSpool(await openSpool());
  const texts = ['ticker:A', `ticker:${'é'.repeat(200_000)}`, 'ticker:B'];
  for (const text of texts) spool.add(text);
  expect([...spool.batches()].flatMap((batch) => batch.texts)).toEqual(texts);
  expect(spool.at(1)).toBe(texts[1]);
});

it('the spool numbers texts as a map would, also those that it does not keep in memory', async () => {
  const spool = new IdentifierSpool(await openSpool());
  const known = new Map<string, number>();
  let state = 1;
  for (let round = 0; round < 350_000; round += 1) {
    // Marsaglia's xorshift: random enough, and the same every time.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const text = `domain:${(state >>> 0) % 300_000}.example`;
    const index = known.get(text) ?? known.size;
    known.set(text, index);
    const found = spool.add(text);
    if (found !== index) throw new Error(`${text} is number ${found}, should be ${index}`);
  }
  expect(known.size).toBeGreaterThan(TEXTS * 1.5);
  expect(spool.count).toBe(known.size);
});

it('the spool finds only added texts, below and beyond the boundary of text and hash', async () => {
  const spool = new IdentifierSpool(await openSpool());
  expect(spool.find('domain:none.example')).toBeNull();
  for (let at = 0; at < TEXTS + 70_000; at += 1) spool.add(`auto:${at}`);
  for (const at of [0, TEXTS - 1, TEXTS, TEXTS + 1, TEXTS + 32_767, TEXTS + 32_768, TEXTS + 69_999])
    expect([spool.find(`auto:${at}`), spool.add(`auto:${at}`)]).toEqual([at, at]);
  expect(spool.find(`auto:${TEXTS + 70_000}`)).toBeNull();
  expect(spool.count).toBe(TEXTS + 70_000);
  expect(spool.add('auto:new')).toBe(TEXTS + 70_000);
});

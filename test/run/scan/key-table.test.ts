/** Numbers for texts: the same as a map would give, in less room. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKeyTable } from '../../../src/run/scan/key-table.js';

/** So many texts are kept as text; what follows is kept as a hash. */
const TEXTS = 131_072;

it('the same text has the same number, a new one the next', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ maxLength: 2 }), fc.string()), { maxLength: 200 }), (texts) => {
      const table = createKeyTable();
      const known = new Map<string, number>();
      for (const text of texts) {
        const isNew = !known.has(text);
        if (isNew) known.set(text, known.size);
        expect(table.add(text)).toEqual({ index: known.get(text), isNew });
      }
      expect(table.size).toBe(known.size);
    }),
  );
});

it('is equal to a map far beyond the texts that it keeps as they are', () => {
  const table = createKeyTable();
  const known = new Map<string, number>();
  let state = 1;
  for (let round = 0; round < 500_000; round += 1) {
    // Marsaglia's xorshift: random enough, and the same every time.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const text = `domain:${(state >>> 0) % 300_000}.example`;
    const index = known.get(text);
    if (index === undefined) known.set(text, known.size);
    const found = table.add(text);
    if (found.index !== (index ?? known.size - 1) || found.isNew !== (index === undefined)) {
      throw new Error(`${text} is number ${found.index}, should be ${index ?? known.size - 1}`);
    }
  }
  expect(known.size).toBeGreaterThan(TEXTS * 1.5);
  expect(table.size).toBe(known.size);
});

it('texts at the border between the two ways are found again', () => {
  const table = createKeyTable();
  const text = (at: number) => `ticker:${at}`;
  for (let at = 0; at < TEXTS + 70_000; at += 1) table.add(text(at));
  for (const at of [0, TEXTS - 1, TEXTS, TEXTS + 1, TEXTS + 32_767, TEXTS + 32_768, TEXTS + 69_999]) {
    expect(table.add(text(at))).toEqual({ index: at, isNew: false });
  }
  expect(table.add('ticker:new')).toEqual({ index: TEXTS + 70_000, isNew: true });
});

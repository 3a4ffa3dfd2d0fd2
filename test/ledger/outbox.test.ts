import { describe, expect, test } from 'vitest';
import { NO_OBSERVATION, Outbox } from '../../src/ledger/outbox.js';

const NOVEMBER = '2026-11-01';
const DECEMBER = '2026-12-01';
const reading = (usage: number, period: string | null) => ({ quota: 100, usage, period });

describe('one exchange with the ledger', () => {
  test('covers one period: with answers of two months the later one follows in the next exchange', () => {
    const outbox = new Outbox();
    const answers = [
      ['a', 40, NOVEMBER],
      ['b', 1, DECEMBER],
      ['c', 39, NOVEMBER],
      ['d', 2, DECEMBER],
    ] as const;
    for (const [permit, usage, period] of answers) {
      outbox.settle(permit, 'billed', { reading: null, period, isConfirmed: true });
      outbox.note({ reading: reading(usage, period), isConfirmed: true });
    }
    outbox.settle('undated', 'maybe_billed', NO_OBSERVATION);
    const first = outbox.collect();
    expect(first.settle.map(({ permit }) => permit)).toEqual(['a', 'c', 'undated']);
    expect(first.reading).toEqual(reading(40, NOVEMBER));
    expect(outbox.isEmpty).toBe(false);
    const second = outbox.collect();
    expect(second.settle.map(({ permit }) => permit)).toEqual(['b', 'd']);
    expect(second.reading).toEqual(reading(2, DECEMBER));
    expect(outbox.isEmpty).toBe(true);
  });

  test('carries the dated one of two readings', () => {
    const outbox = new Outbox();
    outbox.note({ reading: reading(9, null), isConfirmed: true });
    outbox.note({ reading: reading(7, NOVEMBER), isConfirmed: true });
    expect(outbox.collect().reading).toEqual(reading(7, NOVEMBER));
    expect(outbox.isEmpty).toBe(true);
  });

  test('settles answers of a later period at once if none had a usage header', () => {
    const outbox = new Outbox();
    outbox.settle('a', 'billed', { reading: null, period: NOVEMBER, isConfirmed: true });
    outbox.note({ reading: reading(40, NOVEMBER), isConfirmed: true });
    outbox.settle('b', 'billed', { reading: null, period: DECEMBER, isConfirmed: true });
    expect(outbox.collect().settle).toHaveLength(2);
    expect(outbox.isEmpty).toBe(true);
  });
});

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { costOf, decimalText, parseDecimal, requestsFor } from '../../src/core/decimal.js';

const decimal = (text: string | number) => {
  const value = parseDecimal(text);
  if (value === null) throw new Error(`not a decimal: ${text}`);
  return value;
};

describe('a decimal', () => {
  it.each([
    ['0.30', '0.3'],
    ['12', '12'],
    ['12.000', '12'],
    ['0.05', '0.05'],
    ['1e3', '1000'],
    [1e-7, '0.0000001'],
    ['0', '0'],
    ['100', '100'],
  ])('%s is written %s', (text, written) => {
    expect(decimalText(decimal(text))).toBe(written);
  });

  it.each(['', 'x', '-1', '1,5', '0x10', '1e99', 'NaN', 'Infinity', '.5', '1.'])('refuses %j', (text) => {
    expect(parseDecimal(text)).toBeNull();
  });
});

describe('requests that a budget pays for', () => {
  test.each([
    ['0.3', '0.1', 3],
    ['100', '0.1', 1_000],
    ['0', '0.1', 0],
    ['0.29', '0.1', 2],
    ['0.099', '0.1', 0],
    ['0.7', '0.1', 7],
    ['1.1', '0.1', 11],
    ['2', '3', 0],
    ['10', '0.003', 3_333],
    ['0.1', '0.000000000001', 100_000_000_000],
    [' 5 ', '1', 5],
    ['5', '0', Number.MAX_SAFE_INTEGER],
    ['0', '0', Number.MAX_SAFE_INTEGER],
    ['999999999999999', '0.000000000001', Number.MAX_SAFE_INTEGER],
  ])('%s at %s each: %d', (budget, price, requests) => {
    expect(requestsFor(budget, price)).toBe(requests);
  });

  // `parseDecimal` refuses the same.
  test.each(['-1', '1e3', 'ten', '1234567890123456', '0.1234567890123'])('refuses %j', (text) => {
    expect(() => requestsFor(text, '0.1')).toThrow(RangeError);
    expect(() => requestsFor('1', text)).toThrow(RangeError);
  });

  test('cost at most the budget, and one more would exceed it', () => {
    const cents = fc.integer({ min: 1, max: 1_000_000 });
    const text = (amount: number) => `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
    fc.assert(
      fc.property(cents, cents, (budget, price) => {
        const requests = requestsFor(text(budget), text(price));
        expect(requests * price).toBeLessThanOrEqual(budget);
        expect((requests + 1) * price).toBeGreaterThan(budget);
        expect(requestsFor(costOf(requests, text(price)), text(price))).toBe(requests);
      }),
    );
  });
});

test.each([
  [3, '0.1', '0.3'],
  [0, '0.1', '0'],
  [10, '0.1', '1'],
  [1, '0.05', '0.05'],
  [7, '0.10', '0.7'],
  [3, '2', '6'],
  [1_000_000, '0.000001', '1'],
  [5, '0', '0'],
])('the cost of requests: %d at %s is %s', (requests, price, cost) => {
  expect(costOf(requests, price)).toBe(cost);
});

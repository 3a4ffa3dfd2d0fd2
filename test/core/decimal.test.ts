import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, multiply, parseDecimal, wholeTimes } from '../../src/core/decimal.js';

const decimal = (text: string | number) => {
  const value = parseDecimal(text);
  if (value === null) throw new Error(`not a decimal: ${text}`);
  return value;
};

describe('decimal', () => {
  it.each([
    [0.3, 0.1, 3],
    [0.7, 0.1, 7],
    [100, 0.1, 1000],
    [0, 0.1, 0],
    [0.29, 0.1, 2],
    ['1e-7', '0.00000005', 2],
    [1, 3, 0],
    ['999999999999999999999999', 0.1, Number.MAX_SAFE_INTEGER],
  ])('%s holds %s exactly %i times', (budget, price, times) => {
    expect(wholeTimes(decimal(budget), decimal(price))).toBe(times);
  });

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

  it.each(['', 'x', '-1', '1,5', '0x10', '1e99', 'NaN', 'Infinity', '.5', '1.'])(
    '%j is not an amount',
    (text) => {
      expect(parseDecimal(text)).toBeNull();
    },
  );

  it('any number of requests at any price costs exactly that many times the price', () => {
    const cents = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(cents, fc.integer({ min: 0, max: 1_000_000 }), (priceInCents, count) => {
        const price = { units: BigInt(priceInCents), scale: 2 };
        const cost = multiply(price, count);
        expect(wholeTimes(cost, price)).toBe(count);
        expect(decimalText(cost)).toBe(
          decimalText(
            decimal(
              `${(BigInt(priceInCents) * BigInt(count)) / 100n}.${String((priceInCents * count) % 100).padStart(2, '0')}`,
            ),
          ),
        );
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { parseDecimal } from '../../src/core/decimal.js';
import { isPastNotice, type PlanTerms, requestLimit, statementOf } from '../../src/local-service/meter.js';

function terms(
  change: Partial<Omit<PlanTerms, 'overageBudget' | 'overagePrice'>> & {
    budget?: number;
    price?: number;
  } = {},
): PlanTerms {
  const { budget = 100, price = 0.1, ...rest } = change;
  const overageBudget = parseDecimal(budget) ?? { units: 0n, scale: 0 };
  const overagePrice = parseDecimal(price) ?? { units: 1n, scale: 0 };
  return { plan: 'paid', quota: 50, period: 'month', overageBudget, overagePrice, ...rest };
}

describe('plan terms', () => {
  it.each([
    ['a paid plan with a budget of 0.3 serves 3 beyond its quota', terms({ budget: 0.3 }), 53],
    ['a budget of 100 at 0.1 serves 1000 beyond the quota', terms(), 1050],
    ['a budget of 0 disables overage', terms({ budget: 0 }), 50],
    ['a budget below the price serves none', terms({ budget: 0.09 }), 50],
    ['a free plan has no overage whatever its budget', terms({ plan: 'free' }), 50],
    ['a lifetime quota has no overage', terms({ period: 'lifetime' }), 50],
  ])('%s', (_title, given, limit) => {
    expect(requestLimit(given)).toBe(limit);
  });

  it.each([
    [100, 80, false],
    [100, 81, true],
    [10, 8, false],
    [10, 9, true],
    [3, 2, false],
    [3, 3, true],
    [0, 1, true],
  ])('of a quota of %i, %i used is past 80 %%: %s', (quota, used, isPast) => {
    expect(isPastNotice(terms({ quota }), used)).toBe(isPast);
  });

  it.each([
    [0, 0, '0'],
    [50, 0, '0'],
    [51, 1, '0.1'],
    [53, 3, '0.3'],
    [60, 3, '0.3'],
  ])(
    '%i requests of a quota of 50 with a budget of 0.3 are %i overage and owe %s',
    (used, overageRequests, overageOwed) => {
      const statement = statementOf({ name: 'data', ...terms({ budget: 0.3 }) }, '2026-03', used, true);
      expect(statement).toMatchObject({ requests: used, overageRequests, overageOwed, overagePrice: '0.1' });
    },
  );
});

import { describe, expect, it } from 'vitest';
import { emptyCounts } from '../../../src/core/outcome.js';
import { assertAccounts, sumOf } from '../../../src/run/output/write-output.js';

const byStatus = { matched: 1, not_found: 2, failed: 3, invalid: 4, skipped: 5, deferred: 6 };

describe('the accounts', () => {
  it('count every status', () => {
    expect(sumOf(byStatus)).toBe(21);
    expect(sumOf(emptyCounts())).toBe(0);
  });

  it.each([21, null])('agree with 21 records read and %j written', (written) => {
    assertAccounts('out.csv', 21, byStatus, written);
  });

  it.each([
    { read: 20, written: 21 },
    { read: 21, written: 20 },
    { read: 20, written: null },
    { read: 22, written: 22 },
  ])('disagree with %j, and the error names all three', (counts) => {
    const check = () => assertAccounts('out.csv', counts.read, byStatus, counts.written);
    expect(check).toThrow(
      `${counts.read} records read, 21 rows with a status, ${counts.written ?? 'no'} records`,
    );
  });
});

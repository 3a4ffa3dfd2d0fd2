import { describe, expect, it } from 'vitest';
import type { OutcomeStatus } from '../../../src/core/outcome.js';
import { rankOf } from '../../../src/run/output/join-rows.js';

describe('rankOf', () => {
  it('orders by descending score, then no score, not found, deferred, failed, invalid, skipped', () => {
    const inOrder: [OutcomeStatus, number | null][] = [
      ['matched', 1],
      ['matched', 0.35],
      ['matched', 0],
      ['matched', null],
      ['not_found', null],
      ['deferred', null],
      ['failed', null],
      ['invalid', null],
      ['skipped', null],
    ];
    const ranks = inOrder.map(([status, score]) => rankOf(status, score));
    for (const [at, rank] of ranks.entries()) {
      const next = ranks[at + 1];
      if (!next) continue;
      expect(rank.group < next.group || (rank.group === next.group && rank.score > next.score)).toBe(true);
    }
  });

  it.each([
    ['matched', Number.NaN],
    ['failed', 0.9],
  ] as const)('gives %s with score %s no place among the scored', (status, score) => {
    expect(rankOf(status, score).group).toBeGreaterThan(0);
    expect(rankOf(status, score)).toEqual(rankOf(status, null));
  });
});

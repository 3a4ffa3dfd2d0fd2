/** What a run says before it spends, and while it waits. */
import { describe, expect, it } from 'vitest';
import { foreignTerms, strandedNotice } from '../../../src/run/lookups/run-lookups.js';
import { ledgerState } from '../ledger-state.js';

describe('limits of other runs of the account', () => {
  it.each([
    [
      { overage: 0, quotaCap: null },
      { overage: 0, quotaCap: null },
    ],
    [
      { overage: 30, quotaCap: 100 },
      { overage: 30, quotaCap: 100 },
    ],
    [
      { overage: 0, quotaCap: 100 },
      { overage: 0, quotaCap: 100 },
    ],
  ])('%j are not spoken of by a run with %j', (held, own) => {
    expect(foreignTerms(held, own)).toEqual([]);
  });

  it('are said where they are lower, until when included', () => {
    const [notice] = foreignTerms({ overage: 3, quotaCap: 100 }, { overage: 30, quotaCap: null });
    expect(notice).toBe(
      'another run of this account has --quota 100 and a budget of 3 overage requests: the lower holds until that run has ended, or has been dead for 30 s',
    );
  });
});

describe('a run that waits for permits of a killed one', () => {
  const endsAt = Date.UTC(2026, 10, 22, 1, 30, 5);
  const now = endsAt - 40_000;
  const state = { now, quota: 100, sent: 60, held: 30, others: 10 };
  const alone = { isAlone: true, inFlight: 0, endsAt };

  it('says so, and until when', () => {
    expect(strandedNotice(ledgerState(state), alone)).toBe(
      'waiting for 30 permits of a killed run until 01:30:05 UTC: what it had in flight may have been billed and counts as spent then',
    );
  });

  it.each<[string, Partial<typeof state>, Partial<typeof alone>]>([
    ['others are at work', {}, { isAlone: false }],
    ['they are its own', {}, { inFlight: 30 }],
    ['there is room beside them', { sent: 59 }, {}],
    ['they have run out by now', {}, { endsAt: now }],
  ])('not when %s', (_when, change, held) => {
    expect(strandedNotice(ledgerState({ ...state, ...change }), { ...alone, ...held })).toBeNull();
  });

  it('where no quota is known too, because only few may be out then', () => {
    expect(strandedNotice(ledgerState({ now, held: 8 }), alone)).toContain('8 permits of a killed run');
  });
});

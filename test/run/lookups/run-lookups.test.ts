/** Notices of a run while it waits, and when nothing matches. */
import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import { noMatchWarning, strandedNotice } from '../../../src/run/lookups/run-lookups.js';
import { ledgerState } from '../ledger-state.js';

describe('a run that waits for permits of a killed one', () => {
  const endsAt = Date.UTC(2026, 10, 22, 1, 30, 5);
  const now = endsAt - 40_000;
  const state = { now, quota: 100, sent: 60, held: 30, others: 10 };
  const alone = { isAlone: true, inFlight: 0, endsAt };

  it('says so, and until when', () => {
    expect(strandedNotice(ledgerState(state), alone)).toBe(
      'waiting for 30 permits of a killed run until 01:30:05 UTC: its requests in flight may have been billed and then count as spent',
    );
  });

  it.each<[string, Partial<typeof state>, Partial<typeof alone>]>([
    ['others are running', {}, { isAlone: false }],
    ['they are its own', {}, { inFlight: 30 }],
    ['there is room beside them', { sent: 59 }, {}],
    ['they have expired by now', {}, { endsAt: now }],
  ])('says nothing when %s', (_when, change, held) => {
    expect(strandedNotice(ledgerState({ ...state, ...change }), { ...alone, ...held })).toBeNull();
  });

  it('says so without a known quota too, since only few may be in flight then', () => {
    expect(strandedNotice(ledgerState({ now, held: 8 }), alone)).toContain('8 permits of a killed run');
  });
});

const CHOICES = [
  { column: 0, name: 'website', kind: 'ticker' },
  { column: 2, name: '', kind: 'isin' },
] as const;
const stored = (matched: number) => ({
  identifiers: { matched, notFound: 0, beingFetched: 0, failed: 0, deferred: 0, stored: matched },
});

it.each([
  [19, 0, 0, false],
  [20, 0, 0, true],
  [500, 0, 0, true],
  [500, 1, 0, false],
  [500, 0, 1, false],
])('%i not found, %i matched, %i already stored: %s', (notFound, matched, known, isWarned) => {
  expect(noMatchWarning({ matched, notFound }, stored(known), CHOICES) !== null).toBe(isWarned);
});

it('names each column and its kind', () => {
  const warning = noMatchWarning({ matched: 0, notFound: 20 }, stored(0), CHOICES) ?? '';
  expect(sayPhrase(warning, 'keys')).toMatch(
    /is column "website" \(ticker\), then 3 \(isin\) right\?.*column: 'NAME:KIND'$/,
  );
});

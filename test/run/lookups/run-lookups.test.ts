import { describe, expect, it } from 'vitest';
import { silenceNotice, strandedNotice } from '../../../src/run/lookups/run-lookups.js';
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
    ['more may be in flight beside them', { quota: 194 }, {}],
    ['they have expired by now', {}, { endsAt: now }],
  ])('says nothing when %s', (_when, change, held) => {
    expect(strandedNotice(ledgerState({ ...state, ...change }), { ...alone, ...held })).toBeNull();
  });

  it('says so while they are a quarter of what is left, or more', () => {
    expect(strandedNotice(ledgerState({ ...state, quota: 193 }), alone)).toContain('30 permits');
    // The usage header counts them already.
    const seen = { ...state, quota: 223, usage: 100 };
    expect(strandedNotice(ledgerState(seen), alone)).toContain('30 permits');
  });

  it('says so without a known quota too, since only few may be in flight then', () => {
    expect(strandedNotice(ledgerState({ now, held: 8 }), alone)).toContain('8 permits of a killed run');
  });
});

const now = Date.UTC(2026, 10, 22, 1, 30);
const pace = { ...ledgerState().pace, floorMs: 600_000 };
const ours = { retryAt: 0, now, service: 'https://s' };

it.each<[string, Parameters<typeof ledgerState>[0], Partial<Record<'retryAt', number | null>>, RegExp]>([
  ['that the service may be slow', { quota: 9 }, {}, /^no chunk has finished .* may be slow/],
  ['where workers ask', { quota: 9 }, { retryAt: null }, /^no worker .* --base-url https:\/\/s/],
  ['what holds the account', { quota: 9, sent: 9 }, {}, /^the limit is used up; /],
  ['what holds it elsewhere, too', { closedAt: now }, { retryAt: null }, /^the service refuses further/],
  ['until when all wait', { pace }, { retryAt: null }, /asks to wait until 01:40:00 UTC$/],
  ['until when one identifier waits', {}, { retryAt: now + 60_000 }, /asks to wait until 01:31:00 UTC$/],
  ['nothing of a wait that is over', {}, { retryAt: now }, /^no chunk has finished/],
])('a run of which nothing is heard for 15 seconds says: %s', (_what, state, some, words) => {
  expect(silenceNotice(ledgerState({ now, ...state }), { ...ours, ...some })).toMatch(words);
});

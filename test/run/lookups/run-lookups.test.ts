import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/engine/stores/run-store.js';
import { silenceNotice, strandedNotice } from '../../../src/run/lookups/run-lookups.js';
import { ledgerState } from '../ledger-state.js';

describe('a run that begins while a killed one has permits', () => {
  const now = Date.UTC(2026, 10, 22, 1, 30);
  const settings = { account: 'acme', timeoutMs: 40_000 } as RunRecord['settings'];
  const run = { id: 'r-2', asOf: now, settings };
  const said = (state: Parameters<typeof ledgerState>[0], other: Partial<RunRecord> | null = null) =>
    strandedNotice(ledgerState({ now, ...state }), run, other === null ? [] : [{ ...ALIVE, ...other }]);
  const ALIVE = { id: 'r-1', settings, status: 'running', heartbeatAt: now } as RunRecord;

  it('says so, and until when', () => {
    const words = 'its requests in flight may have been billed and then count as spent';
    const notice = `a killed run holds 30 permits until 01:30:20 UTC: ${words}`;
    expect(said({ held: 29, probes: 1 })).toBe(notice);
    const elsewhere = { ...settings, account: 'other' };
    for (const other of [{ id: run.id }, { heartbeatAt: 0 }, { settings: elsewhere }])
      expect(said({ held: 30 }, other)).toBe(notice);
  });

  it('says nothing when there are none, they have expired, or another run is alive', () => {
    expect(said({})).toBeNull();
    expect(said({ held: 30, now: now + 20_000 })).toBeNull();
    expect(said({ held: 30 }, {})).toBeNull();
  });
});

const now = Date.UTC(2026, 10, 22, 1, 30);
const pace = { ...ledgerState().pace, floorMs: 600_000 };
const ours = { retryAt: 0, now, service: 'https://s' };

it.each<[string, Parameters<typeof ledgerState>[0], Partial<Record<'retryAt', number | null>>, RegExp]>([
  ['that the service may be slow', { quota: 9 }, {}, /^no chunk has finished .* may be slow/],
  ['where workers ask', { quota: 9 }, { retryAt: null }, /^no worker .* --base-url https:\/\/s/],
  ['what holds the account', { quota: 9, sent: 9 }, {}, /^the limit is used up until /],
  ['what holds it elsewhere, too', { closedAt: now }, { retryAt: null }, /^the service refuses further/],
  ['until when all wait', { pace }, { retryAt: null }, /asks to wait until 01:40:00 UTC$/],
  ['until when one identifier waits', {}, { retryAt: now + 60_000 }, /asks to wait until 01:31:00 UTC$/],
  ['nothing of a wait that is over', {}, { retryAt: now }, /^no chunk has finished/],
])('the notice after 15 seconds without a chunk says: %s', (_what, state, some, words) => {
  expect(silenceNotice(ledgerState({ now, ...state }), { ...ours, ...some })).toMatch(words);
});

/** The check of the account that a person may order on the dashboard. */
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { accountSection, CHECK_PATH } from '../../src/dashboard/account-section.js';
import { accountAction } from '../../src/dashboard/run-actions.js';
import type { Engine } from '../../src/engine/engine.js';
import type { RunRecord } from '../../src/engine/stores/run-store.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import { htmlOf } from '../../src/run/report/kit/page.js';
import type { LookupWorker } from '../../src/worker/lookup-worker.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { ledgerState } from '../run/ledger-state.js';
import { dashboardData } from './views.js';

const HOUR_MS = 3_600_000;
const INPUT = { id: '', fields: new URLSearchParams(), user: 'ada' };

function scene(account: Partial<LedgerState> = {}, noted = 'newest') {
  const settings = runSettings({ plan: 'paid' });
  const asked: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const run = (id: string, asOf: number) => ({ id, asOf, settings }) as Partial<RunRecord> as RunRecord;
  const text = JSON.stringify({ run: noted, identifier: 'domain:next.com' });
  const engine = {
    ledger: { show: async () => ledgerState({ now: 10 * HOUR_MS, quota: 5, sent: 5, ...account }) },
    runs: { list: async () => [run('older', 1), run('newest', 2)] },
    keyValues: { list: async () => [{ name: settings.account, text, ageMs: 0 }] },
  } as unknown as Engine;
  const worker = {
    async check(identifier: { value: string }) {
      asked.push(identifier.value);
      const answer = { meaning: { type: 'matched' }, cost: 'billed' };
      return { type: 'asked', answer, ledger: ledgerState({ quota: 50, sent: 6 }) };
    },
  } as unknown as LookupWorker;
  const terms = { overagePrice: '0.1', currency: 'EUR' };
  const check = accountAction(engine, { worker, settings }, terms, log);
  return { check, asked, lines };
}

describe('checking the quota', () => {
  it('says identifier and highest price first, then asks once, and logs who ordered it', async () => {
    const { check, asked, lines } = scene();
    const question = await check.ask?.(INPUT);
    expect(question?.lines.join(' ')).toMatch(/domain:next\.com.* at most 0\.10\u00a0EUR/);
    expect(asked).toEqual([]);
    const { sentence } = await check.carryOut(INPUT);
    expect(sentence).toContain('the quota was raised from 5 to 50');
    expect(asked).toEqual(['next.com']);
    expect(lines[0]).toMatchObject({ by: 'ada', identifier: 'domain:next.com' });
  });

  it.each<[string, Partial<LedgerState>, string, RegExp]>([
    ['while spending is paused', { isPaused: true }, 'newest', /spending is paused/],
    ['within an hour of the last one', { checkedAt: 9 * HOUR_MS + 1 }, 'newest', /less than an hour ago/],
    ['where the newest run deferred nothing', {}, 'older', /the newest run deferred nothing/],
  ])('is refused %s', async (_when, account, noted, message) => {
    const { check, asked } = scene(account, noted);
    await expect(check.ask?.(INPUT)).rejects.toThrow(message);
    await expect(check.carryOut(INPUT)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  it('is offered where the limit is used up, and nowhere else', () => {
    const button = `to ${CHECK_PATH}`;
    const shown = (ledger: Partial<LedgerState>) =>
      htmlOf(accountSection(dashboardData({ ledger: ledgerState(ledger) }), null, button)).includes(button);
    expect([shown({ quota: 5, sent: 5 }), shown({ quota: 5, sent: 4 })]).toEqual([true, false]);
  });
});

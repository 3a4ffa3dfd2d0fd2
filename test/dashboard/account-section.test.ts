/** The account as one bar, and what is said of it. */
import { describe, expect, it } from 'vitest';
import { accountSection, accountUse } from '../../src/dashboard/account-section.js';
import type { DashboardData } from '../../src/dashboard/gather-dashboard.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import { htmlOf } from '../../src/run/report/kit/page.js';
import { ledgerState } from '../run/ledger-state.js';
import { accountParts, dashboardData } from './views.js';

/** Shares of the bar as `tone percent`. */
function drawn(account: Partial<LedgerState>): string {
  const parts = accountUse(ledgerState(account)).parts.filter(([, share]) => share > 0);
  return parts.map(([tone, share]) => `${tone} ${Math.round(share * 100)}`).join(', ');
}

it.each<[string, Partial<LedgerState>, string]>([
  ['nothing is known or used', {}, ''],
  ['the quota is unknown', { sent: 6, others: 2 }, 'ours 75, theirs 25'],
  ['some in flight', { quota: 100, sent: 40, held: 5, others: 20 }, 'ours 40, flight 5, theirs 20, left 35'],
  [
    'others pass the limit',
    { quota: 100, overage: 60, sent: 50, others: 150 },
    'ours 13, theirs 38, overage 30, over 20',
  ],
  [
    'a part of the budget is used',
    { quota: 100, overage: 100, sent: 90, others: 30 },
    'ours 38, theirs 13, overage 10, overage-left 40',
  ],
  ['a cap is below the quota', { quota: 100, quotaCap: 50, sent: 20 }, 'ours 40, left 60'],
  ['the quota is 0', { quota: 0 }, ''],
])('the bar when %s', (_, account, parts) => {
  expect(drawn(account)).toBe(parts);
});

/** The words of the card of the account. */
function words(parts: Partial<DashboardData>, currency: string | null = 'EUR'): string {
  const [card = ''] = htmlOf(accountSection(dashboardData(parts), currency)).split(
    '<section class="card" aria-labelledby="projection"',
  );
  return card
    .replace(/<h2[\s\S]*?<\/h2>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.])/g, '$1')
    .trim();
}

const NO_MONEY =
  'Nothing extra is paid: brand-enrich stops at the quota. On a plan that bills lookups beyond the quota, plan and overageBudget in the settings allow more.';

describe('the numbers', () => {
  it.each<[string, Partial<DashboardData>, string]>([
    ['no account', { account: null }, 'No account: set the service and its token.'],
    ['no ledger', { ledger: null }, 'The account has no data yet.'],
    [
      'budget and overage',
      accountParts({ quota: 1_000, sent: 1_010, held: 3, others: 20 }),
      '1,033 of 2,000 used 52 % by brand-enrich 1,013 of these in flight 3 by others 20 left of the quota 0 extra cost 3.30 EUR, 33 lookups extra cost left 96.70 EUR, 967 lookups Since 1 Nov. The quota of the service is 1,000. At most 100.00 EUR extra cost, at 0.10 EUR a lookup beyond the quota.',
    ],
    [
      'no quota',
      accountParts({ sent: 5, others: 2 }, 'free'),
      `7 lookups used by brand-enrich 5 by others 2 Since 1 Nov. The quota is unknown until the service answers. ${NO_MONEY}`,
    ],
    [
      'no budget, and more used than the quota',
      accountParts({ quota: 10, sent: 8, others: 7 }, 'free'),
      `15 of 10 used 150 % by brand-enrich 8 by others 7 left of the quota 0 beyond the limit 5 Since 1 Nov. The quota of the service is 10. ${NO_MONEY}`,
    ],
    [
      'paused',
      accountParts({ quota: 10, sent: 1, isPaused: true }, 'free'),
      `1 of 10 used 10 % by brand-enrich 1 by others 0 left of the quota 9 Since 1 Nov. The quota of the service is 10. ${NO_MONEY}`,
    ],
    [
      '--quota below the quota',
      accountParts({ quota: 100_000, quotaCap: 50, sent: 53 }),
      '53 of 50 used 106 % by brand-enrich 53 by others 0 left of the cap of 50 0 beyond the limit 3 Since 1 Nov. The quota of the service is 100,000. The cap is the quota in the settings. At most 100.00 EUR extra cost, at 0.10 EUR a lookup beyond the quota. Nothing extra is paid: brand-enrich stops at the cap.',
    ],
    [
      '--quota above the quota',
      accountParts({ quota: 10, quotaCap: 50, sent: 1 }, 'free'),
      `1 of 10 used 10 % by brand-enrich 1 by others 0 left of the quota 9 Since 1 Nov. The quota of the service is 10. ${NO_MONEY}`,
    ],
  ])('of %s', (_, parts, text) => {
    expect(words(parts).replaceAll('\u00a0', ' ')).toBe(text);
  });

  it('make up no currency', () => {
    const text = words(accountParts({ quota: 10, sent: 12 }), null);
    expect(text).toContain('extra cost 0.20, 2 lookups');
    expect(text).toContain('Amounts are in the currency of the plan.');
  });
});

/** What the page of an upload says of its cost, whatever the account does later. */
import { expect, it } from 'vitest';
import { costText } from '../../../src/daemon/dashboard/upload-start.js';

const ALL_OVERAGE = { requests: 25, maxCost: '2.5', overageRequests: 25 };
const CAP = { requests: 25, maxCost: '1', overageRequests: 0 };

it.each<[string, NonNullable<Parameters<typeof costText>[0]['spending']> | null, string]>([
  ['without an account', null, 'at most 25 requests'],
  [
    'of an unknown quota, all of which could be overage',
    { ...ALL_OVERAGE, withinQuota: null, deferred: null },
    'at most 25 requests',
  ],
  ['of an unknown quota', { ...CAP, withinQuota: null, deferred: null }, 'at most 25 requests'],
  ['within the quota', { ...CAP, withinQuota: 25, deferred: 0 }, 'at most 25 requests'],
  [
    'with overage',
    { ...CAP, withinQuota: 15, overageRequests: 10, deferred: 0 },
    'at most 25 requests, at most 1.00\u00a0EUR of overage',
  ],
  [
    'beyond quota and overage, which may be raised while the file waits',
    { ...CAP, withinQuota: 10, overageRequests: 10, deferred: 5 },
    'at most 20 requests now and 5 more when quota or budget allow them, at most 1.00\u00a0EUR of overage',
  ],
  [
    'with nothing left',
    { ...CAP, withinQuota: 0, deferred: 25 },
    'no requests until quota or budget allow them',
  ],
])('the cost of a file %s', (_, spending, text) => {
  expect(costText({ requests: { least: 25, most: 25 }, spending, currency: 'EUR' })).toBe(text);
});

it('a cap of its own is not taken for a limit of the account', () => {
  const spending = { requests: 25, maxCost: '0', overageRequests: 0, withinQuota: 10, deferred: 15 };
  const plan = { requests: { least: 25, most: 25 }, spending, currency: null };
  expect(costText(plan, 10)).toBe('at most 10 requests, by its cap');
  expect(costText(plan, 11)).toBe('at most 10 requests now and 15 more when quota or budget allow them');
  const used = { ...plan, spending: { ...spending, withinQuota: 0, deferred: 25 } };
  const account = { limit: 4_000, used: 569 } as Parameters<typeof costText>[0]['account'];
  expect(costText({ ...used, account }, 15)).toBe('no requests: its cap is used up');
});

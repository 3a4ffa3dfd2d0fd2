/** What the page of an upload says of its cost, whatever the account does later. */
import { expect, it } from 'vitest';
import { costText } from '../../../src/daemon/dashboard/upload-start.js';

const CAP = { requests: 25, maxCost: '1', overageRequests: 0 };

it.each<[string, NonNullable<Parameters<typeof costText>[0]['spending']> | null, string]>([
  ['without an account', null, 'at most 25 requests'],
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

/** What the page of an upload says of its cost, whatever the account does later. */
import { expect, it } from 'vitest';
import type { ShownDraft } from '../../src/dashboard/upload-page.js';
import { costText } from '../../src/dashboard/upload-start.js';
import { choiceOf } from '../../src/jobs/plan-upload.js';
import { foundFile, NO_FILE, renderFileParts } from './views.js';

const ALL_OVERAGE = { requests: 25, maxCost: '2.5', overageRequests: 25 };
const CAP = { requests: 25, maxCost: '1', overageRequests: 0 };

it.each<[string, NonNullable<Parameters<typeof costText>[0]['spending']> | null, string]>([
  ['without an account', null, 'at most 25 paid lookups'],
  ['that could be overage', { ...ALL_OVERAGE, withinQuota: null, deferred: null }, 'at most 25 paid lookups'],
  ['of an unknown quota', { ...CAP, withinQuota: null, deferred: null }, 'at most 25 paid lookups'],
  ['within the quota', { ...CAP, withinQuota: 25, deferred: 0 }, 'at most 25 paid lookups'],
  [
    'with overage',
    { ...CAP, withinQuota: 15, overageRequests: 10, deferred: 0 },
    'at most 25 paid lookups, at most 1.00\u00a0EUR extra cost',
  ],
  [
    'beyond quota and overage, which may be raised while the file waits',
    { ...CAP, withinQuota: 10, overageRequests: 10, deferred: 5 },
    'at most 20 paid lookups now and 5 more when quota or budget allow them, at most 1.00\u00a0EUR extra cost',
  ],
  ['too late', { ...CAP, withinQuota: 0, deferred: 25 }, 'no paid lookups until quota or budget allow them'],
])('the cost of a file %s', (_, spending, text) => {
  expect(costText({ requests: { least: 25, most: 25 }, spending, currency: 'EUR' })).toBe(text);
});

/** The page of an upload with this plan. */
function pageOf(choice: object, plan: object): string {
  const draft = foundFile({ place: 'drafts' });
  const reading = {
    sheets: [],
    format: 'csv',
    sheet: null,
    columns: [{ name: 'website', values: ['a.com'] }],
  };
  const shown = { draft, choice, plan: { reading, ...plan } } as unknown as ShownDraft;
  return renderFileParts({ ...NO_FILE, file: shown.draft, draft: shown });
}

it.each([
  ['format=csv', 'format=csv'],
  ['errorsInclude=not_found%2Cinvalid', 'errorsInclude=not_found%2Cinvalid'],
  ['priority=tier', 'priority=tier'],
  ['maxCost=5', 'maxCost=5'],
  // A box or a field of the page shows these.
  ['format=xlsx&errorsInclude=not_found&sort=none&maxRequests=7', ''],
])('what was chosen by an address is kept at the start where no field shows it: %s', (address, kept) => {
  const choice = choiceOf(new URLSearchParams(address));
  const caps = { trial: null, maxRequests: null, maxCost: null };
  const settings = { ...caps, format: null, prefix: 'brand_', sort: 'brand', errorsInclude: [] };
  const plan = {
    rows: { total: 1, asked: 1, duplicates: 0, skipped: 0, invalid: 0 },
    identifiers: { distinct: 1, stored: 0, byKind: { domain: 1 } },
    requests: { least: 1, most: 1 },
    spending: null,
    account: null,
    currency: null,
    priority: null,
    input: { detected: 'CSV', warnings: [], examples: [], unreadable: 0 },
    reasons: { invalid: [], skipped: [] },
    invalid: [{ line: 7, value: 'n/a <b>', reason: { code: 'ip_address' } }],
    columns: 'website',
  };
  const found = { plan, format: 'csv', chosen: [], hasHeader: true, rate: null, overage: 0, settings };
  const html = pageOf(choice, { found, refusal: null });
  expect(html).toContain(
    '<td>7</td><td class="invalid"><bdi>n/a &lt;b&gt;</bdi></td><td>an IP address, not a domain name</td>',
  );
  const form = /<form id="plan-form".*?<\/form>/s.exec(html)?.[0] ?? '';
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const sent = hidden.map(([, name = '', value = '']): [string, string] => [name, value]);
  expect(new URLSearchParams(sent).toString()).toBe(kept);
});

it('a column of several kinds is offered as a mixture', () => {
  const texts = { code: 'column-doubtful', what: 'no column', subject: '"Kennung"', todo: '' };
  const refusal = { ...texts, remedies: [{ column: 'Kennung:auto' }] };
  expect(pageOf({}, { found: null, refusal })).toContain(
    '>Companies from Kennung (a mixture: each value is judged alone)<',
  );
});

it('a cap of its own is not taken for a limit of the account', () => {
  const spending = { requests: 25, maxCost: '0', overageRequests: 0, withinQuota: 10, deferred: 15 };
  const plan = { requests: { least: 25, most: 25 }, spending, currency: null };
  expect(costText(plan, 10)).toBe('at most 10 paid lookups, by its cap');
  expect(costText(plan, 11)).toBe('at most 10 paid lookups now and 15 more when quota or budget allow them');
  const used = { ...plan, spending: { ...spending, withinQuota: 0, deferred: 25 } };
  const account = { limit: 4_000, used: 569 } as Parameters<typeof costText>[0]['account'];
  expect(costText({ ...used, account }, 15)).toBe('no paid lookups: its cap is used up');
});

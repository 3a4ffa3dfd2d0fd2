import { describe, expect, it } from 'vitest';
import type { RunSettings } from '../../src/engine/stores/run-store.js';
import { makeReport } from '../../src/run/report/report.js';
import { exitCodeOf, type LookupsEnd } from '../../src/run/run-end.js';
import type { FinishedRun } from '../../src/run/run-file.js';
import { stopText, summaryText } from '../../src/run/run-summary-text.js';
import type { Scan } from '../../src/run/scan/scan.js';
import { type ResultParts, requestFor, resultOf, STARTED_AT } from '../commands/results.js';
import { counterOf } from '../support/counter.js';
import { halted } from '../support/halts.js';
import { ledgerState, runSpending } from './ledger-state.js';

function finishedRun(parts: ResultParts, settings: Partial<RunSettings> = {}, isStrict = false): FinishedRun {
  const request = requestFor(settings);
  const result = resultOf(parts);
  const exitCode = exitCodeOf(result, isStrict);
  return { request, result, report: makeReport(request, result, exitCode), exitCode, page: null };
}

/** Its lines; of a line in columns, `name: text`. */
function summaryOf(parts: ResultParts, settings: Partial<RunSettings> = {}): string[] {
  const lines = summaryText(finishedRun(parts, settings), false).split('\n');
  return lines.filter((line) => line !== '').map((line) => line.replace(/^ {2}(.+?) {2,}/, '$1: '));
}

const DEFERRED = {
  identifiers: { matched: 1, notFound: 0, beingFetched: 0, failed: 0, deferred: 1_900, stored: 0 },
};

const BOUGHT_TWO: ResultParts = {
  tally: { requests: 2, billed: 2 },
  facts: { identifiers: { ...DEFERRED.identifiers, stored: 1 } },
};

describe('on a terminal', () => {
  it.each<[string, ResultParts, string]>([
    ['green', {}, '\u001b[32mFinished\u001b[0m: \u001b[32m4 matched\u001b[0m of 4 rows'],
    [
      'yellow if nothing matched',
      { rows: { not_found: 4 } },
      '\u001b[33mFinished, nothing matched\u001b[0m: \u001b[33m4 not found\u001b[0m of 4 rows',
    ],
    [
      'red if every row is invalid',
      { rows: { invalid: 4 } },
      '\u001b[31mFinished, every row is invalid\u001b[0m: \u001b[33m4 invalid\u001b[0m of 4 rows',
    ],
    ['calm without rows', { rows: {} }, '\u001b[2mFinished, no rows\u001b[0m'],
  ])('its first line is %s', (_, parts, line) => {
    const [first, ...others] = summaryText(finishedRun(parts), true).trim().split('\n');
    expect(first).toBe(line);
    expect(others.join('')).not.toContain('\u001b');
  });

  it('has columns, what to do next above the files, and the report last', () => {
    const run = finishedRun({ ...BOUGHT_TWO, rows: { invalid: 1, matched: 3 } });
    expect(summaryText({ ...run, page: 'customers.report.html' }, false).split('\n')).toEqual([
      '',
      'Finished: 3 matched, 1 invalid of 4 rows',
      '',
      '  3 distinct identifiers  2 requests, 2 billed; 1 already stored, 1 duplicate row at no cost',
      '  quality of 3 brands     2 high, 1 acceptable, 0 poor',
      '  took                    12 s',
      '',
      expect.stringMatching(/^if the invalid rows matter, correct them/),
      '',
      '  output                  customers.enriched.csv',
      '  report                  customers.report.html',
      '',
    ]);
  });
});

describe('with --quiet', () => {
  const textOf = (parts: ResultParts, isStrict = false) => stopText(finishedRun(parts, {}, isStrict));

  it('a complete run prints nothing', () => {
    expect(textOf({})).toBe('');
  });

  it.each<[string, ResultParts, boolean, RegExp]>([
    ['quota', { end: halted('limit') }, false, /stopped: the quota is used up; .* the same command again/],
    ['a bad row', { rows: { matched: 1, invalid: 1 } }, true, /failed because of --strict: 1 row is invalid/],
    [
      'nothing matched',
      { rows: { not_found: 2 } },
      true,
      /failed because of --strict: nothing matched; check that --column and its kind are right/,
    ],
  ])('a run ended by %s prints the reason in one line', (_what, parts, isStrict, words) => {
    const text = textOf(parts, isStrict);
    expect(text).toMatch(/^brand-enrich: .+: .+\n$/);
    expect(text).toMatch(words);
  });
});

it('the summary shows purchases of another run, so that its counts add up', () => {
  const identifiers = { matched: 1_390, notFound: 10, beingFetched: 0, failed: 0, deferred: 0, stored: 900 };
  const lines = summaryOf({
    scan: { answers: { wanted: 1_400 } as Scan['answers'] },
    tally: { matched: 95, notFound: 5, stored: 400, requests: 100, billed: 100 },
    facts: { identifiers },
  });
  expect(lines[1]).toBe(
    '1,400 distinct identifiers: 100 requests, 100 billed; 900 already stored, 400 bought meanwhile by another run, 1 duplicate row at no cost',
  );
});

it('the summary attributes no unreported purchases of killed workers to another run', () => {
  const tally = { matched: 1, requests: 1, billed: 1 };
  const lines = summaryOf({ tally, spent: 3 });
  expect(lines[1]).toContain('0 already stored, 1 duplicate row');
});

it('the summary names the JSON report if there is no page', () => {
  expect(summaryOf({})).toContain('report: customers.report.json');
});

it('the summary counts every status of rows', () => {
  const rows = { matched: 1_200, not_found: 30, failed: 4, invalid: 3, skipped: 2, deferred: 1 };
  expect(summaryOf({ rows })[0]).toBe(
    'Finished, 4 rows failed: 1,200 matched, 30 not found, 4 failed, 3 invalid, 2 skipped, 1 deferred of 1,240 rows',
  );
});

it('the summary shows overage and account if there are any', () => {
  const spent = { quota: 50, overage: 3, sent: 52, others: 1 };
  const ledger = ledgerState({ ...spent, run: runSpending({ requests: 52 }) });
  const lines = summaryOf({ ledger, overageBilled: 3 });
  expect(lines).toContain('overage: 3 requests, 0.3 spent');
  expect(lines).toContain('account: 53 of 53 used this period (52 by us, 1 by others), 0 left');
  expect(summaryOf({ ledger: ledgerState() }).join('\n')).not.toContain('account:');
  const before = ledgerState({ ...spent, sent: 40 });
  expect(summaryOf({ ledger: before })).toContain(
    'account: 41 of 53 used this period (40 by us, 1 by others), 12 (3 at extra cost) left',
  );
});

it('the summary shows requests that killed workers may have spent', () => {
  const tally = { requests: 2, billed: 2 };
  expect(summaryOf({ tally, spent: 5 })).toContain(
    'perhaps billed: 3 more, in flight when their worker ended',
  );
  expect(summaryOf({ tally, spent: 2 }).join('\n')).not.toContain('killed');
  // A worker that was cut off may have reported to the run before it could report to the ledger.
  expect(summaryOf({ tally, spent: 1 }).join('\n')).not.toContain('killed');
});

it('the summary mentions brands without a score', () => {
  const lines = summaryOf({ facts: { quality: { poor: 1, acceptable: 0, high: 1_000, unscored: 2 } } });
  expect(lines).toContain('quality of 1,003 brands: 1,000 high, 0 acceptable, 1 poor, 2 unscored');
  expect(summaryOf({ rows: { not_found: 4 } }).join('\n')).not.toContain('quality');
});

it('the summary mentions scores from different weeks', () => {
  const week = 7 * 86_400_000;
  const near = { oldestFetchedAt: STARTED_AT - week, newestFetchedAt: STARTED_AT };
  expect(summaryOf({ facts: near }).join('\n')).not.toContain('--refresh');
  const far = { oldestFetchedAt: STARTED_AT - week - 1, newestFetchedAt: STARTED_AT };
  expect(summaryOf({ facts: far })).toContain(
    'note: stored and new scores are more than 7 days apart; --refresh fetches all again',
  );
});

it('the summary shows a few causes of failures and wrong lines, the most frequent first', () => {
  const reason = (at: number) => ({ code: 'answer', text: `reason ${at}` }) as const;
  const failures = counterOf(Array.from({ length: 8 }, (_, at) => [reason(at), at + 1] as const));
  const invalid = [1, 2, 3, 4].map((line) => ({ line, value: 'x', reason: { code: 'not_domain' } as const }));
  const lines = summaryOf({ rows: { failed: 36 }, facts: { failures }, scan: { invalid } });
  expect(lines.filter((line) => line.startsWith('failed '))).toEqual([
    'failed 8 x: reason 7',
    'failed 7 x: reason 6',
    'failed 6 x: reason 5',
    'failed 5 x: reason 4',
    'failed 4 x: reason 3',
  ]);
  expect(lines.filter((line) => line.startsWith('line '))).toHaveLength(3);
});

it('the summary names the files, and marks a partial one', () => {
  const lines = summaryOf({ isComplete: false, errors: 'customers.errors.csv', seconds: 200 });
  expect(lines).toContain('output: customers.enriched.csv (partial)');
  expect(lines).toContain('rows without an answer: customers.errors.csv');
  expect(lines).toContain('took: 3 min 20 s');
});

const AGAIN = 'run the same command again';
const RAISED = 'a raised quota or the next period would cover them';
it.each<[RunSettings['plan'], LookupsEnd, why: string, todo: string]>([
  [
    'unspecified',
    halted('limit'),
    'the quota is used up',
    `: ${RAISED}, or --plan paid --overage-budget AMOUNT if the plan bills overage`,
  ],
  ['free', halted('limit'), 'the quota is used up', `: ${RAISED}`],
  [
    'paid',
    halted('limit', { name: 'account', overage: 3 }),
    'the quota and the overage budget are used up',
    ': a higher --overage-budget would cover them, or a raised quota, which this plan does not show by itself: set --own-domain, or use `brand-enrich ledger check` or `brand-enrich ledger observe --quota N`',
  ],
  [
    'paid',
    halted('limit', { name: 'overstated', usage: 52, quota: 50 }),
    'the service refuses every request at a usage of 52 and a quota of 50: the plan or the overage budget set here is higher than in the account',
    ': set --plan and --overage-budget to what the account has, or raise them in the account',
  ],
  // No quota would help.
  ['unspecified', halted('throttled'), 'the service refused every request as too many for 360 s', ''],
])('the next step on plan %s after %j is what would cover the rest', (plan, end, why, todo) => {
  const step = `stopped: ${why}; 1,900 identifiers are left${todo}; ${AGAIN} to continue`;
  expect(summaryOf({ end, facts: DEFERRED }, { plan })).toContain(step);
});

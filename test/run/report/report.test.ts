import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RowReason } from '../../../src/core/row-reason.js';
import { makeReport } from '../../../src/run/report/report.js';
import { writeReport } from '../../../src/run/run-file.js';
import { requestFor, resultOf } from '../../commands/results.js';
import { counterOf } from '../../support/counter.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { ledgerState, runSpending } from '../ledger-state.js';

const answered = (text: string) => ({ code: 'answer', text }) as const;

const LEDGER = ledgerState({
  period: '2026-03-01',
  quota: 50,
  overage: 3,
  sent: 52,
  held: 1,
  others: 7,
  // Of all runs of this key, the earlier ones included.
  run: runSpending({ requests: 52, overageRequests: 5 }),
});

it('the report has one shape', () => {
  const result = resultOf({
    rows: { matched: 3, failed: 1 },
    tally: { requests: 5, billed: 4 },
    spent: 7,
    overageBilled: 3,
    ledger: LEDGER,
    errors: 'customers.errors.csv',
    listed: { failed: [{ line: 9, value: 'acme.com', reason: 'gone' }] },
    earlier: { starts: 2, matched: 5, notFound: 1, billed: 6, unreported: 1, overage: 1, tookMs: 0 },
    facts: { failures: counterOf([[answered('the service answered 410'), 1]]) },
  });
  expect(makeReport(requestFor(), result, 1)).toEqual({
    version: 1,
    stopped: null,
    changes: null,
    fills: null,
    nameMatch: null,
    next: 'some rows failed: run the same command again to retry only those',
    listed: { not_found: [], failed: [{ line: 9, value: 'acme.com', reason: 'gone' }], invalid: [] },
    cost: {
      brands: 3,
      run: { requests: 7, overage: 3, overageCost: '0.3' },
      inAll: { requests: 14, overage: 4, overageCost: '0.4' },
    },
    run: {
      id: 'run',
      key: 'key',
      service: 'http://service.example',
      status: 'finished',
      isComplete: true,
      nothingMatched: false,
      exitCode: 1,
    },
    reason: null,
    input: {
      name: 'customers.csv',
      sha256: 'c0ffee',
      records: 4,
      columns: [{ name: 'website', kind: 'domain' }],
      detected: "CSV, delimiter ',', utf-8",
      where: null,
      warnings: [],
      unreadable: 0,
      examples: [],
    },
    rows: { matched: 3, not_found: 0, failed: 1, invalid: 0, skipped: 0, deferred: 0 },
    reasons: {},
    identifiers: {
      distinct: 3,
      duplicateRows: 1,
      byKind: { domain: 3 },
      matched: 3,
      notFound: 0,
      beingFetched: 0,
      failed: 0,
      deferred: 0,
      stored: 0,
    },
    failures: { 'the service answered 410': 1 },
    quality: {
      poor: 0,
      acceptable: 1,
      high: 2,
      unscored: 0,
      histogram: [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1],
    },
    requests: {
      sent: 5,
      billed: 4,
      unreported: 3,
      overage: 3,
      overageCost: '0.3',
      savedByStored: 0,
      savedByOthers: 0,
      savedByDuplicates: 1,
    },
    account: {
      period: '2026-03-01',
      quota: 50,
      limit: 53,
      cap: null,
      used: 60,
      left: 0,
      sent: 52,
      inFlight: 1,
      others: 7,
      free: 0,
    },
    currency: null,
    fetchedAt: {
      oldest: '2026-03-15T12:00:00.000Z',
      newest: '2026-03-15T12:00:00.000Z',
      scoresMayHaveDrifted: false,
    },
    files: { output: 'customers.enriched.csv', errors: 'customers.errors.csv' },
    accounting: { recordsRead: 4, rowsByStatus: 4, recordsWritten: 4 },
    startedAt: '2026-03-15T12:00:00.000Z',
    endedAt: '2026-03-15T12:00:12.000Z',
    seconds: 12,
  });
});

it('the report of a run without lookups has no account and no dates', () => {
  const result = { ...resultOf({ facts: { oldestFetchedAt: null, newestFetchedAt: null } }), progress: null };
  const report = makeReport(requestFor(), result, 0);
  expect(report.account).toBeNull();
  expect(report.requests).toMatchObject({ sent: 0, billed: 0, overage: 0, overageCost: '0' });
  expect(report.fetchedAt).toEqual({ oldest: null, newest: null, scoresMayHaveDrifted: false });
});

describe('lists', () => {
  it('have the most frequent first', () => {
    const failures = counterOf([
      [answered('rare'), 1],
      [answered('frequent'), 9],
      [answered('common'), 5],
    ]);
    const reasons = {
      invalid: counterOf<RowReason>([
        [{ code: 'nul' }, 1],
        [{ code: 'not_isin' }, 9],
      ]),
      skipped: counterOf<RowReason>([[{ code: 'blank' }, 5]]),
    };
    const report = makeReport(requestFor(), resultOf({ facts: { failures }, scan: { reasons } }), 1);
    expect(Object.entries(report.failures)).toEqual([
      ['frequent', 9],
      ['common', 5],
      ['rare', 1],
    ]);
    expect(Object.values(report.reasons)).toEqual([9, 5, 1]);
    expect(Object.keys(report.reasons)[1]).toBe('the cell is blank');
  });

  it('are cut after fifty reasons', () => {
    const misfit = (cells: number): RowReason => ({ code: 'cell_count', cells, columns: 90 });
    const misfits = Array.from({ length: 80 }, (_, cells) => [misfit(cells), cells + 1] as const);
    const reasons = { invalid: counterOf(misfits), skipped: counterOf<RowReason>([]) };
    const report = makeReport(requestFor(), resultOf({ scan: { reasons } }), 0);
    expect(Object.keys(report.reasons)).toHaveLength(50);
    expect(report.reasons).not.toHaveProperty('0 cells instead of 90');
  });

  it('add up failures with the same words', () => {
    const untrusted = { code: 'unproven', text: 'the service answered 404' } as const;
    const failures = counterOf([
      [{ ...untrusted, saysNotFound: true }, 2],
      [{ ...untrusted, saysNotFound: false }, 3],
    ]);
    const report = makeReport(requestFor(), resultOf({ facts: { failures } }), 1);
    expect(Object.values(report.failures)).toEqual([5]);
  });
});

it('the report is written in one step', async () => {
  const folder = await temporaryFolder();
  const report = makeReport(requestFor(), resultOf(), 0);
  await writeReport(join(folder, 'customers.report.json'), report);
  expect(await readdir(folder)).toEqual(['customers.report.json']);
  expect(JSON.parse(await readFile(join(folder, 'customers.report.json'), 'utf8'))).toEqual(report);
});

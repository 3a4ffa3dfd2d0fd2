import { describe, expect, it } from 'vitest';
import { EXIT, InterruptedError, RunError } from '../../../src/core/errors.js';
import {
  bareNotice,
  noticeMail,
  noticeOfAccount,
  noticeOfError,
  noticeOfReport,
} from '../../../src/run/notices/notice.js';
import { makeReport } from '../../../src/run/report/report.js';
import { exitCodeOf } from '../../../src/run/run-end.js';
import { type ResultParts, requestFor, resultOf, STARTED_AT } from '../../commands/results.js';
import { halted } from '../../support/halts.js';
import { ledgerState, runSpending } from '../ledger-state.js';

const SCENE = { at: STARTED_AT, isSample: false, run: { id: 'r-1', label: 'host: customers.csv' } };

function noticeFor(parts: ResultParts) {
  const result = resultOf(parts);
  const exitCode = exitCodeOf(result, false);
  const report = makeReport(requestFor(), result, exitCode);
  return noticeOfReport('finish', SCENE, report, '/data/customers.report.json');
}

const BEYOND = { period: '2026-03-01', quota: 1_000, overage: 50, sent: 1_010, held: 5, others: 1 };
const PAID: ResultParts = {
  tally: { requests: 9, billed: 8 },
  spent: 10,
  overageBilled: 12,
  ledger: ledgerState({ ...BEYOND, run: runSpending() }),
};

describe('a notice', () => {
  it('contains counts, money, what is left, and names without folders', () => {
    const result = resultOf({ ...PAID, rows: { matched: 3, failed: 1 } });
    const written = {
      ...result.written,
      output: '/secret/place/out.csv',
      errors: '/secret/place/out.errors.csv',
    };
    const report = makeReport(requestFor(), { ...result, written }, EXIT.someFailed);
    expect(noticeOfReport('finish', SCENE, report, '/data/out.report.json')).toEqual({
      version: 1,
      event: 'finish',
      stopped: null,
      at: '2026-03-15T12:00:00.000Z',
      isSample: false,
      run: { id: 'r-1', label: 'host: customers.csv' },
      reason: null,
      rows: { matched: 3, not_found: 0, failed: 1, invalid: 0, skipped: 0, deferred: 0 },
      requests: { sent: 9, billed: 8, unreported: 2, overage: 12, overageCost: '1.2' },
      currency: null,
      account: report.account,
      changes: null,
      files: { output: 'out.csv', errors: 'out.errors.csv' },
      report: '/data/out.report.json',
    });
  });

  it.each<[ResultParts, string | null]>([
    [{}, null],
    [{ end: halted('limit'), isComplete: false }, 'the quota is used up'],
    [
      { end: { type: 'too_many_failures' }, isComplete: false },
      'more lookups failed than --max-errors allows',
    ],
  ])('gives the reason: %j', (parts, reason) => {
    expect(noticeFor(parts).reason).toBe(reason);
  });

  it('contains the message of an error, none of a bug, and nothing of an interruption', () => {
    const detail = { subject: 'status 401', todo: 'check it' };
    const refused = new RunError({ code: 'engine-unreachable', ...detail });
    const reason = refused.message;
    expect(noticeOfError(refused, SCENE)).toMatchObject({ event: 'failure', reason, rows: null });
    expect(noticeOfError(new TypeError('row 7: Acme'), SCENE)?.reason).toBe('unexpected error; see the log');
    expect(
      noticeOfError(new InterruptedError({ code: 'interrupted', subject: 'x', todo: 'y' }), SCENE),
    ).toBeNull();
  });

  it('of the account contains what is left, as far as it is known', () => {
    const state = ledgerState({ sent: 3, held: 1 });
    const unknown = { period: null, quota: null, limit: null, cap: null, left: null };
    const used = { used: 4, sent: 3, inFlight: 1, others: 0, free: 0 };
    expect(noticeOfAccount('limit', SCENE, 'x', state).account).toEqual({ ...unknown, ...used });
    expect(noticeOfAccount('limit', SCENE, 'x', { ...state, quota: 2 }).account?.left).toBe(0);
    expect(noticeOfAccount('parked', SCENE, 'x', null).account).toBeNull();
  });
});

describe('the e-mail', () => {
  it('contains the whole notice as text', () => {
    const notice = noticeFor({ ...PAID, rows: { matched: 1_200, failed: 2 } });
    expect(noticeMail(notice)).toEqual({
      subject: 'host: customers.csv: finished, 2 rows failed',
      text: [
        'rows:      1,200 matched, 2 failed',
        'requests:  9 sent, 8 billed, 12 as overage for 1.2',
        '           2 more may have been billed: in flight when their worker ended',
        'account:   1,016 requests used of 1,050, 34 (34 at extra cost) left',
        'output:    customers.enriched.csv',
        'report:    /data/customers.report.json',
        'run:       r-1',
        'time:      2026-03-15 12:00:00 UTC',
        '',
      ].join('\n'),
    });
  });

  it.each([
    ['finish', 'host: customers.csv: finished'],
    ['failure', 'host: customers.csv: failed'],
    ['limit', '80 % of the request limit is used (host: customers.csv)'],
    ['parked', 'host: customers.csv: parked'],
  ] as const)('%s has the subject %s', (event, subject) => {
    const notice = bareNotice(event, SCENE, 'because');
    expect(noticeMail(notice).subject).toBe(subject);
    expect(noticeMail(notice).text).toMatch(/^because\n\n/);
    const label = 'host: a\nb\u001b[2J.csv';
    const odd = noticeMail({ ...notice, run: { ...notice.run, label }, reason: 'a\nb' });
    expect(odd.subject).toBe(subject.replace(notice.run.label, 'host: a\\nb\\x1b[2J.csv'));
    expect(odd.text).toMatch(/^a\\nb\n/);
    expect(noticeMail({ ...notice, isSample: true }).subject).toBe(`[sample data] ${subject}`);
  });
});

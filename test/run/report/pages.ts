/** Made-up data of a report page: a run that went well unless the test says otherwise. */
import type { StatusCounts } from '../../../src/core/outcome.js';
import type { PageData, ShownBrand } from '../../../src/run/report/portable-report.js';
import { makeReport, type RunReport } from '../../../src/run/report/report.js';
import { requestFor, resultOf, STARTED_AT } from '../../commands/results.js';
import { ledgerState } from '../ledger-state.js';

export const NO_BINS = Array.from({ length: 15 }, () => 0);
export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export interface FigureParts
  extends Partial<Omit<RunReport, 'rows' | 'run' | 'input' | 'identifiers' | 'requests'>> {
  readonly rows?: Partial<StatusCounts>;
  readonly run?: Partial<RunReport['run']>;
  readonly input?: Partial<RunReport['input']>;
  readonly identifiers?: Partial<RunReport['identifiers']>;
  readonly requests?: Partial<RunReport['requests']>;
}

/** As a run reports them that went well; records are the sum of the rows unless given. */
export function figures(parts: FigureParts = {}): RunReport {
  const result = resultOf({
    rows: parts.rows ?? { matched: 52, not_found: 3, invalid: 2, skipped: 3 },
    tally: { requests: 50, billed: 49 },
    overageBilled: 3,
    ledger: ledgerState({ period: '2026-03-01', quota: 50, overage: 3, sent: 49, held: 1, others: 2 }),
    facts: {
      quality: { poor: 4, acceptable: 9, high: 37, unscored: 1 },
      histogram: [1, 2, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 2, 13, 22],
      oldestFetchedAt: Date.UTC(2026, 2, 14, 8, 5),
      newestFetchedAt: STARTED_AT + 10_000,
    },
  });
  const made = makeReport(requestFor(), result, 0);
  const { matched, not_found: notFound, failed, deferred, invalid } = made.rows;
  const outcomes = { matched, notFound, failed, deferred, stored: 4 };
  return {
    ...made,
    next: null,
    listed: {
      not_found: listedRows(notFound),
      failed: listedRows(failed, 'the service answered 410'),
      invalid: [
        { line: 54, value: 'http://10.0.0.1/', reason: 'an IP address, not a domain name' },
        { line: 7, value: 'n/a <b>', reason: 'not a domain name' },
      ].slice(0, invalid),
    },
    cost: { ...made.cost, brands: 51 },
    reasons: { 'not a domain name': 1, 'an IP address, not a domain name': 1, 'the cell is blank': 3 },
    ...parts,
    rows: made.rows,
    identifiers: {
      ...made.identifiers,
      ...{ distinct: 53, duplicateRows: 2, byKind: { domain: 53 } },
      ...outcomes,
      ...parts.identifiers,
    },
    requests: {
      ...made.requests,
      savedByStored: 4,
      savedByOthers: 0,
      savedByDuplicates: 2,
      ...parts.requests,
    },
    run: {
      ...made.run,
      ...{ id: 'r-20260315-abcd', service: 'https://api.example', nothingMatched: false },
      ...parts.run,
    },
    input: { ...made.input, examples: [{ line: 54, reason: 'not a domain name' }], ...parts.input },
  };
}

/** As a run lists them: a hundred of many. */
function listedRows(count: number, reason = 'the service has no such brand, or withholds it') {
  return Array.from({ length: Math.min(count, 100) }, (_, at) => {
    return { line: 3 * at + 12, value: `brand-${at}.example`, reason };
  });
}

export function brand(parts: Partial<ShownBrand> = {}): ShownBrand {
  return {
    name: 'Acme',
    domain: 'acme.example',
    score: 0.9,
    color: '#f40009',
    industry: 'Tools',
    country: 'Lithuania',
    logo: null,
    ...parts,
  };
}

const NAMES = 'Acme, Blue Heron, Ça va, Delta, 日本, Étoile du Nord, 7th Street, Ægir, Ivy, Jo'.split(', ');

export function pageData(parts: Partial<PageData> = {}): PageData {
  return {
    report: figures(),
    isSample: false,
    best: NAMES.map((name, at) =>
      brand({ name, domain: `best-${at}.example`, score: 0.98 - at / 100, color: COLORS[at] ?? null }),
    ),
    lowest: NAMES.slice(0, 4).map((name, at) =>
      brand({
        name: `${name} with a name that goes on and on and does not end`,
        domain: at === 3 ? null : `low-${at}.example`,
        score: 0.05 + at / 5,
        color: null,
        logo: at === 1 ? PIXEL : null,
      }),
    ),
    files: [
      { label: 'Enriched rows', name: 'customers.enriched.csv', href: './customers.enriched.csv' },
      { label: 'Rows without an answer', name: 'customers.errors.csv', href: null },
    ],
    ...parts,
  };
}

const COLORS = '#f40009 #abc #ffffff #000000 #1db954 #0071e3 none #12345678 #FDB813'.split(' ');

/** Returns the page of a run without any brand. */
function brandlessPage(parts: FigureParts): PageData {
  const quality = { poor: 0, acceptable: 0, high: 0, unscored: 0, histogram: NO_BINS };
  const fetchedAt = { oldest: null, newest: null, scoresMayHaveDrifted: false };
  return pageData({ report: figures({ quality, fetchedAt, ...parts }), best: [], lowest: [] });
}

/** An empty file. */
export function emptyPage(): PageData {
  return brandlessPage({
    rows: {},
    reasons: {},
    identifiers: { distinct: 0, duplicateRows: 0, stored: 0 },
    requests: { sent: 0, billed: 0, overage: 0, overageCost: '0', savedByStored: 0, savedByDuplicates: 0 },
    account: null,
    input: { examples: [] },
  });
}

/** Nothing matched: every list is full, with names as long as they get. */
export function unmatchedPage(): PageData {
  const reason = 'longer than 32 characters, not a ticker';
  const long = { line: 1_048_576, value: `${'x'.repeat(200)}…`, reason };
  const rows = { not_found: 2_312, failed: 310, invalid: 140 };
  const { listed } = figures({ rows });
  const spent = { requests: 2_622, overage: 0, overageCost: '0' };
  const ledger = { period: '2026-03-01', quota: 10_000, quotaCap: 3_000, sent: 2_622, others: 378 };
  return brandlessPage({
    rows,
    run: { exitCode: 1, nothingMatched: true },
    next: 'some rows failed: run the same command again to retry only those',
    listed: {
      ...listed,
      invalid: [long, ...listed.invalid, ...Array.from({ length: 97 }, () => ({ ...long, value: 'n/a' }))],
    },
    files: { output: 'customers.enriched.csv', errors: 'customers.errors.csv' },
    cost: { brands: 0, run: spent, inAll: spent },
    account: makeReport(requestFor(), resultOf({ ledger: ledgerState(ledger) }), 0).account,
  });
}

/** Everything was asked for and nothing answered. */
export function failedPage(): PageData {
  return brandlessPage({
    rows: { failed: 1_240 },
    run: { exitCode: 1 },
    reasons: {},
    failures: { 'the service answered 503 five times': 1_200, 'the answer was damaged': 40 },
  });
}

/** Stopped by the limit, with stored answers of another week. */
export function partialPage(): PageData {
  return pageData({
    report: figures({
      rows: { matched: 300, not_found: 12, failed: 3, invalid: 5, deferred: 1_680 },
      run: { isComplete: false, exitCode: 7 },
      reason: 'the quota of 250 is used up',
      next: 'stopped: the quota of 250 is used up; 1,680 identifiers are left: a raised quota or the next period would cover them; run the same command again to continue',
      currency: 'EUR',
      cost: {
        brands: 300,
        run: { requests: 53, overage: 3, overageCost: '0.3' },
        inAll: { requests: 315, overage: 3, overageCost: '0.3' },
      },
      failures: { 'the service answered 410': 3 },
      fetchedAt: {
        oldest: '2026-03-01T08:05:00.000Z',
        newest: '2026-03-15T12:00:10.000Z',
        scoresMayHaveDrifted: true,
      },
    }),
  });
}

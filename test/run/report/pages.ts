/** Made-up data of a report page: a run that went well unless the test says otherwise. */
import { emptyCounts, type StatusCounts } from '../../../src/core/outcome.js';
import type { PageData, ShownBrand } from '../../../src/run/report/portable-report.js';
import type { RunReport } from '../../../src/run/report/report.js';

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

/** Figures; records are the sum of the rows unless given. */
export function figures(parts: FigureParts = {}): RunReport {
  const rows = {
    ...emptyCounts(),
    ...(parts.rows ?? { matched: 52, not_found: 3, invalid: 2, skipped: 3 }),
  };
  const records = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return {
    version: 1,
    currency: null,
    files: { output: 'customers.enriched.csv', errors: null },
    stopped: null,
    reason: null,
    next: null,
    listed: {
      not_found: listedRows(rows.not_found),
      failed: listedRows(rows.failed, 'the service answered 410'),
      invalid: [
        { line: 54, value: 'http://10.0.0.1/', reason: 'an IP address, not a domain name' },
        { line: 7, value: 'n/a <b>', reason: 'not a domain name' },
      ].slice(0, rows.invalid),
    },
    cost: {
      brands: 51,
      run: { requests: 49, overage: 3, overageCost: '0.3' },
      inAll: { requests: 49, overage: 3, overageCost: '0.3' },
    },
    reasons: { 'not a domain name': 1, 'an IP address, not a domain name': 1, 'the cell is blank': 3 },
    failures: {},
    changes: null,
    nameMatch: null,
    quality: {
      poor: 4,
      acceptable: 9,
      high: 37,
      unscored: 1,
      histogram: [1, 2, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 2, 13, 22],
    },
    account: {
      period: '2026-03-01',
      quota: 50,
      limit: 53,
      cap: null,
      used: 52,
      left: 1,
      sent: 49,
      inFlight: 1,
      others: 2,
      free: 0,
    },
    fetchedAt: {
      oldest: '2026-03-14T08:05:00.000Z',
      newest: '2026-03-15T12:00:10.000Z',
      scoresMayHaveDrifted: false,
    },
    accounting: { recordsRead: records, rowsByStatus: records, recordsWritten: records },
    startedAt: '2026-03-15T12:00:00.000Z',
    endedAt: '2026-03-15T12:00:12.000Z',
    seconds: 12,
    ...parts,
    rows,
    identifiers: {
      distinct: 53,
      duplicateRows: 2,
      byKind: { domain: 53 },
      matched: rows.matched,
      notFound: rows.not_found,
      failed: rows.failed,
      stored: 4,
      deferred: rows.deferred,
      beingFetched: 0,
      ...parts.identifiers,
    },
    requests: {
      sent: 50,
      billed: 49,
      unreported: 0,
      overage: 3,
      overageCost: '0.3',
      savedByStored: 4,
      savedByOthers: 0,
      savedByDuplicates: 2,
      ...parts.requests,
    },
    run: {
      id: 'r-20260315-abcd',
      key: 'key',
      status: 'finished',
      nothingMatched: false,
      service: 'https://api.example',
      isComplete: true,
      exitCode: 0,
      ...parts.run,
    },
    input: {
      name: 'customers.csv',
      sha256: 'c0ffee',
      records,
      columns: [{ name: 'website', kind: 'domain' }],
      detected: "CSV, delimiter ',', utf-8",
      warnings: [],
      where: null,
      unreadable: 0,
      misfits: 0,
      short: 0,
      long: 0,
      examples: [{ line: 54, reason: 'not a domain name' }],
      ...parts.input,
    },
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

const NAMES = [
  'Acme',
  'Blue Heron',
  'Ça va',
  'Delta',
  '日本',
  'Étoile du Nord',
  '7th Street',
  'Ægir',
  'Ivy',
  'Jo',
];

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

const COLORS = [
  '#f40009',
  '#abc',
  '#ffffff',
  '#000000',
  '#1db954',
  '#0071e3',
  'none',
  '#12345678',
  '#FDB813',
];

/** An empty file. */
export function emptyPage(): PageData {
  return pageData({
    report: figures({
      rows: {},
      reasons: {},
      identifiers: { distinct: 0, duplicateRows: 0, stored: 0, deferred: 0, beingFetched: 0 },
      quality: { poor: 0, acceptable: 0, high: 0, unscored: 0, histogram: NO_BINS },
      requests: {
        sent: 0,
        billed: 0,
        unreported: 0,
        overage: 0,
        overageCost: '0',
        savedByStored: 0,
        savedByDuplicates: 0,
      },
      account: null,
      fetchedAt: { oldest: null, newest: null, scoresMayHaveDrifted: false },
      input: { examples: [], warnings: [] },
    }),
    best: [],
    lowest: [],
  });
}

/** Nothing matched: every list is full, with names as long as they get. */
export function unmatchedPage(): PageData {
  const long = {
    line: 1_048_576,
    value: `${'x'.repeat(200)}…`,
    reason: 'longer than 32 characters, not a ticker',
  };
  const rows = { not_found: 2_312, failed: 310, invalid: 140 };
  const { listed } = figures({ rows });
  return pageData({
    report: figures({
      rows,
      run: { exitCode: 1, nothingMatched: true },
      next: 'some rows failed: run the same command again to retry only those',
      listed: {
        ...listed,
        invalid: [long, ...listed.invalid, ...Array.from({ length: 97 }, () => ({ ...long, value: 'n/a' }))],
      },
      files: { output: 'customers.enriched.csv', errors: 'customers.errors.csv' },
      quality: { poor: 0, acceptable: 0, high: 0, unscored: 0, histogram: NO_BINS },
      cost: {
        brands: 0,
        run: { requests: 2_622, overage: 0, overageCost: '0' },
        inAll: { requests: 2_622, overage: 0, overageCost: '0' },
      },
      account: {
        period: '2026-03-01',
        quota: 10_000,
        limit: 3_000,
        cap: 3_000,
        used: 3_000,
        left: 0,
        sent: 2_622,
        inFlight: 0,
        others: 378,
        free: 0,
      },
      fetchedAt: { oldest: null, newest: null, scoresMayHaveDrifted: false },
    }),
    best: [],
    lowest: [],
  });
}

/** Everything was asked for and nothing answered. */
export function failedPage(): PageData {
  return pageData({
    report: figures({
      rows: { failed: 1_240 },
      run: { exitCode: 1 },
      reasons: {},
      failures: { 'the service answered 503 five times': 1_200, 'the answer was damaged': 40 },
      quality: { poor: 0, acceptable: 0, high: 0, unscored: 0, histogram: NO_BINS },
      fetchedAt: { oldest: null, newest: null, scoresMayHaveDrifted: false },
    }),
    best: [],
    lowest: [],
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

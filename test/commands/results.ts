/** A made-up end of a run: everything matched unless the test says otherwise. */
import { Counter } from '../../src/core/counter.js';
import { emptyCounts, type StatusCounts } from '../../src/core/outcome.js';
import { NO_TALLY, type RunRecord, type RunSettings, type Tally } from '../../src/engine/stores/run-store.js';
import { RowFilter } from '../../src/input/identify/choose-columns.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import type { EnrichResult } from '../../src/run/enrich-file.js';
import type { EnrichRequest } from '../../src/run/enrich-request.js';
import type { RunFacts } from '../../src/run/report/run-summary.js';
import type { LookupsEnd } from '../../src/run/run-end.js';
import type { Scan } from '../../src/run/scan/scan.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { settingsWith } from '../support/default-settings.js';
import { runRecord } from '../worker/asking.js';

export const STARTED_AT = Date.UTC(2026, 2, 15, 12);

export function requestFor(settings: Partial<RunSettings> = {}): EnrichRequest {
  return {
    input: 'customers.csv',
    stdin: null,
    stdout: null,
    settings: settingsWith({ overagePrice: '0.1' }),
    runSettings: runSettings(settings),
    pace: { rate: null, burst: 1 },
    reader: 'terminal',
    stateFolder: '/state',
  };
}

export interface ResultParts {
  readonly end?: LookupsEnd;
  readonly rows?: Partial<StatusCounts>;
  readonly facts?: Partial<RunFacts>;
  readonly scan?: Partial<Scan>;
  readonly tally?: Partial<Tally>;
  /** By the ledger's count; what workers reported unless given. */
  readonly spent?: number;
  readonly overageBilled?: number;
  readonly earlier?: RunRecord['earlier'];
  readonly ledger?: LedgerState | null;
  readonly isComplete?: boolean;
  readonly output?: string;
  readonly errors?: string | null;
  readonly listed?: Partial<EnrichResult['written']['listed']>;
  readonly seconds?: number;
}

export function resultOf(parts: ResultParts = {}): EnrichResult {
  const counts = { ...emptyCounts(), ...(parts.rows ?? { matched: 4 }) };
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const tally = { ...NO_TALLY, ...parts.tally };
  const { spent = tally.billed, overageBilled = 0, earlier, seconds = 12 } = parts;
  const scan = {
    chosen: { choices: [{ name: 'website', kind: 'domain', column: 1 }], sentence: '', ours: [] },
    rows: { count: rows },
    answers: { wanted: 3 },
    counts: { asked: rows, invalid: 0, skipped: 0, unreadable: 0, duplicates: 1 },
    byKind: new Map([['domain', 3]]),
    reasons: { invalid: new Counter(), skipped: new Counter() },
    invalid: [],
    filter: new RowFilter([], []),
    nameColumn: null,
    columns: ['id', 'website'],
    contentHash: 'c0ffee',
    ...parts.scan,
  } as unknown as Scan;
  return {
    run: runRecord({}, { tally, spent, overageBilled, ...(earlier && { earlier }) }),
    end: parts.end ?? { type: 'finished' },
    isComplete: parts.isComplete ?? true,
    scan,
    facts: {
      identifiers: { matched: 3, notFound: 0, beingFetched: 0, failed: 0, deferred: 0, stored: 0 },
      quality: { poor: 0, acceptable: 1, high: 2, unscored: 0 },
      histogram: [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1],
      brands: { best: [], lowest: [] },
      oldestFetchedAt: STARTED_AT,
      newestFetchedAt: STARTED_AT,
      failures: new Counter(),
      hasOutage: false,
      hasUntrusted: false,
      ...parts.facts,
    },
    written: {
      output: parts.output ?? 'customers.enriched.csv',
      errors: parts.errors ?? null,
      counts,
      names: { compared: 0, low: 0 },
      listed: { not_found: [], failed: [], ...parts.listed },
      readBack: rows,
      fills: null,
    },
    changed: null,
    names: {
      complete: 'customers.enriched.csv',
      partial: 'customers.enriched.partial.csv',
      errors: 'customers.errors.csv',
      report: 'customers.report.json',
      reportHtml: 'customers.report.html',
      gzip: false,
      differences: null,
      partialDifferences: null,
      changes: null,
    },
    ledger: parts.ledger ?? null,
    input: { name: 'customers.csv', detected: "CSV, delimiter ',', utf-8", warnings: [] },
    startedAt: STARTED_AT,
    tookMs: seconds * 1_000,
    endedAt: STARTED_AT + seconds * 1_000,
  };
}

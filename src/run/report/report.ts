/** The report of a run as JSON, for programs: numbers, names, the first rows without a brand. */
import { countsInWords } from '../../core/counter.js';
import { costOf } from '../../core/decimal.js';
import type { ExitCode } from '../../core/errors.js';
import { hasNoMatch } from '../../core/outcome.js';
import { type RowReason, sayRowReason } from '../../core/row-reason.js';
import { DOCUMENT_VERSION } from '../../core/terminal-text.js';
import { unreportedOf } from '../../engine/stores/run-store.js';
import { doubtOf, seesRaisedQuota } from '../../ledger/policy.js';
import type { Document } from '../documents.js';
import type { EnrichResult } from '../enrich-file.js';
import type { EnrichRequest } from '../enrich-request.js';
import { useOf } from '../facts/judge-account.js';
import { isoTime } from '../output/columns.js';
import { LOW_NAME_MATCH } from '../output/name-match.js';
import { sumOf } from '../output/write-output.js';
import { stopCodeOf } from '../run-end.js';
import type { ListedRow } from '../scan/row-spool.js';
import { inputFacts } from '../scan/scan.js';
import { sayFailure, sayHalt } from '../words/say-reason.js';
import { nextStepOf } from './next-step.js';

/** The scores of answers that are further apart than this may have changed. */
const DRIFT_MS = 7 * 86_400_000;

const REASONS_LISTED = 50;

export type RunReport = Document<'report'> & { readonly version: typeof DOCUMENT_VERSION };

/** Makes the report. `exitCode`: of the process. Pure. */
export function makeReport(request: EnrichRequest, result: EnrichResult, exitCode: ExitCode): RunReport {
  const { run, scan, facts, written, ledger, end } = result;
  const { service, plan } = request.runSettings;
  const { overagePrice, currency } = request.settings;
  const figures = {
    run: {
      id: run.id,
      key: run.key,
      service,
      status: end.type,
      isComplete: result.isComplete,
      nothingMatched: result.isComplete && hasNoMatch(written.counts),
      exitCode,
    },
    input: inputFacts(result.input, scan),
    rows: written.counts,
    identifiers: {
      distinct: scan.answers.wanted,
      duplicateRows: scan.counts.duplicates,
      byKind: Object.fromEntries(scan.byKind),
      ...facts.identifiers,
    },
  };
  return {
    version: DOCUMENT_VERSION,
    ...figures,
    stopped: result.isComplete ? null : stopCodeOf(end),
    reason: end.type === 'halted' ? sayHalt(end.halt, request.reader) : null,
    next: nextStepOf(figures, end, plan, request.reader, {
      seesQuota: seesRaisedQuota(plan, ledger),
      hasOutage: facts.hasOutage,
      unreported: unreportedOf(run),
      doubt: ledger === null ? '' : doubtOf(ledger),
    }),
    listed: { ...written.listed, invalid: scan.invalid.map(inWords) },
    reasons: countsInWords([...scan.reasons.invalid, ...scan.reasons.skipped], sayRowReason, REASONS_LISTED),
    failures: countsInWords(facts.failures, sayFailure),
    quality: { ...facts.quality, histogram: facts.histogram },
    requests: {
      sent: run.tally.requests,
      billed: run.tally.billed,
      unreported: unreportedOf(run),
      overage: run.overageBilled,
      overageCost: costOf(run.overageBilled, overagePrice),
      savedByStored: facts.identifiers.stored,
      savedByOthers: boughtMeanwhile(result),
      savedByDuplicates: scan.counts.duplicates,
    },
    cost: costOfBrands(result, overagePrice),
    currency,
    account: ledger && useOf(ledger),
    fetchedAt: {
      oldest: isoTime(facts.oldestFetchedAt),
      newest: isoTime(facts.newestFetchedAt),
      scoresMayHaveDrifted: (facts.newestFetchedAt ?? 0) - (facts.oldestFetchedAt ?? 0) > DRIFT_MS,
    },
    nameMatch:
      scan.nameColumn === null
        ? null
        : { column: scan.nameColumn, ...written.names, threshold: LOW_NAME_MATCH },
    changes: result.changed,
    fills: written.fills,
    files: { output: written.output, errors: written.errors },
    accounting: {
      recordsRead: scan.rows.count,
      rowsByStatus: sumOf(written.counts),
      recordsWritten: written.readBack,
    },
    startedAt: new Date(result.startedAt).toISOString(),
    endedAt: new Date(result.endedAt).toISOString(),
    seconds: Math.round(result.tookMs) / 1_000,
  };
}

const inWords = (row: ListedRow<RowReason>) => ({ ...row, reason: sayRowReason(row.reason) });

/** Counts requests with unknown answers, too, because they may have been billed. */
function costOfBrands({ run, facts }: EnrichResult, price: string): RunReport['cost'] {
  const sums = (requests: number, overage: number) => ({
    requests,
    overage,
    overageCost: costOf(overage, price),
  });
  const { billed, unreported, overage } = run.earlier ?? { billed: 0, unreported: 0, overage: 0 };
  const requests = run.tally.billed + unreportedOf(run);
  return {
    brands: facts.identifiers.matched,
    run: sums(requests, run.overageBilled),
    inAll: sums(requests + billed + unreported, run.overageBilled + overage),
  };
}

/** Counts answers that other runs bought during this one. */
function boughtMeanwhile({ run, facts }: EnrichResult): number {
  const { matched, notFound, stored } = facts.identifiers;
  const own = run.tally.matched + run.tally.notFound;
  return Math.max(0, matched + notFound - stored - own - unreportedOf(run));
}

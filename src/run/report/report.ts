/** The report of a run as JSON, for programs: numbers and names, and no token, no brand, no row. */

import { costOf } from '../../core/decimal.js';
import type { ExitCode } from '../../core/errors.js';
import { hasNoMatch } from '../../core/outcome.js';
import { limitOf } from '../../ledger/policy.js';
import { unreportedOf } from '../../stores/run-store.js';
import type { EnrichResult } from '../enrich-file.js';
import type { EnrichRequest } from '../enrich-request.js';
import { isoTime } from '../output/columns.js';
import { sumOf } from '../output/write-output.js';

/** Stored and fetched answers further apart than this had scores from different times. */
const DRIFT_MS = 7 * 86_400_000;

export type RunReport = ReturnType<typeof makeReport>;

/** `exitCode`: what the process will end with. Pure. */
export function makeReport(request: EnrichRequest, result: EnrichResult, exitCode: ExitCode) {
  const { run, scan, facts, written, progress, ledger, end } = result;
  const tally = progress?.tally;
  return {
    version: 1,
    run: {
      id: run.id,
      key: run.key,
      service: request.settings.service,
      status: end.type,
      isComplete: result.isComplete,
      nothingMatched: result.isComplete && hasNoMatch(written.counts),
      exitCode,
    },
    reason: end.type === 'halted' ? end.halt.sentence : null,
    input: {
      name: result.inputName,
      sha256: scan.contentHash,
      records: scan.rows.count,
      columns: scan.chosen.choices.map(({ name, kind }) => ({ name, kind })),
      warnings: result.inputWarnings,
      unreadable: scan.counts.unreadable,
      /** Of the unreadable ones: rows that do not fit the table. */
      misfits: scan.counts.misfits,
      /** Rows read despite missing last cells (`short`) or surplus cells (`long`). */
      short: scan.counts.short,
      long: scan.counts.long,
      examples: scan.examples,
    },
    rows: written.counts,
    reasons: Object.fromEntries([...scan.reasons].sort((a, b) => b[1] - a[1]).slice(0, 50)),
    identifiers: {
      distinct: scan.answers.wanted,
      duplicateRows: scan.counts.duplicates,
      byKind: Object.fromEntries(scan.byKind),
      ...facts.identifiers,
    },
    failures: Object.fromEntries([...facts.failures].sort((a, b) => b[1] - a[1])),
    quality: { ...facts.quality, histogram: facts.histogram },
    requests: {
      sent: tally?.requests ?? 0,
      billed: tally?.billed ?? 0,
      /** May also have been billed: their workers were killed. */
      unreported: unreportedOf(run),
      overage: run.overageBilled,
      overageCost: costOf(run.overageBilled, request.overagePrice),
      savedByStored: facts.identifiers.stored,
      /** Found in the store when their turn came: another run had asked meanwhile. */
      savedByOthers: boughtMeanwhile(result),
      savedByDuplicates: scan.counts.duplicates,
    },
    account: ledger && {
      period: ledger.period,
      quota: ledger.quota,
      limit: limitOf(ledger),
      sent: ledger.sent,
      inFlight: ledger.held,
      others: ledger.others,
    },
    fetchedAt: {
      oldest: isoTime(facts.oldestFetchedAt),
      newest: isoTime(facts.newestFetchedAt),
      scoresMayHaveDrifted: (facts.newestFetchedAt ?? 0) - (facts.oldestFetchedAt ?? 0) > DRIFT_MS,
    },
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

/** Answers that the service gave during this run, but not to a worker acting for it. */
function boughtMeanwhile({ run, facts, progress }: EnrichResult): number {
  const { matched, notFound, stored } = facts.identifiers;
  const own = (progress?.tally.matched ?? 0) + (progress?.tally.notFound ?? 0);
  return Math.max(0, matched + notFound - stored - own - unreportedOf(run));
}

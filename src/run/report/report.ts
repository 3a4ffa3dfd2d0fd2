/** The report of a run as JSON, for programs: numbers and names, and no token, no brand, no row. */

import { costOf } from '../../core/decimal.js';
import type { Document } from '../../core/documents.js';
import type { ExitCode } from '../../core/errors.js';
import { hasNoMatch } from '../../core/outcome.js';
import { DOCUMENT_VERSION } from '../../core/terminal-text.js';
import { useOf } from '../../ledger/policy.js';
import { unreportedOf } from '../../stores/run-store.js';
import type { EnrichResult } from '../enrich-file.js';
import type { EnrichRequest } from '../enrich-request.js';
import { isoTime } from '../output/columns.js';
import { sumOf } from '../output/write-output.js';
import { inputFacts } from '../scan/scan.js';

/** Stored and fetched answers further apart than this had scores from different times. */
const DRIFT_MS = 7 * 86_400_000;

export type RunReport = Document<'report'> & { readonly version: typeof DOCUMENT_VERSION };

/** `exitCode`: what the process will end with. Pure. */
export function makeReport(request: EnrichRequest, result: EnrichResult, exitCode: ExitCode): RunReport {
  const { run, scan, facts, written, progress, ledger, end } = result;
  const tally = progress?.tally;
  return {
    version: DOCUMENT_VERSION,
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
    input: inputFacts(result.inputName, result.inputWarnings, scan),
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
      unreported: unreportedOf(run),
      overage: run.overageBilled,
      overageCost: costOf(run.overageBilled, request.overagePrice),
      savedByStored: facts.identifiers.stored,
      /** Found in the store when their turn came: another run had asked meanwhile. */
      savedByOthers: boughtMeanwhile(result),
      savedByDuplicates: scan.counts.duplicates,
    },
    currency: request.currency ?? null,
    account: ledger && useOf(ledger),
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

/**
 * From a file to the same file enriched and ranked: every stage in its order.
 */
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { withReleasers } from '../core/lifecycle.js';
import type { Input } from '../intake/input.js';
import { qualityTier } from '../lookup/brand.js';
import { outcomeKeyPrefix } from '../stores/outcome-key.js';
import { freshnessOf, type RunProgress } from '../stores/run-store.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { EnrichProgress, EnrichRequest, EnrichResult, EnrichSurroundings } from './enrich-request.js';
import { type CollectContext, deferRest } from './lookups/collect-outcomes.js';
import { assertDiskRoom } from './lookups/headroom.js';
import { runLookups } from './lookups/run-lookups.js';
import { collectWaves, type LookupsEnd, whyDeferred } from './lookups/sweep.js';
import { assertPlaces, formatOfName, outputNames } from './output/output-names.js';
import type { OutputPlan } from './output/output-plan.js';
import { createRenderer } from './output/render.js';
import { writeOutput } from './output/write-output.js';
import { createRunSummary, type RunFacts } from './report/run-summary.js';
import { newRunId, runKey } from './run-key.js';
import { endRun, recordStored, startRun } from './run-record.js';
import { openTable } from './scan/open-table.js';
import { type Scan, scanInput, wantNextCandidates } from './scan/scan.js';
import { openSpoolFolder } from './scan/spool-file.js';

/**
 * Enriches one file. Throws what makes a run impossible (`errors.ts`); whatever stops a run that had begun is in
 * `end`, and its partial file is written.
 */
export function enrichFile(request: EnrichRequest, around: EnrichSurroundings): Promise<EnrichResult> {
  return withReleasers(async (releasers) => {
    const { engine, clock, log, stop, onProgress, onNotice } = around;
    const { waterfall } = request.scan;
    const startedAt = clock.now();
    const beganAt = clock.monotonic();
    const folder = await openSpoolFolder(request.stateFolder);

    const table = around.table ?? (await openTable(request, folder, stop));
    const { input } = table;
    releasers.push(() => input.close());
    const scanned = { ...request.scan, folder, stop, onRows: (rows: number) => onProgress(reading(rows)) };
    const scan = await scanInput(table, scanned, releasers);
    await input.assertUnchanged();

    const { plan, names } = planOutput(request, input, scan);
    const renderer = createRenderer(plan);
    for (const warning of input.warnings) onNotice(warning);
    onNotice(scan.chosen.sentence);
    if (scan.priorities) onNotice(scan.priorities.sentence);
    await assertPlaces(request.input, names);
    await assertDiskRoom(folder, names);

    const run = await startRun(
      around,
      {
        id: newRunId(startedAt),
        key: runKey(scan.contentHash, request),
        label: `${hostname()}: ${basename(input.name)}`,
        settings: request.settings,
      },
      releasers,
    );
    await engine.runs.setSize(run.id, { rows: scan.rows.count, identifiers: scan.answers.wanted });
    const summary = createRunSummary(qualityTier);
    const collect: CollectContext = {
      engine,
      identifiers: scan.identifiers,
      answers: scan.answers,
      renderer,
      keyPrefix: outcomeKeyPrefix(request.settings.service, request.settings.allowNsfw),
      freshness: freshnessOf(run),
      summary,
      reasons: new Map(),
    };

    let progress: RunProgress | null = null;
    let known = 0;
    let worker: LookupWorker | null = null;
    const show = (phase: EnrichProgress['phase'], rows = scan.rows.count) =>
      onProgress({
        runId: run.id,
        phase,
        rows,
        wanted: scan.answers.wanted,
        answered: answeredSoFar(scan, summary.facts, progress, known),
        run: progress,
        ledger: worker?.ledgerState(request.settings.account) ?? null,
        inFlight: worker?.inFlight ?? 0,
        trouble: worker?.trouble ?? null,
      });

    let end: LookupsEnd = { type: 'finished' };
    try {
      const missing = await collectWaves({ collect, scan, waterfall }, stop);
      known = scan.answers.answered;
      if (missing > 0) await recordStored(engine, run.id, known, log);
      show('asking');
      if (missing > 0) {
        const showLookups = (
          phase: EnrichProgress['phase'],
          latest: RunProgress | null,
          at: LookupWorker | null,
        ) => {
          progress = latest;
          worker = at;
          show(phase);
        };
        end = await runLookups(
          { request, around, collect, scan, run, releasers, show: showLookups },
          missing,
        );
      }
    } catch (error) {
      if (!stop.aborted) throw error;
      end = { type: 'stopped' };
    }
    await input.assertUnchanged();

    const reason = whyDeferred(end);
    // A row whose next column was not asked any more has no outcome yet.
    if (waterfall && end.type !== 'finished') wantNextCandidates(scan);
    deferRest(collect, reason);
    const isComplete = hasCompleteResults(end) && summary.facts.identifiers.deferred === 0;
    const written = await writeOutput({
      scan,
      renderer,
      plan,
      names,
      isSorted: request.output.isSorted,
      isComplete,
      reasons: collect.reasons,
      stdout: request.stdout,
      onRows: (rows) => show('writing', rows),
    });
    const { ledger, ended } = await endRun({ request, around, run, isComplete, reason, progress, worker });
    return {
      run: ended,
      end,
      isComplete,
      scan,
      facts: summary.facts,
      written,
      names,
      progress: withTally(progress, ended.tally),
      ledger,
      inputWarnings: input.warnings,
      inputName: input.name,
      startedAt,
      endedAt: clock.now(),
      tookMs: clock.monotonic() - beganAt,
    };
  });
}

/** How rows are written, and where. */
function planOutput(request: EnrichRequest, input: Input, scan: Scan) {
  const format = request.output.format ?? formatOfName(request.output.path ?? '') ?? input.shape.format;
  const plan: OutputPlan = {
    input: input.shape,
    format,
    fields: request.output.fields,
    prefix: request.scan.prefix,
    escapeFormulas: request.output.escapeFormulas,
    replacedColumns: scan.chosen.ours,
    hasUnreadable: scan.counts.unreadable > 0,
    hasSurplus: scan.counts.long > 0,
    allColumns: scan.columns,
  };
  const names = outputNames({
    input: request.input,
    isGzip: input.shape.isGzip,
    inputFormat: input.shape.format,
    output: request.output.path,
    format,
    errors: request.output.errors,
    report: request.output.report,
  });
  return { plan, names };
}

/** Too many failures, and answers of no use, are none even where no row is left to ask for. */
function hasCompleteResults(end: LookupsEnd): boolean {
  return end.type !== 'too_many_failures' && !(end.type === 'halted' && end.halt.why === 'useless');
}

/** Workers may have reported more since the last look. */
function withTally(progress: RunProgress | null, tally: RunProgress['tally']): RunProgress | null {
  return progress && { ...progress, tally };
}

function reading(rows: number): EnrichProgress {
  return {
    runId: null,
    phase: 'reading',
    rows,
    wanted: 0,
    answered: 0,
    run: null,
    ledger: null,
    inFlight: 0,
    trouble: null,
  };
}

/**
 * Answers that are collected, or were reported by workers and will be. `known`: of those in the tally the ones that were stored at the
 * start.
 */
function answeredSoFar(
  { answers }: Scan,
  { identifiers }: RunFacts,
  progress: RunProgress | null,
  known: number,
): number {
  const tally = progress?.tally;
  const reported = tally ? tally.matched + tally.notFound + tally.failed + tally.stored - known : 0;
  return Math.min(answers.wanted, Math.max(answers.answered, identifiers.stored + reported));
}

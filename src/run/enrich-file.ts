/** From a file to the same file enriched and ranked: every stage in its order. */
import { basename, dirname, resolve } from 'node:path';
import { assertContentRoom, assertDiskRoom } from '../core/disk-room.js';
import { isOfStop } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import { freshnessOf, type RunProgress } from '../engine/stores/run-store.js';
import type { Input } from '../input/input.js';
import { type EnrichProgress, type EnrichRequest, type EnrichRuntime, runKey } from './enrich-request.js';
import { OutcomeCollector } from './lookups/collect-outcomes.js';
import { noteMatches } from './lookups/match-check.js';
import { type LookupsContext, runLookups } from './lookups/run-lookups.js';
import { takeWaves } from './lookups/sweep.js';
import { tellMatches } from './newest-matches.js';
import { openChanges } from './output/changes.js';
import { columnsFor } from './output/columns.js';
import { assertPlaces, namesOfRun } from './output/output-names.js';
import type { OutputPlan } from './output/output-plan.js';
import { createRenderer } from './output/render.js';
import { longCellIn } from './output/render-typed.js';
import { writeOutput } from './output/write-output.js';
import { faultAfter, type LookupsEnd, stopOf } from './run-end.js';
import { assertNotPaused, endIfFails, endRun, newRunId, recordStored, startRun } from './run-record.js';
import { openAndScan, type Scan, wantNextCandidates } from './scan/scan.js';
import { SpoolFile } from './scan/spool-file.js';
import { sayTo } from './words/say-reason.js';

/** How often a file that is read looks whether a person ordered something for its job. */
const ORDERS_LOOK_MS = 2_000;

export type EnrichResult = Readonly<Awaited<ReturnType<typeof enrichFile>>>;

/** Enriches one file. Throws what makes a run impossible; `end` says what stopped a begun one. */
export function enrichFile(request: EnrichRequest, runtime: EnrichRuntime) {
  return withReleasers(async (releasers) => {
    const { engine, clock, log, stop, onProgress, onNotice } = runtime;
    const { settings, runSettings } = request;
    const { waterfall } = settings;
    const startedAt = clock.now();
    const beganAt = clock.monotonic();
    const initial = {
      runId: null,
      wanted: 0,
      answered: 0,
      run: null,
      ledger: null,
      inFlight: 0,
      outage: null,
    };
    let endReading = await runtime.beginReading?.();
    releasers.push(() => endReading?.());
    const onRows = (rows: number) => onProgress({ ...initial, phase: 'reading', rows });
    const opened = await untilOrdered(runtime, (end) =>
      openAndScan(request, runtime.table, { stop: end, onRows }, releasers),
    );
    const { folder, input, scan } = opened;
    await input.assertUnchanged();

    const { plan, names } = planOutput(request, input, scan);
    const renderer = createRenderer(plan);
    const warnings = input.warnings.map((each) => sayTo(request.reader, each));
    const { detected } = input;
    for (const notice of [`detected: ${detected}`, ...warnings, sayTo(request.reader, scan.chosen.sentence)])
      onNotice(notice);
    if (scan.priorities) onNotice(scan.priorities.sentence);
    if (plan.format === 'xlsx') {
      const { assertFitsSheet, LONGEST_TEXT } = await import('../input/xlsx/xlsx-file.js');
      const { fields, prefix, matchesNames } = plan;
      assertFitsSheet(names.complete, {
        rows: scan.rows.count + (renderer.header() === null ? 0 : 1),
        columns: plan.allColumns.length + columnsFor(fields, prefix, matchesNames).length,
        longCell: longCellIn(plan, scan.rows, LONGEST_TEXT),
      });
    }
    await assertPlaces(request.input, names);
    const isFile = names.complete !== '-';
    const place = isFile ? dirname(resolve(names.complete)) : folder;
    await assertDiskRoom([folder, place]);
    // Our cells come on top; gzip and binary formats make it smaller.
    const staysText = plan.format === plan.input.format && plan.input.typed === undefined && !names.gzip;
    if (isFile && staysText) assertContentRoom(input.name, place, scan.rows.bytes);

    const changes =
      names.changes === null
        ? null
        : await openChanges({
            plan,
            file: names.changes,
            earlier: names.complete,
            identifiers: scan.identifiers,
            spoolFolder: folder,
            stop,
            onNotice,
            openSpool(label) {
              const file = new SpoolFile(folder, label, input.name);
              releasers.push(() => file.close());
              return file;
            },
          });
    const key = runKey(scan.contentHash, request);
    const name = basename(input.name);
    if (runtime.job === undefined) await assertNotPaused(key, name, runtime);
    // Files of an inbox move: people find them by their job.
    const isOfInbox = runtime.job !== undefined && runtime.job.job === runtime.job.owner;
    const isKept = names.partial !== names.complete && !isOfInbox;
    const output = isKept ? { output: resolve(names.complete) } : {};
    const started = {
      id: newRunId(clock.now()),
      key,
      name,
      settings: { ...runSettings, ...output },
      ...runtime.job,
    };
    await endReading?.();
    const run = await startRun(started, runtime, releasers);
    return endIfFails(run, runtime, async () => {
      await engine.runs.setSize(run.id, { rows: scan.rows.count, identifiers: scan.answers.wanted });
      const keyOf = outcomeKeys(runSettings.service, runSettings.allowNsfw);
      const freshness = freshnessOf(run);
      const collector = new OutcomeCollector({ engine, scan, renderer, keyOf, freshness, changes });
      const { facts } = collector.summary;
      const matches = tellMatches(engine, run.id, collector.newest, clock);
      let known = 0;
      const show = (phase: EnrichProgress['phase'], rows = scan.rows.count) => {
        const { progress, worker } = active;
        matches.now();
        onProgress({
          runId: run.id,
          phase,
          rows,
          wanted: scan.answers.wanted,
          answered: answeredSoFar(scan, facts.identifiers.stored, progress, known),
          run: progress,
          ledger: worker?.ledgerState() ?? null,
          inFlight: worker?.inFlight ?? 0,
          outage: worker?.outage ?? null,
          queued: progress !== null && progress.tally.requests > 0 ? null : active.queued,
        });
      };
      const active: LookupsContext = {
        request,
        runtime,
        run,
        progress: null,
        queued: null,
        worker: null,
        collector,
        scan,
        releasers,
        show,
      };

      let end: LookupsEnd = { type: 'finished' };
      try {
        const missing = await takeWaves(collector, scan, waterfall, stop);
        known = scan.answers.answered;
        if (missing > 0) await recordStored(active, known);
        show('asking');
        if (missing > 0) end = await runLookups(active, missing);
      } catch (error) {
        if (!stop.aborted) throw error;
        // The file is written from what is known, whatever else went wrong.
        if (!isOfStop(error, stop)) log.error({ err: error }, 'the run failed while it was being stopped');
        end = { type: 'stopped', fault: faultAfter(error, stop) };
      }
      await input.assertUnchanged();

      endReading = await runtime.beginReading?.();
      // A row whose next column was not asked any more has no outcome yet.
      if (waterfall && end.type !== 'finished') wantNextCandidates(scan);
      const stopped = stopOf(end) ?? { type: 'stopped' };
      collector.deferRest(stopped);
      const isComplete = hasCompleteResults(end) && facts.identifiers.deferred === 0;
      const changed = isComplete && changes !== null ? await changes.write(scan.answers) : null;
      const written = await writeOutput({
        scan,
        renderer,
        plan,
        names,
        isSorted: settings.sort === 'quality',
        isComplete,
        reasons: collector.reasons,
        stdout: request.stdout,
        waiting: runtime,
        onRows: (rows) => show('writing', rows),
      });
      await matches.end();
      const { ledger, ended } = await endRun(active, isComplete ? null : stopped);
      await noteMatches(active, isComplete).catch((err) => log.debug({ err }, 'matches were not noted'));
      return {
        run: ended,
        end,
        isComplete,
        scan,
        facts,
        written,
        changed,
        names,
        ledger,
        // Workers may have reported more since the last look.
        progress: active.progress && { ...active.progress, tally: ended.tally },
        input: { name: input.name, detected, warnings },
        startedAt,
        endedAt: clock.now(),
        /** From start to end, however the clock was set meanwhile. */
        tookMs: clock.monotonic() - beganAt,
      };
    });
  });
}

/**
 * Calls `read` with a signal that is aborted, too, when a person orders something for the job: no
 * run of it has begun that would follow the order. The holder of the job then asks what it is.
 */
async function untilOrdered<T>(
  { engine, job, stop }: Pick<EnrichRuntime, 'engine' | 'job' | 'stop'>,
  read: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  if (job === undefined) return read(stop);
  const ordered = new AbortController();
  const look = async () => {
    // Where the engine is out of reach, the next look finds it.
    const [orders] = await engine.runs.orders([job]).catch(() => []);
    if (orders?.cancelled || orders?.paused) ordered.abort(new Error('a person ordered something'));
  };
  const timer = setInterval(() => void look(), ORDERS_LOOK_MS);
  try {
    return await read(AbortSignal.any([stop, ordered.signal]));
  } finally {
    clearInterval(timer);
  }
}

/** How rows are written, and where. */
function planOutput(
  { input: path, settings }: Pick<EnrichRequest, 'input' | 'settings'>,
  input: Input,
  scan: Scan,
) {
  const { prefix, fields, outputHeader, escapeFormulas, errorsInclude, minQuality } = settings;
  const { shape } = input;
  const { format, names } = namesOfRun(path, shape, settings);
  const plan: OutputPlan = {
    input: shape,
    format,
    prefix,
    fields,
    outputHeader,
    escapeFormulas,
    errorsInclude,
    minQuality,
    replacedColumns: scan.chosen.ours,
    hasUnreadable: scan.counts.unreadable > 0,
    hasSurplus: scan.counts.long > 0,
    matchesNames: scan.nameColumn !== null,
    allColumns: scan.columns,
  };
  return { plan, names };
}

/** Too many failures, and answers of no use, are none even where no row is left to ask for. */
function hasCompleteResults(end: LookupsEnd): boolean {
  return end.type !== 'too_many_failures' && !(end.type === 'halted' && end.halt.why === 'useless');
}

/** Answers collected or reported. `stored`: from the store; `known`: the tally's at the start. */
function answeredSoFar(
  { answers }: Scan,
  stored: number,
  progress: RunProgress | null,
  known: number,
): number {
  const tally = progress?.tally;
  const reported = tally ? tally.matched + tally.notFound + tally.failed + tally.stored - known : 0;
  return Math.min(answers.wanted, Math.max(answers.answered, stored + reported));
}

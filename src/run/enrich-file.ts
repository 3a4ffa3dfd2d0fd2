/** The stages of a run in their order: from a file to the same file, enriched and ranked. */
import { basename, dirname, resolve } from 'node:path';
import { assertDiskRoom, assertRoomForInput } from '../core/disk-room.js';
import { isOfStop } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import type { Phrase } from '../core/phrase.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import { freshnessOf, type RunRecord } from '../engine/stores/run-store.js';
import { type Emit, type EnrichRequest, type EnrichRuntime, runKey } from './enrich-request.js';
import { OutcomeCollector } from './lookups/collect-outcomes.js';
import { noteMatches } from './lookups/match-check.js';
import { createRunLookups, type LookupsContext } from './lookups/run-lookups.js';
import { keepNewestMatches } from './newest-matches.js';
import { openChanges } from './output/changes.js';
import { columnsFor } from './output/columns.js';
import { assertPlaces, makePlaces } from './output/output-names.js';
import { planOutput } from './output/plan-output.js';
import { createRenderer } from './output/render.js';
import { longCellIn } from './output/render-typed.js';
import { writeOutput } from './output/write-output.js';
import { faultAfter, type LookupsEnd, stopOf } from './run-end.js';
import { assertNotPaused, endIfFails, newRunId, startRun } from './run-record.js';
import { openAndScan, wantNextCandidates } from './scan/scan.js';
import { SpoolFile } from './scan/spool-file.js';
import { sayTo } from './words/say-reason.js';

/** How often to look for a person's orders while the file is read. */
const ORDERS_LOOK_MS = 2_000;

export type EnrichResult = Readonly<Awaited<ReturnType<typeof enrichFile>>>;

type Stage = Pick<LookupsContext, 'request' | 'runtime' | 'releasers'>;

/** Enriches one file. Throws if no run can begin; `end` says why a begun run stopped. */
export function enrichFile(request: EnrichRequest, runtime: EnrichRuntime) {
  return withReleasers(async (releasers) => {
    const { clock } = runtime;
    const [startedAt, beganAt] = [clock.now(), clock.monotonic()];
    const stage = { request, runtime, releasers };
    let endReading = await runtime.beginReading?.();
    releasers.push(() => endReading?.());
    const prepared = await prepare(stage);
    await endReading?.();
    const run = await startRun(prepared.toStart, runtime, releasers);
    return endIfFails(run, runtime, async () => {
      const lookedUp = await lookUp(prepared, run, stage);
      await prepared.input.assertUnchanged();
      endReading = await runtime.beginReading?.();
      const result = await write(prepared, lookedUp);
      /** `tookMs`: independent of clock changes, unlike the two times. */
      return { ...result, startedAt, endedAt: clock.now(), tookMs: clock.monotonic() - beganAt };
    });
  });
}

type Prepared = Readonly<Awaited<ReturnType<typeof prepare>>>;

/** Reads the file, and checks that its run may begin and its output can be written. */
async function prepare({ request, runtime, releasers }: Stage) {
  const { job, clock, stop, emit } = runtime;
  const onRows = (rows: number) => emit({ type: 'reading', rows });
  const { folder, input, scan } = await untilOrdered(runtime, (end) =>
    openAndScan(request, runtime.table, { stop: end, onRows }, releasers),
  );
  await input.assertUnchanged();

  const { plan, names } = planOutput(request.input, input.shape, scan, request.settings);
  const renderer = createRenderer(plan);
  const notices = [`detected: ${input.detected}`, ...input.warnings, scan.chosen.sentence];
  if (scan.priorities) notices.push(scan.priorities.sentence);
  for (const text of notices) emit({ type: 'notice', text });
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
  await makePlaces(names);
  const isFile = names.complete !== '-';
  const place = isFile ? dirname(resolve(names.complete)) : folder;
  await assertDiskRoom([folder, place]);
  // A text output is never smaller than its input; gzip and binary formats may be.
  const staysText = plan.format === plan.input.format && plan.input.typed === undefined && !names.gzip;
  if (isFile && staysText) assertRoomForInput(input.name, place, scan.rows.bytes);

  const changes =
    names.changes === null
      ? null
      : await openChanges({
          plan,
          file: names.changes,
          earlier: names.complete,
          identifiers: scan.identifiers,
          selected: {
            where: request.settings.where,
            choices: scan.chosen.choices,
            isCut: scan.rows.count === request.settings.limit,
          },
          spoolFolder: folder,
          stop,
          emit,
          openSpool(label) {
            const file = new SpoolFile(folder, label, input.name);
            releasers.push(() => file.close());
            return file;
          },
        });
  const { key = runKey(scan.contentHash, request) } = runtime;
  const name = basename(input.name);
  if (job === undefined) await assertNotPaused(key, name, runtime);
  // Files of an inbox move, so people find them by their job.
  const isOfInbox = job !== undefined && job.job === job.owner;
  const isKept = names.partial !== names.complete && !isOfInbox;
  const settings = { ...request.runSettings, ...(isKept && { output: resolve(names.complete) }) };
  const toStart = { id: newRunId(clock.now()), key, name, settings, ...job };
  return { input, scan, plan, names, renderer, changes, toStart };
}

type LookedUp = Readonly<Awaited<ReturnType<typeof lookUp>>>;

/** Looks up identifiers without a stored answer. After a stop, errors end the run as stopped. */
async function lookUp(
  { scan, renderer, changes }: Prepared,
  run: RunRecord,
  { request, runtime, releasers }: Stage,
) {
  const { engine, clock, log, stop } = runtime;
  const { service, allowNsfw } = request.runSettings;
  await engine.runs.setSize(run.id, { rows: scan.rows.count, identifiers: scan.answers.wanted });
  const matches = keepNewestMatches(engine, run.id, clock);
  const emit: Emit = (event) => {
    matches.note(event);
    runtime.emit(event);
  };
  const keyOf = outcomeKeys(service, allowNsfw);
  const freshness = freshnessOf(run);
  const collector = new OutcomeCollector({ engine, scan, renderer, keyOf, freshness, changes, emit });
  const active = { request, runtime: { ...runtime, emit }, releasers, run, scan, collector };
  const lookups = createRunLookups(active);
  const ended = (end: LookupsEnd) => ({ active, lookups, matches, end });
  try {
    return ended(await lookups.run());
  } catch (error) {
    if (!stop.aborted) throw error;
    // The file is still written, with the answers so far.
    if (!isOfStop(error, stop)) log.error({ err: error }, 'the run failed while it was being stopped');
    return ended({ type: 'stopped', fault: faultAfter(error, stop) });
  }
}

/** Writes every row, with its answer or why it has none, and ends the run in the engine. */
async function write(
  { input, scan, plan, names, renderer, changes }: Prepared,
  { active, lookups, matches, end }: LookedUp,
) {
  const { request, runtime, collector } = active;
  const { waterfall, sort } = request.settings;
  const inWords = (text: Phrase) => sayTo(request.reader, text);
  const { facts } = collector.summary;
  // Rows whose next column was never looked up get it as wanted, so that it is deferred.
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
    isSorted: sort === 'quality',
    isComplete,
    reasons: collector.reasons,
    stdout: request.stdout,
    waiting: runtime,
    onRows: (rows) => runtime.emit({ type: 'writing', rows }),
  });
  await matches.end();
  const { ledger, ended } = await lookups.end(isComplete ? null : stopped);
  await noteMatches(active, isComplete).catch((err) => runtime.log.debug({ err }, 'matches were not noted'));
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
    input: { name: input.name, detected: input.detected, warnings: input.warnings.map(inWords) },
  };
}

/** Calls `read` with a signal that a person's order for the job aborts, too. */
async function untilOrdered<T>(
  { engine, job, stop }: Pick<EnrichRuntime, 'engine' | 'job' | 'stop'>,
  read: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  if (job === undefined) return read(stop);
  const ordered = new AbortController();
  const look = async () => {
    // If the engine does not answer, the next look may find the order.
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

/** False after too many failures or useless answers, even with no identifier left to look up. */
function hasCompleteResults(end: LookupsEnd): boolean {
  return end.type !== 'too_many_failures' && !(end.type === 'halted' && end.halt.why === 'useless');
}

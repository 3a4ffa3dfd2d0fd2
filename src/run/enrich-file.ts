/**
 * The product on one screen: a file goes in, the same file comes back enriched and ranked. Every stage is named here
 * in its order; each knows one thing, and none knows the others.
 */
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { FailFileError } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { isProcessGone, processIdentity } from '../core/process-identity.js';
import type { Engine } from '../engine/engine.js';
import { openInput } from '../intake/open-input.js';
import type { LedgerState } from '../ledger/ledger.js';
import { qualityTier } from '../lookup/brand.js';
import { outcomeKeyPrefix } from '../stores/outcome-key.js';
import { freshnessOf, NO_TALLY, type RunProgress, type RunRecord, type Tally } from '../stores/run-store.js';
import type { LookupWorker, SentCount } from '../worker/lookup-worker.js';
import type { EnrichProgress, EnrichRequest, EnrichResult, EnrichSurroundings } from './enrich-request.js';
import { accountOfRun, settledRun } from './lookups/account-state.js';
import { type AcquireEnd, gatherWaves, whyDeferred } from './lookups/acquire.js';
import { buyMissing } from './lookups/buy-missing.js';
import { deferRest, type GatherContext } from './lookups/gather.js';
import { assertDiskRoom } from './lookups/headroom.js';
import { assertPlaces, formatOfName, outputNames } from './output/output-names.js';
import type { OutputPlan } from './output/output-plan.js';
import { createRenderer } from './output/render.js';
import { writeOutput } from './output/write-output.js';
import { createRunSummary, type RunFacts } from './report/run-summary.js';
import { newRunId, runKey } from './run-key.js';
import { openSpoolFolder } from './scan/spool-file.js';
import { type Survey, surveyInput, wantNextCandidates } from './scan/survey.js';

const BEAT_MS = 5_000;

/**
 * Enriches one file. Throws what makes a run impossible (`errors.ts`); whatever stops a run that had begun is in
 * `end`, and its partial file is written.
 */
export function enrichFile(request: EnrichRequest, around: EnrichSurroundings): Promise<EnrichResult> {
  return withReleasers(async (releasers) => {
    const { engine, clock, log, stop, onProgress, onNotice } = around;
    const { waterfall } = request.survey;
    const startedAt = clock.now();
    const beganAt = clock.monotonic();
    const folder = await openSpoolFolder(request.stateFolder);

    const opened = { ...request.intake, only: request.only, spoolFolder: folder, stop };
    const input = await openInput(request.input, request.stdin, opened);
    releasers.push(() => input.close());
    const surveyed = { ...request.survey, folder, stop, onRows: (rows: number) => onProgress(reading(rows)) };
    const survey = await surveyInput(input, surveyed, releasers);
    await input.assertUnchanged();

    const format = request.output.format ?? formatOfName(request.output.path ?? '') ?? input.shape.format;
    const plan: OutputPlan = {
      input: input.shape,
      format,
      fields: request.output.fields,
      prefix: request.survey.prefix,
      escapeFormulas: request.output.escapeFormulas,
      replacedColumns: survey.chosen.ours,
      hasUnreadable: survey.counts.unreadable > 0,
      hasSurplus: survey.counts.long > 0,
      allColumns: survey.columns,
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
    const renderer = createRenderer(plan);
    for (const warning of input.warnings) onNotice(warning);
    onNotice(survey.chosen.sentence);
    if (survey.priorities) onNotice(survey.priorities.sentence);
    await assertPlaces(request.input, names);
    await assertDiskRoom(folder, names);

    await endGoneRuns(engine);
    const run = await engine.runs.start({
      id: newRunId(startedAt),
      key: runKey(survey.contentHash, request),
      label: `${hostname()}: ${basename(input.name)}`,
      settings: { ...request.settings, process: processIdentity() },
    });
    releasers.push(beatRegularly(engine, run.id, log));
    await engine.runs.setSize(run.id, { rows: survey.rows.count, identifiers: survey.answers.wanted });
    const summary = createRunSummary(qualityTier);
    const gather: GatherContext = {
      engine,
      identifiers: survey.identifiers,
      answers: survey.answers,
      renderer,
      keyPrefix: outcomeKeyPrefix(request.settings.service, request.settings.allowNsfw),
      freshness: freshnessOf(run),
      summary,
      reasons: new Map(),
    };

    let progress: RunProgress | null = null;
    let known = 0;
    let worker: LookupWorker | null = null;
    const tell = (phase: EnrichProgress['phase'], rows = survey.rows.count) =>
      onProgress({
        runId: run.id,
        phase,
        rows,
        wanted: survey.answers.wanted,
        answered: answeredSoFar(survey, summary.facts, progress, known),
        run: progress,
        ledger: worker?.ledgerState(request.settings.account) ?? null,
        inFlight: worker?.inFlight ?? 0,
        trouble: worker?.trouble ?? null,
      });

    let end: AcquireEnd = { type: 'finished' };
    try {
      const missing = await gatherWaves({ gather, survey, waterfall }, stop);
      known = survey.answers.answered;
      if (missing > 0) await tellKnown(engine, run.id, known, log);
      tell('asking');
      if (missing > 0) {
        const tellAsking = (
          phase: EnrichProgress['phase'],
          latest: RunProgress | null,
          at: LookupWorker | null,
        ) => {
          progress = latest;
          worker = at;
          tell(phase);
        };
        end = await buyMissing(
          { request, around, gather, survey, run, releasers, tell: tellAsking },
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
    if (waterfall && end.type !== 'finished') wantNextCandidates(survey);
    deferRest(gather, reason);
    const isComplete = hasCompleteResults(end) && summary.facts.identifiers.deferred === 0;
    const written = await writeOutput({
      survey,
      renderer,
      plan,
      names,
      isSorted: request.output.isSorted,
      isComplete,
      reasons: gather.reasons,
      folder,
      stdout: request.stdout,
      onRows: (rows) => tell('writing', rows),
    });
    const { ledger, ended } = await tellEnd({ request, around, run, isComplete, reason, progress, worker });
    return {
      run: ended,
      end,
      isComplete,
      survey,
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

/** Runs looked at for such whose process was killed: it may have been the last thing that happened, or long ago. */
const RUNS_LOOKED_AT = 100;

/**
 * Ends the runs of processes that were killed on this machine. Until their heartbeats are old nobody else can tell, and their chunks
 * would be worked on, and paid for, in their names.
 */
async function endGoneRuns({ runs }: Pick<Engine, 'runs'>): Promise<void> {
  for (const { id, status, settings } of await runs.list(RUNS_LOOKED_AT)) {
    if (status === 'running' && settings.process !== undefined && isProcessGone(settings.process))
      await runs.end(id, 'stopped', 'its process was killed');
  }
}

/** Too many failures, and answers of no use, are none even where no row is left to ask for. */
function hasCompleteResults(end: AcquireEnd): boolean {
  return end.type !== 'too_many_failures' && !(end.type === 'halted' && end.halt.why === 'useless');
}

/**
 * Ends the run in the engine, and reads from there how account and run stand. The file is written by then: an engine that is
 * away for longer than it was waited for keeps nobody from it, and the next run of the same command sees to the rest.
 */
async function tellEnd({ request, around, run, isComplete, reason, progress, worker }: EndedRun): Promise<{
  readonly ledger: LedgerState | null;
  readonly ended: RunRecord;
}> {
  const { engine, clock, onNotice } = around;
  try {
    const ledger = progress === null ? null : await accountOfRun(engine, run.id, request.settings);
    await engine.runs.end(run.id, isComplete ? 'completed' : 'stopped', isComplete ? null : reason);
    return { ledger, ended: await settledRun(engine, run, clock) };
  } catch (error) {
    if (!(error instanceof FailFileError) || error.code !== 'engine-unreachable') throw error;
    onNotice(`the engine was not told that this run has ended: ${error.message}`);
    // What is under way has been waited for: called again it is the same stop.
    if (around.shared === undefined) await worker?.stop(0);
    const left = worker?.leftOnDisk ?? 0;
    if (left > 0) {
      onNotice(
        `the engine did not take ${left} paid ${left === 1 ? 'answer' : 'answers'}: they wait on disk, and the next run on it has them`,
        true,
      );
    }
    const known = progress?.tally ?? run.tally;
    return { ledger: null, ended: { ...run, tally: atLeast(known, worker?.sentFor(run.id)) } };
  }
}

interface EndedRun {
  readonly request: EnrichRequest;
  readonly around: EnrichSurroundings;
  readonly run: RunRecord;
  readonly isComplete: boolean;
  readonly reason: string;
  readonly progress: RunProgress | null;
  readonly worker: LookupWorker | null;
}

/** The last that the engine told of a run, and what this process knows to have been sent since. */
function atLeast(tally: Tally, sent: SentCount | undefined): Tally {
  return {
    ...tally,
    requests: Math.max(tally.requests, sent?.requests ?? 0),
    billed: Math.max(tally.billed, sent?.billed ?? 0),
  };
}

/** Workers may have told more since the last look. */
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

/** For those who look at the run from outside: what is not asked for because it was stored. */
async function tellKnown(engine: Engine, runId: string, known: number, log: Log): Promise<void> {
  if (known === 0) return;
  await engine.runs
    .addTally(runId, 'known', { ...NO_TALLY, stored: known })
    .catch((error) => log.warn({ err: error }, 'how much was stored could not be told'));
}

/**
 * Answers that are gathered, or were reported by workers and will be. `known`: of those in the tally the ones that were stored at the
 * start.
 */
function answeredSoFar(
  { answers }: Survey,
  { identifiers }: RunFacts,
  progress: RunProgress | null,
  known: number,
): number {
  const tally = progress?.tally;
  const reported = tally ? tally.matched + tally.notFound + tally.failed + tally.stored - known : 0;
  return Math.min(answers.wanted, Math.max(answers.answered, identifiers.stored + reported));
}

/** Alive even while a stage takes long: a run without a heartbeat is dead for its workers. */
function beatRegularly(engine: Engine, runId: string, log: Log): () => void {
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    engine.runs
      .beat(runId)
      .catch((error) => log.warn({ err: error }, 'the heartbeat of the run did not arrive'))
      .finally(() => {
        isUnderWay = false;
      });
  }, BEAT_MS);
  return () => clearInterval(timer);
}

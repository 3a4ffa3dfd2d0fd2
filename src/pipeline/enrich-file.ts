/**
 * The product on one screen: a file goes in, the same file comes back enriched and ranked. Every stage is named here
 * in its order; each knows one thing, and none knows the others.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../clock.js';
import { type OutputNames, outputNames } from '../collate/output-names.js';
import { createRenderer, type OutputPlan } from '../collate/render.js';
import { qualityTier } from '../contract/brand.js';
import type { Engine } from '../engine/engine.js';
import { InterruptedError } from '../errors.js';
import { openInput } from '../intake/open-input.js';
import { type Releasers, withReleasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import { outcomeKeyPrefix } from '../outcomes/key.js';
import type { LedgerState } from '../quota/ledger.js';
import type { LookupWorker } from '../resolve/lookup-worker.js';
import {
  freshnessOf,
  type RunHalt,
  type RunProgress,
  type RunRecord,
  type RunSettings,
} from '../runs/run-store.js';
import type { TableFormat } from '../table.js';
import { type AcquireEnd, acquire } from './acquire.js';
import { deferRest, type GatherContext, gatherStored } from './gather.js';
import { assertDiskRoom, assertEngineRoom } from './headroom.js';
import { createNudge, removeDeadChunks } from './purchase.js';
import { createRunSummary, type RunFacts } from './run-summary.js';
import { estimateSpending, type SpendingEstimate } from './spending.js';
import { runKeyOf, type Survey, type SurveyOptions, surveyInput } from './survey.js';
import { type Written, writeOutput } from './write-output.js';

/** What one run is asked to do. Settings as the table of settings has them. */
export interface EnrichRequest {
  readonly input: string;
  readonly stdin: NodeJS.ReadableStream | null;
  readonly stdout: NodeJS.WritableStream | null;
  readonly intake: {
    readonly delimiter?: string;
    readonly encoding?: string;
    readonly hasHeader: boolean;
    readonly skipLines: number;
    readonly limit: number | null;
  };
  readonly survey: Pick<SurveyOptions, 'requested' | 'kind' | 'waterfall' | 'prefix'>;
  readonly output: {
    readonly path: string | null;
    readonly format: TableFormat | null;
    readonly fields: readonly string[] | null;
    readonly isSorted: boolean;
    readonly escapeFormulas: OutputPlan['escapeFormulas'];
    readonly errors: string | null;
    readonly report: string | null;
  };
  readonly settings: RunSettings;
  readonly overagePrice: string;
  /** Pace to begin with; see `openingPace`. */
  readonly pace: { readonly rate: number | null | undefined; readonly burst: number };
  readonly onLimit: 'stop' | 'wait';
  readonly ownDomain: string | null;
  /** Failed lookups that are too many, as a number or a share of the identifiers; null: no limit. */
  readonly maxErrors: { readonly count: number } | { readonly percent: number } | null;
  /** Where spools live while the run does. */
  readonly stateFolder: string;
}

export interface EnrichSurroundings {
  readonly engine: Engine;
  readonly queueName: string;
  /** null: workers elsewhere do the lookups. */
  readonly openWorker: ((onChunk: () => void) => LookupWorker) | null;
  readonly clock: Clock;
  readonly log: Log;
  /** No new requests; what is in flight is waited for, and what is there is written. */
  readonly stop: AbortSignal;
  readonly onProgress: (progress: EnrichProgress) => void;
  /** Sentences for people, as they become true. */
  readonly onNotice: (notice: string) => void;
  /** How long requests in flight are waited for once `stop` is aborted. */
  readonly graceMs: () => number;
  /** Asked before money is spent; false ends the run before it. */
  readonly confirm: (estimate: SpendingEstimate) => Promise<boolean>;
}

export interface EnrichProgress {
  readonly phase: 'reading' | 'asking' | 'parked' | 'writing';
  readonly rows: number;
  /** Distinct identifiers wanted, and those that have an answer or failed. */
  readonly wanted: number;
  readonly answered: number;
  readonly run: RunProgress | null;
  readonly ledger: LedgerState | null;
  readonly inFlight: number;
}

export interface EnrichResult {
  readonly run: RunRecord;
  readonly end: AcquireEnd;
  readonly isComplete: boolean;
  readonly survey: Survey;
  readonly facts: RunFacts;
  readonly written: Written;
  readonly names: OutputNames;
  readonly progress: RunProgress | null;
  readonly ledger: LedgerState | null;
  readonly inputWarnings: readonly string[];
  readonly inputName: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

const BEAT_MS = 5_000;

/**
 * Enriches one file. Throws what makes a run impossible (`errors.ts`); whatever stops a run that had begun is in
 * `end`, and its partial file is written.
 */
export function enrichFile(request: EnrichRequest, around: EnrichSurroundings): Promise<EnrichResult> {
  return withReleasers(async (releasers) => {
    const { engine, clock, log, stop, onProgress, onNotice } = around;
    const startedAt = clock.now();
    const folder = await openFolder(request.stateFolder, releasers);

    const input = await openInput(request.input, request.stdin, { ...request.intake, spoolFolder: folder });
    releasers.push(() => input.close());
    const surveyed = { ...request.survey, folder, stop, onRows: (rows: number) => onProgress(reading(rows)) };
    const survey = await surveyInput(input, surveyed, releasers).catch((error) => {
      throw stop.aborted ? interruptedEarly(input.name) : error;
    });
    await input.assertUnchanged();

    const format = request.output.format ?? formatFor(request, input.shape.format);
    const plan: OutputPlan = {
      input: input.shape,
      format,
      fields: request.output.fields,
      prefix: request.survey.prefix,
      escapeFormulas: request.output.escapeFormulas,
      replacedColumns: survey.chosen.ours,
      hasUnreadable: survey.counts.unreadable > 0,
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
    await assertDiskRoom(folder, names);

    const run = await engine.runs.start({
      id: newRunId(startedAt),
      key: runKeyOf(survey.contentHash, keySettings(request)),
      label: `${hostname()}: ${basename(input.name)}`,
      settings: request.settings,
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
    let worker: LookupWorker | null = null;
    const tell = (phase: EnrichProgress['phase'], rows = survey.rows.count) =>
      onProgress({
        phase,
        rows,
        wanted: survey.answers.wanted,
        answered: answeredSoFar(survey, progress),
        run: progress,
        ledger: worker?.ledgerState(request.settings.account) ?? null,
        inFlight: worker?.inFlight ?? 0,
      });

    let end: AcquireEnd = { type: 'finished' };
    try {
      const missing = await gatherStored(gather, 'stored', stop);
      tell('asking');
      if (missing > 0) {
        end = await acquireMissing(missing);
      }
    } catch (error) {
      if (!stop.aborted) throw error;
      end = { type: 'stopped' };
    }
    await input.assertUnchanged();

    const reason = whyDeferred(end);
    deferRest(gather, reason);
    const isComplete = survey.answers.wanted === 0 || summary.facts.identifiers.deferred === 0;
    const written = await writeOutput({
      survey,
      renderer,
      plan,
      names,
      isSorted: request.output.isSorted,
      isComplete: isComplete && end.type !== 'too_many_failures',
      reasons: gather.reasons,
      folder,
      stdout: request.stdout,
      onRows: (rows) => tell('writing', rows),
    });
    await engine.runs.end(run.id, isComplete ? 'completed' : 'stopped', isComplete ? null : reason);
    const ledger =
      worker === null && progress === null ? null : await engine.ledger.show(request.settings.account);
    return {
      run: (await engine.runs.get(run.id)) ?? run,
      end,
      isComplete,
      survey,
      facts: summary.facts,
      written,
      names,
      progress,
      ledger,
      inputWarnings: input.warnings,
      inputName: input.name,
      startedAt,
      endedAt: clock.now(),
    };

    async function acquireMissing(missing: number): Promise<AcquireEnd> {
      await assertEngineRoom(engine);
      const estimate = estimateSpending(missing, await engine.ledger.show(request.settings.account), request);
      if (!(await around.confirm(estimate))) return { type: 'stopped' };
      const queue = engine.openQueue(around.queueName);
      releasers.push(() => queue.close());
      const removed = await removeDeadChunks(engine, queue, run.asOf);
      if (removed > 0)
        onNotice(`${removed} chunks of runs that nobody waits for were removed from the queue`);
      await engine.ledger.open(request.settings.account, request.pace);
      const nudge = createNudge();
      if (around.openWorker) {
        const opened = around.openWorker(() => nudge.wake());
        worker = opened;
        releasers.push(() => opened.stop(around.graceMs()));
        await opened.start();
        const refused = await readOwnBrand(opened);
        if (refused) return { type: 'halted', halt: refused };
      }
      return acquire({
        gather,
        survey,
        run,
        queue,
        worker,
        waterfall: request.survey.waterfall,
        onLimit: request.onLimit,
        ownDomain: request.ownDomain,
        maxFailures: maxFailuresOf(request, survey.answers.wanted),
        graceMs: () => (stop.aborted ? around.graceMs() : request.settings.timeoutMs),
        stop,
        nudge,
        clock,
        log,
        onProgress: (latest) => {
          progress = latest;
          tell('asking');
        },
        onParked: (halt) => {
          onNotice(halt ? `parked: ${halt.sentence}; goes on by itself` : 'spending is possible again');
          tell(halt ? 'parked' : 'asking');
        },
        onSilence: () => onNotice(silenceNotice(worker !== null)),
      });
    }

    async function readOwnBrand(opened: LookupWorker): Promise<RunHalt | null> {
      if (request.ownDomain === null) return null;
      const meaning = (await opened.readUsage(request.ownDomain, run))?.meaning;
      if (meaning?.type !== 'credentials') return null;
      return { why: 'credentials', sentence: `${meaning.reason} (status ${meaning.status})` };
    }
  });
}

function reading(rows: number): EnrichProgress {
  return { phase: 'reading', rows, wanted: 0, answered: 0, run: null, ledger: null, inFlight: 0 };
}

/** Answers that are gathered, or were reported by workers and will be. */
function answeredSoFar(survey: Survey, progress: RunProgress | null): number {
  const tally = progress?.tally;
  const reported = tally ? tally.matched + tally.notFound + tally.failed + tally.stored : 0;
  return Math.min(
    survey.answers.wanted,
    Math.max(survey.answers.answered, survey.answers.answered + reported),
  );
}

function whyDeferred(end: AcquireEnd): string {
  switch (end.type) {
    case 'finished':
      return '';
    case 'halted':
      return `not asked: ${end.halt.sentence}`;
    case 'stopped':
      return 'not asked: the run was stopped';
    case 'cancelled':
      return 'not asked: the run was cancelled';
    case 'too_many_failures':
      return 'not asked: more lookups failed than --max-errors allows';
  }
}

function interruptedEarly(name: string): InterruptedError {
  return new InterruptedError({
    code: 'interrupted',
    subject: name,
    todo: 'nothing was spent or written; run again',
  });
}

function silenceNotice(hasWorker: boolean): string {
  return hasWorker
    ? 'no chunk was finished for 15 seconds; the service may be slow or pausing us'
    : 'no worker has finished a chunk for 15 seconds; start one with `brand-enrich worker` on the same engine and account';
}

/** The format that the output's name asks for, else the input's. */
function formatFor(request: EnrichRequest, format: TableFormat): TableFormat {
  const name = request.output.path?.toLowerCase().replace(/\.gz$/, '') ?? '';
  if (/\.(jsonl|ndjson)$/.test(name)) return 'jsonl';
  return /\.(csv|tsv)$/.test(name) ? 'csv' : format;
}

/** What chooses identifiers, or the meaning of their answers: part of the run's key. */
function keySettings(request: EnrichRequest): Record<string, unknown> {
  const { requested, kind, waterfall } = request.survey;
  const { service, allowNsfw } = request.settings;
  return { ...request.intake, requested, kind, waterfall, service, allowNsfw };
}

function maxFailuresOf(request: EnrichRequest, identifiers: number): number | null {
  const { maxErrors } = request;
  if (maxErrors === null) return null;
  return 'count' in maxErrors ? maxErrors.count : Math.floor((identifiers * maxErrors.percent) / 100);
}

function newRunId(now: number): string {
  return `r-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(4).toString('hex')}`;
}

async function openFolder(stateFolder: string, releasers: Releasers): Promise<string> {
  const folder = join(stateFolder, 'runs', `${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  releasers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Alive even while a stage takes long: a run without a heartbeat is dead for its workers. */
function beatRegularly(engine: Engine, runId: string, log: Log): () => void {
  const timer = setInterval(() => {
    engine.runs
      .beat(runId)
      .catch((error) => log.warn({ err: error }, 'the heartbeat of the run did not arrive'));
  }, BEAT_MS);
  return () => clearInterval(timer);
}

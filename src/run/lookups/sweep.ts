/**
 * From "these identifiers have no answer" to "each has one, failed, or was deferred": sweeps over what is missing,
 * wave after wave, until nothing is left or something stops the run. Parks and resumes with `--on-limit wait`.
 */

import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { ChunkQueue } from '../../engine/engine.js';
import { limitOf, overageLeftFor, spentOf } from '../../ledger/policy.js';
import type { RunHalt, RunProgress, RunRecord } from '../../stores/run-store.js';
import { doubtful, isUnprovenReason, unproven } from '../../worker/halt-reasons.js';
import type { LookupWorker } from '../../worker/lookup-worker.js';
import { CHUNK_SIZE } from '../../worker/lookup-worker.js';
import { type Scan, wantNextCandidates } from '../scan/scan.js';
import { accountOfRun } from './account-state.js';
import type { LiveCollector } from './collect-outcomes.js';
import { type CollectContext, collectFailed, collectStored, unanswered } from './collect-outcomes.js';
import {
  awaitStragglers,
  type DispatchContext,
  type DispatchEnd,
  dispatchChunks,
  type Wake,
  withdraw,
} from './dispatch-chunks.js';
import { chunksAhead, unansweredByWorth } from './priority-order.js';

export interface SweepContext {
  readonly collect: CollectContext;
  readonly scan: Scan;
  readonly run: RunRecord;
  readonly line: ChunkQueue;
  /** null: workers elsewhere do the lookups. */
  readonly worker: LookupWorker | null;
  /** It serves other runs too, and is not to be stopped with this one. */
  readonly isWorkerShared: boolean;
  readonly waterfall: boolean;
  readonly onLimit: 'stop' | 'wait';
  readonly ownDomain: string | null;
  readonly maxFailures: number | null;
  /** How long requests under way are waited for when the run is stopped. */
  readonly graceMs: () => number;
  readonly stop: AbortSignal;
  readonly wake: Wake;
  /** Told of each chunk before it is queued. */
  readonly expect: LiveCollector['expect'];
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress: (progress: RunProgress) => void;
  readonly onParked: (halt: RunHalt | null) => void;
  readonly onSilence: () => void;
}

/** How it ended; `finished`: every wanted identifier has an answer or has failed. Halted as `useless`, its answers are none. */
export type LookupsEnd =
  | { readonly type: 'finished' | 'stopped' | 'cancelled' | 'too_many_failures' }
  | { readonly type: 'halted'; readonly halt: RunHalt };

/** Sweeps that bring nothing before the rest is deferred: the queue has lost what it was given, or nobody works. */
const EMPTY_SWEEPS = 3;
const FREE_LOOK_MS = 30_000;
const PAID_LOOK_MS = 60_000;

export async function sweep(context: SweepContext): Promise<LookupsEnd> {
  const { collect, run, worker } = context;
  let chunks = 0;
  let emptySweeps = 0;
  let hasLookedAgain = false;
  for (;;) {
    const before = collect.answers.answered;
    const dispatch = dispatchContext(context, chunks);
    const end = await dispatchChunks(dispatch);
    chunks = end.chunks;
    if (end.type === 'halted' && isWaitedOut(end.halt) && context.onLimit === 'wait') {
      await awaitStragglers(dispatch, chunks, context.graceMs());
      await collectStored(collect, 'api');
      await collectFailed(collect, run.id);
      if (!(await park(context, end.halt))) return { type: 'stopped' };
      continue;
    }
    if (end.type === 'halted' && end.halt.why === 'limit' && !hasLookedAgain) {
      // The last word on a limit is the service's, where it costs nothing to ask: one answer may have been old, or odd.
      hasLookedAgain = true;
      if (await hasRoomByFreeLook(context)) {
        await awaitStragglers(dispatch, chunks, context.graceMs());
        await collect.engine.runs.clearHalt(run.id);
        worker?.resumeRun(run.id);
        continue;
      }
    }
    if (end.type !== 'finished' && end.type !== 'lost') return await windUp(context, dispatch, end);
    await collectStored(collect, 'api');
    const missing = await collectFailed(collect, run.id);
    if (missing > 0) {
      emptySweeps = collect.answers.answered > before ? 0 : emptySweeps + 1;
      if (emptySweeps < EMPTY_SWEEPS) continue;
      return { type: 'halted', halt: { why: 'lost', sentence: 'the queue lost what it was given' } };
    }
    if (!context.waterfall || wantNextCandidates(context.scan) === 0) return finished(context);
    if ((await collectWaves(context, context.stop)) === 0) return finished(context);
    worker?.resumeRun(run.id);
  }
}

/**
 * Takes what the store has, and with `--waterfall` goes on to the next candidates of rows for which nothing was found,
 * until the store has no more. How many wanted identifiers are without an answer.
 */
export async function collectWaves(
  { collect, scan, waterfall }: Pick<SweepContext, 'collect' | 'scan' | 'waterfall'>,
  stop: AbortSignal,
): Promise<number> {
  for (;;) {
    const missing = await collectStored(collect, 'stored', stop);
    if (!waterfall || wantNextCandidates(scan) === 0) return missing;
  }
}

/** All was asked for; but what nobody can believe is no answer, however little it is, nor is what was lost twice. */
function finished({ collect, run }: SweepContext): LookupsEnd {
  const { failures, identifiers } = collect.summary.facts;
  const hasGood = identifiers.matched + identifiers.notFound > 0;
  if ([...failures.keys()].some((reason) => isUnprovenReason(reason, hasGood)))
    return { type: 'halted', halt: unproven(run.settings.service) };
  return identifiers.deferred > 0
    ? { type: 'halted', halt: doubtful(identifiers.deferred) }
    : { type: 'finished' };
}

/** Why what has no answer was not asked, as its rows say it; empty when nothing stopped the run. */
export function whyDeferred(end: LookupsEnd): string {
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

function dispatchContext(context: SweepContext, firstChunk: number): DispatchContext {
  const { collect, scan, run, line, stop, maxFailures, wake, clock, onProgress, onSilence, log } = context;
  return {
    engine: collect.engine,
    line,
    runId: run.id,
    chunks: chunksOf(context),
    chunksAhead:
      scan.priorities === null
        ? null
        : async () => chunksAhead(await accountOfRun(collect.engine, run.id, run.settings)),
    firstChunk,
    stop,
    maxFailures,
    wake,
    clock,
    onProgress,
    onSilence,
    log,
  };
}

function* chunksOf({ collect, scan, expect }: SweepContext): Generator<string[]> {
  const batches =
    scan.priorities === null ? unanswered(collect, CHUNK_SIZE) : unansweredByWorth(scan, CHUNK_SIZE);
  for (const batch of batches) {
    expect(batch);
    yield batch.map(({ text }) => text);
  }
}

/** Lets requests under way end, here and elsewhere, and takes their answers. */
async function windUp(
  context: SweepContext,
  dispatch: DispatchContext,
  end: DispatchEnd,
): Promise<LookupsEnd> {
  const { collect, run, clock } = context;
  const worker = context.isWorkerShared ? null : context.worker;
  const graceMs = context.graceMs();
  const endsAt = clock.monotonic() + graceMs;
  const stopping = worker?.stop(graceMs);
  // Ended in the store, the ledger grants nothing more for this run, wherever its chunks are.
  await collect.engine.runs.end(run.id, 'stopped', end.type === 'halted' ? end.halt.sentence : end.type);
  await stopping;
  await awaitStragglers(
    dispatch,
    end.chunks,
    worker ? Math.min(1_000, endsAt - clock.monotonic()) : endsAt - clock.monotonic(),
  );
  // What the stop had parked is nobody's any more.
  await withdraw(dispatch);
  await collectStored(collect, 'api');
  await collectFailed(collect, run.id);
  if (end.type === 'halted') return { type: 'halted', halt: end.halt };
  return { type: end.type === 'lost' || end.type === 'finished' ? 'stopped' : end.type };
}

/** Waits, without a job or a socket, until spending may be possible again. False: stopped. */
async function park(context: SweepContext, halt: RunHalt): Promise<boolean> {
  const { collect, run, worker, ownDomain, clock, stop } = context;
  context.onParked(halt);
  for (;;) {
    try {
      await clock.sleep(ownDomain !== null && worker ? FREE_LOOK_MS : PAID_LOOK_MS, stop);
    } catch {
      return false;
    }
    if (ownDomain !== null && worker && !(await hasRoomByFreeLook(context))) continue;
    await collect.engine.runs.clearHalt(run.id);
    worker?.resumeRun(run.id);
    context.onParked(null);
    return true;
  }
}

/** Asks for the service's own brand, which is free, and whether the ledger knows of room afterwards; false where that cannot be asked. */
async function hasRoomByFreeLook({ collect, run, worker, ownDomain }: SweepContext): Promise<boolean> {
  if (ownDomain === null || worker === null) return false;
  await worker.readUsage(ownDomain, run);
  const state = await collect.engine.ledger.show(run.settings.account, run.id);
  const { run: spending } = state;
  if (spending?.maxRequests != null && spending.requests >= spending.maxRequests) return false;
  if (overageLeftFor(spending) === 0) return false;
  const limit = limitOf(state);
  return state.closedAt === null && (limit === null || spentOf(state) < limit);
}

/** Wrong credentials and a wrong address do not pass by themselves. */
function isWaitedOut({ why }: RunHalt): boolean {
  return why === 'limit' || why === 'throttled';
}

/** Sweeps over missing identifiers until each is answered, failed or deferred. Parks, resumes. */
import { InterruptedError } from '../../core/errors.js';
import { CHUNK_SIZE } from '../../engine/chunk-queue.js';
import { overageLeftFor, roomOf } from '../../ledger/policy.js';
import type { RunHalt } from '../../stores/run-store.js';
import { doubtful, isUnprovenReason, unproven } from '../../worker/halt-reasons.js';
import type { BegunRun } from '../enrich-request.js';
import type { LookupsEnd } from '../run-end.js';
import { type Scan, wantNextCandidates } from '../scan/scan.js';
import { type OutcomeCollector, unansweredIn } from './collect-outcomes.js';
import type { ChunkDispatcher } from './dispatch-chunks.js';
import { accountOfRun, chunksAhead } from './spending.js';

export interface SweepContext extends BegunRun {
  readonly dispatcher: ChunkDispatcher;
  /** Called with why when spending has to wait, and with null when it goes on. */
  readonly onParked: (halt: RunHalt | null) => void;
  /** Looked up first; null: no trial. */
  readonly trial: {
    readonly indexes: readonly number[];
    /** Called when they are answered; false: the rest is not looked up. */
    readonly continues: () => Promise<boolean>;
  } | null;
}

/** Empty sweeps before the rest is deferred: the queue lost its chunks, or there is no worker. */
const EMPTY_SWEEPS = 3;
const FREE_LOOK_MS = 30_000;
const PAID_LOOK_MS = 60_000;
const CANCEL_LOOK_MS = 1_000;

export async function sweep(context: SweepContext): Promise<LookupsEnd> {
  const { request, around, collector, scan, run, dispatcher, worker } = context;
  const { waterfall } = request.scan;
  const ahead = async () => chunksAhead(await accountOfRun(around.engine, run.id, run.settings));
  let { trial } = context;
  let emptySweeps = 0;
  let hasLookedAgain = false;
  for (;;) {
    const before = scan.answers.answered;
    const only = trial?.indexes;
    const isOrdered = scan.priorities !== null && trial === null;
    const end = await dispatcher.dispatch(chunksOf(context, only), isOrdered ? ahead : null);
    if (end.type === 'halted' && isWaitedOut(end.halt) && request.onLimit === 'wait') {
      await dispatcher.awaitStragglers(graceOf(context));
      await takeAll(context);
      const parkedEnd = await park(context, end.halt);
      if (parkedEnd !== null) return parkedEnd;
      continue;
    }
    if (end.type === 'halted' && end.halt.why === 'limit' && !hasLookedAgain) {
      // The last word on a limit is the service's, where it costs nothing to ask: one answer may
      // have been old, or odd.
      hasLookedAgain = true;
      if (await hasRoomByFreeLook(context)) {
        await dispatcher.awaitStragglers(graceOf(context));
        await resume(context);
        continue;
      }
    }
    if (end.type !== 'finished' && end.type !== 'lost') return windUp(context, end);
    if ((await takeAll(context, only)) > 0) {
      emptySweeps = scan.answers.answered > before ? 0 : emptySweeps + 1;
      if (emptySweeps < EMPTY_SWEEPS) continue;
      return { type: 'halted', halt: { why: 'lost', sentence: 'the queue lost its chunks' } };
    }
    if (trial !== null) {
      const continues = await trial.continues().catch((error: unknown) => {
        if (error instanceof InterruptedError || around.stop.aborted) return null;
        throw error;
      });
      if (continues !== true) return windUp(context, { type: continues === null ? 'stopped' : 'declined' });
      trial = null;
      continue;
    }
    if (!waterfall || wantNextCandidates(scan) === 0) return finished(context);
    if ((await takeWaves(collector, scan, waterfall, around.stop)) === 0) return finished(context);
    worker?.resumeRun(run.id);
  }
}

/** Takes stored answers, with `--waterfall` next candidates' too. Returns how many are missing. */
export async function takeWaves(
  collector: OutcomeCollector,
  scan: Scan,
  waterfall: boolean,
  stop: AbortSignal,
): Promise<number> {
  for (;;) {
    const missing = await collector.takeStored('stored', stop);
    if (!waterfall || wantNextCandidates(scan) === 0) return missing;
  }
}

/** Takes answers and failures of chunks. Returns how many identifiers are still without. */
async function takeAll({ collector, run }: SweepContext, only?: readonly number[]): Promise<number> {
  await collector.takeStored('api', undefined, only);
  return collector.takeFailed(run.id, only);
}

/** All lookups are done, but one answer that is not credible, or lost twice, halts the run. */
function finished({ collector, run }: SweepContext): LookupsEnd {
  const { failures, identifiers } = collector.summary.facts;
  const hasGood = identifiers.matched + identifiers.notFound > 0;
  if ([...failures.keys()].some((reason) => isUnprovenReason(reason, hasGood)))
    return { type: 'halted', halt: unproven(run.settings.service) };
  return identifiers.deferred > 0
    ? { type: 'halted', halt: doubtful(identifiers.deferred) }
    : { type: 'finished' };
}

function* chunksOf({ collector, scan }: SweepContext, only?: readonly number[]): Generator<string[]> {
  for (const batch of unansweredIn(scan, CHUNK_SIZE, only ?? 'worth')) {
    collector.expect(batch);
    yield batch.map(({ text }) => text);
  }
}

/** How long to wait for requests under way. */
function graceOf({ request, around }: SweepContext): number {
  return around.stop.aborted ? around.graceMs() : request.settings.timeoutMs;
}

/** Lets requests under way end, here and elsewhere, and takes their answers. */
async function windUp(context: SweepContext, end: LookupsEnd): Promise<LookupsEnd> {
  const { around, run, dispatcher } = context;
  const { clock, engine } = around;
  const worker = around.worker?.type === 'shared' ? null : context.worker;
  const graceMs = graceOf(context);
  const endsAt = clock.monotonic() + graceMs;
  const stopping = worker?.stop(graceMs);
  // Ended in the store, the ledger grants nothing more for this run, wherever its chunks are.
  await engine.runs.end(run.id, 'stopped', end.type === 'halted' ? end.halt.sentence : end.type);
  await stopping;
  const leftMs = endsAt - clock.monotonic();
  await dispatcher.awaitStragglers(worker ? Math.min(1_000, leftMs) : leftMs);
  // Nobody will work on what the stop had parked.
  await dispatcher.withdraw();
  await takeAll(context);
  return end;
}

/** Waits, without a job or a socket, until spending may be possible again. Not null: it ended. */
async function park(context: SweepContext, halt: RunHalt): Promise<LookupsEnd | null> {
  const { request, around, run, worker } = context;
  const { clock, engine, stop } = around;
  const looksFreely = request.ownDomain !== null && worker !== null;
  context.onParked(halt);
  do {
    const lookAt = clock.monotonic() + (looksFreely ? FREE_LOOK_MS : PAID_LOOK_MS);
    while (clock.monotonic() < lookAt) {
      try {
        await clock.sleep(CANCEL_LOOK_MS, stop);
      } catch {
        return { type: 'stopped' };
      }
      if ((await engine.runs.heartbeat(run.id)).isCancelled) return { type: 'cancelled' };
    }
  } while (looksFreely && !(await hasRoomByFreeLook(context)));
  await resume(context);
  context.onParked(null);
  return null;
}

async function resume({ around, run, worker }: SweepContext): Promise<void> {
  await around.engine.runs.clearHalt(run.id);
  worker?.resumeRun(run.id);
}

/** Asks for the service's own brand (free), then whether the ledger has room; false: cannot ask. */
async function hasRoomByFreeLook({ request, around, run, worker }: SweepContext): Promise<boolean> {
  const { ownDomain } = request;
  if (ownDomain === null || worker === null) return false;
  if ((await around.engine.runs.get(run.id))?.isPaused) return false;
  await worker.readUsage(ownDomain, run);
  const state = await around.engine.ledger.show(run.settings.account, run.id);
  const { run: spending } = state;
  if (spending?.maxRequests != null && spending.requests >= spending.maxRequests) return false;
  return overageLeftFor(spending) > 0 && state.closedAt === null && roomOf(state) !== 0;
}

/** Wrong credentials and a wrong address do not pass on their own. */
function isWaitedOut({ why }: RunHalt): boolean {
  return why === 'limit' || why === 'throttled';
}

/** Sweeps over missing identifiers until each is answered, failed or deferred; parks, resumes. */
import { InterruptedError, isOfStop } from '../../core/errors.js';
import { CHUNK_SIZE } from '../../engine/chunk-queue.js';
import type { RunHalt } from '../../engine/stores/run-reasons.js';
import { overageLeftFor } from '../../ledger/policy.js';
import { untrustedHalt } from '../../worker/judge.js';
import { HALT_REMEMBERED_MS, type LookupWorker } from '../../worker/lookup-worker.js';
import type { ActiveRun } from '../enrich-request.js';
import { judgeAccount } from '../facts/judge-account.js';
import { type LookupsEnd, stopOf } from '../run-end.js';
import { type Scan, wantNextCandidates } from '../scan/scan.js';
import { type OutcomeCollector, unansweredIn } from './collect-outcomes.js';
import type { ChunkDispatcher } from './dispatch-chunks.js';
import type { MatchCheck } from './match-check.js';
import { accountOfRun, chunksAhead } from './spending.js';

export interface SweepContext extends ActiveRun {
  /** The worker of this process; null if workers are elsewhere. */
  readonly worker: LookupWorker | null;
  readonly dispatcher: ChunkDispatcher;
  readonly check: MatchCheck;
  /** Called with the reason when the run parks, and with null when it resumes. */
  readonly onParked: (halt: RunHalt | null) => void;
  /** Looked up before the rest; null without a trial. */
  readonly trial: {
    readonly indexes: readonly number[];
    /** Called after the trial; false ends the run. */
    readonly continues: () => Promise<boolean>;
  } | null;
}

/** Sweeps without an answer before the rest is deferred: chunks get lost, or no worker is there. */
const EMPTY_SWEEPS = 3;
/** The time between two free looks at a closed account. */
export const FREE_LOOK_MS = 30_000;
const PAID_LOOK_MS = 60_000;
const CANCEL_LOOK_MS = 1_000;

export async function sweep(context: SweepContext): Promise<LookupsEnd> {
  const { request, runtime, collector, scan, run, dispatcher, worker, check } = context;
  const { waterfall, onLimit } = request.settings;
  const ahead = async () => chunksAhead(await accountOfRun(runtime.engine, run.id, run.settings));
  let { trial } = context;
  let emptySweeps = 0;
  let hasLookedAgain = false;
  for (;;) {
    const before = scan.answers.answered;
    const only = trial?.indexes;
    const isOrdered = scan.priorities !== null && trial === null;
    const halt = await unlessStopped(check.halt(), runtime.stop);
    if (halt === 'stopped') return windUp(context, { type: halt });
    if (halt !== null) return windUp(context, { type: 'halted', halt });
    check.begin();
    const isFull = () => check.onlyFirst() !== null;
    const chunks = chunksOf(context, isOrdered, only);
    const end = await dispatcher.dispatch(chunks, isOrdered ? ahead : null, isFull);
    if (end.type === 'halted' && isWaitedOut(end.halt) && onLimit === 'wait') {
      await dispatcher.awaitStragglers(graceOf(context));
      await takeAll(context);
      const parkedEnd = await park(context, end.halt);
      if (parkedEnd !== null) return parkedEnd;
      continue;
    }
    if (end.type === 'halted' && end.halt.why === 'limit' && !hasLookedAgain) {
      // Ask the service once more if that is free: the answer about the limit may have been stale.
      hasLookedAgain = true;
      if ((await lookForRoom(context)) === 'room') {
        await dispatcher.awaitStragglers(graceOf(context));
        // Until then workers elsewhere remember the halt, and would skip all chunks.
        await runtime.clock.sleep(HALT_REMEMBERED_MS, runtime.stop).catch(() => undefined);
        await resume(context);
        continue;
      }
    }
    if (end.type !== 'finished' && end.type !== 'lost') return windUp(context, end);
    const onlyFirst = check.onlyFirst();
    if ((await takeAll(context, onlyFirst ?? only)) > 0 || onlyFirst !== null) {
      emptySweeps = scan.answers.answered > before ? 0 : emptySweeps + 1;
      if (emptySweeps < EMPTY_SWEEPS) continue;
      return { type: 'halted', halt: { why: 'lost' } };
    }
    if (trial !== null) {
      const continues = await unlessStopped(trial.continues(), runtime.stop);
      if (continues !== true) return windUp(context, { type: continues || 'declined' });
      trial = null;
      continue;
    }
    await collector.takeUnproven();
    if (!waterfall || wantNextCandidates(scan) === 0) return finished(context);
    if ((await takeWaves(collector, scan, waterfall, runtime.stop)) === 0) return finished(context);
    worker?.resumeRun(run.id);
  }
}

async function unlessStopped<T>(asked: Promise<T>, stop: AbortSignal): Promise<T | 'stopped'> {
  return asked.catch((error: unknown) => {
    if (error instanceof InterruptedError || isOfStop(error, stop)) return 'stopped';
    throw error;
  });
}

/** Takes stored answers, with `--waterfall` also of next candidates; returns the number missing. */
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

/** Takes answers and failures of chunks; returns how many identifiers still have neither. */
async function takeAll({ collector, run }: SweepContext, only?: readonly number[]): Promise<number> {
  await collector.takeStored('api', undefined, only);
  return collector.takeFailed(run.id, only);
}

/** Returns the end after all lookups: only untrusted answers, or ones lost twice, halt the run. */
function finished({ collector, run }: SweepContext): LookupsEnd {
  const { facts } = collector.summary;
  const { identifiers } = facts;
  // Once one answer proves the service, its refusals are trusted, too.
  if (facts.hasUntrusted && identifiers.matched + identifiers.notFound === 0)
    return { type: 'halted', halt: untrustedHalt(run.settings.service) };
  return identifiers.deferred > 0
    ? { type: 'halted', halt: { why: 'doubtful', identifiers: identifiers.deferred } }
    : { type: 'finished' };
}

function* chunksOf(
  { collector, scan, dispatcher, check }: SweepContext,
  isOrdered: boolean,
  only?: readonly number[],
): Generator<string[]> {
  // By priority, chunks have the size that `chunksAhead` counts in.
  const size = () => Math.min(isOrdered ? CHUNK_SIZE : dispatcher.chunkSize, check.room());
  for (const unanswered of unansweredIn(scan, size, only ?? 'priority')) {
    const batch = unanswered.filter(({ index }) => !collector.isUnproven(index));
    if (batch.length === 0) continue;
    collector.expect(batch);
    check.handOut(batch.map(({ index }) => index));
    yield batch.map(({ text }) => text);
  }
}

function graceOf({ run, runtime }: SweepContext): number {
  return runtime.stop.aborted ? runtime.graceMs() : run.settings.timeoutMs;
}

/** Waits for requests in flight, here and elsewhere, and takes their answers. */
async function windUp(context: SweepContext, end: LookupsEnd): Promise<LookupsEnd> {
  const { runtime, run, dispatcher } = context;
  const { clock, engine } = runtime;
  const worker = runtime.worker?.type === 'shared' ? null : context.worker;
  const graceMs = graceOf(context);
  const endsAt = clock.monotonic() + graceMs;
  const stopping = worker?.stop(graceMs);
  // From here on the ledger grants this run no permit, wherever its chunks are.
  await engine.runs.end(run.id, stopOf(end) ?? { type: 'stopped' });
  await stopping;
  const leftMs = endsAt - clock.monotonic();
  await dispatcher.awaitStragglers(worker ? Math.min(1_000, leftMs) : leftMs);
  // No worker takes the chunks that the stop parked.
  await dispatcher.withdraw();
  await takeAll(context);
  await context.collector.takeUnproven();
  return end;
}

/** Waits, without a job or a socket, until the run can spend again; returns its end, or null. */
async function park(context: SweepContext, halt: RunHalt): Promise<LookupsEnd | null> {
  const { runtime, run, worker } = context;
  const { clock, engine, stop } = runtime;
  const looksFreely = run.settings.ownDomain !== null && worker !== null;
  const asksAt = clock.monotonic() + PAID_LOOK_MS;
  context.onParked(halt);
  for (;;) {
    const lookAt = clock.monotonic() + (looksFreely ? FREE_LOOK_MS : PAID_LOOK_MS);
    while (clock.monotonic() < lookAt) {
      try {
        await clock.sleep(CANCEL_LOOK_MS, stop);
      } catch {
        return { type: 'stopped' };
      }
      const { isCancelled, isPausedAlone } = await engine.runs.heartbeat(run.id);
      if (isCancelled) return { type: 'cancelled' };
      if (isPausedAlone && runtime.job !== undefined) return { type: 'paused' };
    }
    const seen = await lookForRoom(context);
    if (seen === 'room' || (seen === 'unknown' && clock.monotonic() >= asksAt)) break;
  }
  await resume(context);
  context.onParked(null);
  return null;
}

async function resume({ runtime, run, worker }: SweepContext): Promise<void> {
  await runtime.engine.runs.clearHalt(run.id);
  worker?.resumeRun(run.id);
}

/** Asks the service whether there is room; `unknown` if no free request is possible. */
async function lookForRoom({ runtime, run, worker }: SweepContext): Promise<'room' | 'none' | 'unknown'> {
  const { ownDomain } = run.settings;
  if (ownDomain === null || worker === null) return 'unknown';
  if ((await runtime.engine.runs.get(run.id))?.paused) return 'none';
  if ((await worker.readUsage(ownDomain, run)) === null) return 'unknown';
  const state = await runtime.engine.ledger.show(run.settings.account, run.id);
  const { run: spending } = state;
  if (spending?.maxRequests != null && spending.requests >= spending.maxRequests) return 'none';
  const hasRoom = overageLeftFor(spending) > 0 && judgeAccount(state).hasRoom;
  return hasRoom ? 'room' : 'none';
}

/** True if waiting helps, which it does not with wrong credentials or a wrong address. */
function isWaitedOut({ why }: RunHalt): boolean {
  return why === 'limit' || why === 'throttled';
}

/**
 * The record of a run in the engine, by which workers and other runs know it: its start, its heartbeat and its end.
 */

import type { Clock } from '../core/clock.js';
import { FailFileError } from '../core/errors.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { isProcessGone, processIdentity } from '../core/process-identity.js';
import type { Engine } from '../engine/engine.js';
import type { LedgerState } from '../ledger/ledger.js';
import {
  type NewRun,
  NO_TALLY,
  type RunProgress,
  type RunRecord,
  type Tally,
  unreportedOf,
} from '../stores/run-store.js';
import type { LookupWorker, SentCount } from '../worker/lookup-worker.js';
import type { EnrichRequest, EnrichSurroundings } from './enrich-request.js';
import { accountOfRun } from './lookups/account-state.js';

const HEARTBEAT_MS = 5_000;

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

/** Starts a run under a key; its heartbeat goes on until `releasers` run. Throws what the engine throws. */
export async function startRun(
  { engine, log }: Pick<EnrichSurroundings, 'engine' | 'log'>,
  run: Omit<NewRun, 'settings'> & { readonly settings: EnrichRequest['settings'] },
  releasers: Releasers,
): Promise<RunRecord> {
  await endGoneRuns(engine);
  const settings = { ...run.settings, process: processIdentity() };
  const started = await engine.runs.start({ ...run, settings });
  releasers.push(beatRegularly(engine, started.id, log));
  return started;
}

/** For those who look at the run from outside: what is not asked for because it was stored. */
export async function recordStored(engine: Engine, runId: string, known: number, log: Log): Promise<void> {
  if (known === 0) return;
  await engine.runs
    .addTally(runId, 'known', { ...NO_TALLY, stored: known })
    .catch((error) => log.warn({ err: error }, 'how much was stored could not be recorded'));
}

/**
 * Ends the run in the engine, and reads from there how account and run stand. The file is written by then: an engine that is
 * away for longer than it was waited for keeps nobody from it, and the next run of the same command sees to the rest.
 */
export async function endRun({
  request,
  around,
  run,
  isComplete,
  reason,
  progress,
  worker,
}: EndedRun): Promise<{
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
    onNotice(`the end of this run did not reach the engine: ${error.message}`);
    // What is under way has been waited for: called again it is the same stop.
    if (around.worker?.type === 'own') await worker?.stop(0);
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

/** The last tally that the engine gave, and what this process knows to have been sent since. */
function atLeast(tally: Tally, sent: SentCount | undefined): Tally {
  return {
    ...tally,
    requests: Math.max(tally.requests, sent?.requests ?? 0),
    billed: Math.max(tally.billed, sent?.billed ?? 0),
  };
}

/** Settlements of living workers arrive within this time; what is then not reported never will be. */
const SETTLE_LOOKS = 4;
const SETTLE_LOOK_MS = 100;

/** The record of a run that has ended, once its workers had the time to report to the ledger what was free. */
async function settledRun(engine: Pick<Engine, 'runs'>, run: RunRecord, clock: Clock): Promise<RunRecord> {
  for (let looks = 1; ; looks += 1) {
    const record = (await engine.runs.get(run.id)) ?? run;
    if (unreportedOf(record) === 0 || looks === SETTLE_LOOKS) return record;
    await clock.sleep(SETTLE_LOOK_MS);
  }
}

/** Alive even while a stage takes long: a run without a heartbeat is dead for its workers. */
function beatRegularly(engine: Engine, runId: string, log: Log): () => void {
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    engine.runs
      .heartbeat(runId)
      .catch((error) => log.warn({ err: error }, 'the heartbeat of the run did not arrive'))
      .finally(() => {
        isUnderWay = false;
      });
  }, HEARTBEAT_MS);
  return () => clearInterval(timer);
}

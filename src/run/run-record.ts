/** A run's record in the engine, for workers and other runs: its start, heartbeat and end. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  BrandEnrichError,
  errorText,
  InterruptedError,
  isOfStop,
  PausedError,
  RunError,
} from '../core/errors.js';
import { countOf } from '../core/figures.js';
import type { Releasers } from '../core/lifecycle.js';
import { isProcessGone, processIdentity, userAtHost } from '../core/process-identity.js';
import { fileFault } from '../core/system-error.js';
import { visibleLine } from '../core/terminal-text.js';
import type { RunStop } from '../engine/stores/run-reasons.js';
import {
  isOfAll,
  NO_TALLY,
  pauseText,
  type RunOwner,
  type RunProgress,
  type RunRecord,
  resumeCommand,
  unreportedOf,
} from '../engine/stores/run-store.js';
import type { LedgerState } from '../ledger/ledger.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { ActiveRun, EnrichRuntime } from './enrich-request.js';
import { accountOfRun } from './lookups/spending.js';

const HEARTBEAT_MS = 5_000;
/** Runs checked for a killed process, which may be long ago, and for earlier starts. */
const RUNS_LOOKED_AT = 100;
/** Living workers settle within this time; what is missing then is never reported. */
const SETTLE_LOOKS = 4;
const SETTLE_LOOK_MS = 100;

interface StartedRun extends Pick<RunRecord, 'id' | 'key' | 'settings'>, Partial<RunOwner> {
  readonly name: string;
  /** Default: this user of this machine, for a run that is its own job. */
  readonly startedBy?: string | undefined;
}

/** Starts a run; `releasers` end its heartbeat. `name`: of its input or program, for people. */
export async function startRun(
  { name, settings, startedBy, ...run }: StartedRun,
  { engine, log }: Pick<EnrichRuntime, 'engine' | 'log'>,
  releasers: Releasers,
): Promise<RunRecord> {
  const { runs } = engine;
  const by = startedBy ?? (run.job === undefined ? userAtHost() : undefined);
  // Until their heartbeats are old no other process can tell that these are dead, and their chunks
  // would be paid for in their names.
  for (const { id, status, settings } of await runs.list(RUNS_LOOKED_AT)) {
    if (status === 'running' && settings.process !== undefined && isProcessGone(settings.process))
      await runs.end(id, { type: 'killed' });
  }
  const started = await runs.start({
    ...run,
    label: { host: hostname(), name },
    settings: {
      ...settings,
      process: processIdentity(),
      ...(by !== undefined && { startedBy: by }),
    },
  });
  // Alive even while a stage takes long: a run without a heartbeat is dead for its workers.
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    runs
      .heartbeat(started.id)
      .catch((error) => log.warn({ err: error }, 'the heartbeat of the run failed'))
      .finally(() => {
        isUnderWay = false;
      });
  }, HEARTBEAT_MS).unref();
  releasers.push(() => clearInterval(timer));
  return started;
}

/** Works on a run, and ends it in the engine if that fails: it would seem to be at work. */
export async function endIfFails<T>(
  { id }: Pick<RunRecord, 'id'>,
  { engine, log, stop }: Pick<EnrichRuntime, 'engine' | 'log' | 'stop'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await engine.runs
      .end(id, stopOfError(error, stop))
      .catch((err) => log.warn({ err }, 'the end of the run did not reach the engine'));
    throw error;
  }
}

/** Why a run ended that failed with this error. `stop`: what ends all runs of the process. */
export function stopOfError(error: unknown, stop?: AbortSignal): RunStop {
  if ((stop && isOfStop(error, stop)) || error instanceof InterruptedError) return { type: 'stopped' };
  if (error instanceof BrandEnrichError)
    return { type: 'failed', reason: `${error.what}: ${visibleLine(error.subject)}` };
  return { type: 'failed', reason: fileFault(error)?.subject ?? `unexpected error: ${errorText(error)}` };
}

/** A name for one run, unique, with its day (UTC) for people. `now` in milliseconds. */
export function newRunId(now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return `r-${day}-${randomBytes(4).toString('hex')}`;
}

/** Throws `PausedError` where the key or all spending is paused, unless a person resumes it. */
export async function assertNotPaused(
  key: string,
  name: string,
  { engine, resumes }: Pick<EnrichRuntime, 'engine' | 'resumes'>,
): Promise<void> {
  for (const pause of await engine.runs.pauses()) {
    if (pause.owner !== key && !isOfAll(pause)) continue;
    if (await resumes?.(pause)) await engine.runs.resume(pause.owner);
    else {
      const todo = `nothing was sent; ${resumeCommand(pause, name)} allows it, then run again`;
      throw new PausedError({ code: 'paused', what: pauseText(pause), subject: name, todo });
    }
  }
}

/** Who paused a run that waits, or all spending, and the way on. */
export async function pauseNotice({ runs }: EnrichRuntime['engine'], owner: string): Promise<string> {
  const pause = (await runs.pauses()).find((each) => each.owner === owner || isOfAll(each));
  if (pause === undefined) return 'paused; it waits until it is resumed';
  return `${pauseText(pause)}; it waits until ${resumeCommand(pause)} continues it`;
}

/** For `status` and the dashboard: identifiers that need no lookup because they are stored. */
export async function recordStored(
  { runtime, run }: Pick<ActiveRun, 'runtime' | 'run'>,
  stored: number,
): Promise<void> {
  if (stored === 0) return;
  await runtime.engine.runs
    .addTally(run.id, 'known', { ...NO_TALLY, stored })
    .catch((error) => runtime.log.warn({ err: error }, 'the number of stored answers could not be recorded'));
}

/**
 * Ends the run in the engine and reads how it stands there. `stop` null: it is complete. The file
 * is written, so an engine that does not answer prevents nothing.
 */
export async function endRun(
  { runtime, run }: Pick<ActiveRun, 'runtime' | 'run'>,
  stop: RunStop | null,
  { progress, worker }: { readonly progress: RunProgress | null; readonly worker: LookupWorker | null },
): Promise<{ readonly ledger: LedgerState | null; readonly ended: RunRecord }> {
  const { engine, emit } = runtime;
  try {
    await worker?.settled();
    const ledger = progress === null ? null : await accountOfRun(engine, run.id, run.settings);
    await engine.runs.end(run.id, stop);
    const ended = await settledRun(run, runtime);
    const listed = (await engine.runs.list(RUNS_LOOKED_AT)).find(({ id }) => id === run.id);
    return { ledger, ended: { ...ended, ...(listed?.earlier && { earlier: listed.earlier }) } };
  } catch (error) {
    if (!(error instanceof RunError) || error.code !== 'engine-unreachable') throw error;
    const text = `the engine could not record the end of this run: ${error.message}`;
    emit({ type: 'notice', text });
    // Requests under way have ended: a second call is the same stop.
    if (runtime.worker?.type === 'own') await worker?.stop(0);
    const left = worker?.leftOnDisk ?? 0;
    if (left > 0) {
      const text =
        `the engine could not store ${countOf(left, 'paid answer')}: they are on disk, and the ` +
        'next run on this engine stores them';
      emit({ type: 'notice', text, isWarning: true });
    }
    // The last tally that the engine gave, and what this process knows to have been sent since.
    const tally = progress?.tally ?? run.tally;
    const { requests, billed, cutOff } = worker?.sentFor(run.id) ?? { ...NO_TALLY, cutOff: 0 };
    const known = {
      ...tally,
      requests: Math.max(tally.requests, requests),
      billed: Math.max(tally.billed, billed),
    };
    return { ledger: null, ended: { ...run, tally: known, spent: known.billed + cutOff } };
  }
}

/** The record of an ended run, once its workers had time to report to the ledger what was free. */
async function settledRun(run: RunRecord, { engine, clock }: EnrichRuntime): Promise<RunRecord> {
  for (let looks = 1; ; looks += 1) {
    const record = (await engine.runs.get(run.id)) ?? run;
    if (unreportedOf(record) === 0 || looks === SETTLE_LOOKS) return record;
    await clock.sleep(SETTLE_LOOK_MS);
  }
}

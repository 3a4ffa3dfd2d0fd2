/** A run's record in the engine, which workers and other runs read: start, heartbeat and end. */
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
/** Runs checked for a killed process, and for earlier starts. */
const RUNS_LOOKED_AT = 100;
/** Live workers report their last requests within this time. */
const SETTLE_LOOKS = 4;
const SETTLE_LOOK_MS = 100;

interface StartedRun extends Pick<RunRecord, 'id' | 'key' | 'settings'>, Partial<RunOwner> {
  readonly name: string;
  /** Default for a command: the user at this machine. */
  readonly startedBy?: string | undefined;
}

/** Starts a run; `releasers` end its heartbeat. `name`: its input or program, for people. */
export async function startRun(
  { name, settings, startedBy, ...run }: StartedRun,
  { engine, log }: Pick<EnrichRuntime, 'engine' | 'log'>,
  releasers: Releasers,
): Promise<RunRecord> {
  const { runs } = engine;
  const by = startedBy ?? (run.job === undefined ? userAtHost() : undefined);
  // Workers would pay for the chunks of killed runs until their heartbeats expire.
  for (const { id, status, settings } of await runs.list(RUNS_LOOKED_AT)) {
    if (status === 'running' && settings.process !== undefined && isProcessGone(settings.process))
      await runs.end(id, { type: 'killed' });
  }
  const started = await runs.start({
    ...run,
    label: { host: hostname(), name },
    settings: { ...settings, process: processIdentity(), ...(by !== undefined && { startedBy: by }) },
  });
  // A timer, because a stage may take long, and workers drop a run without a heartbeat.
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

/** Performs `work`; if that throws, ends the run, which the engine would show as running. */
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
      .catch((err) => log.warn({ err }, 'the engine could not store that the run has ended'));
    throw error;
  }
}

/** Returns why an error ended a run. `stop`: the signal that ends all runs of the process. */
export function stopOfError(error: unknown, stop?: AbortSignal): RunStop {
  if ((stop && isOfStop(error, stop)) || error instanceof InterruptedError) return { type: 'stopped' };
  if (error instanceof BrandEnrichError)
    return { type: 'failed', reason: `${error.what}: ${visibleLine(error.subject)}` };
  return { type: 'failed', reason: fileFault(error)?.subject ?? `unexpected error: ${errorText(error)}` };
}

/** Returns a unique id with the day (UTC) for people. `now`: in milliseconds. */
export function newRunId(now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return `r-${day}-${randomBytes(4).toString('hex')}`;
}

/** Throws `PausedError` if the key or all spending is paused, unless a person resumes it. */
export async function assertNotPaused(
  key: string,
  name: string,
  { engine, resumes }: Pick<EnrichRuntime, 'engine' | 'resumes'>,
): Promise<void> {
  for (const pause of await engine.runs.pauses()) {
    if (pause.owner !== key && !isOfAll(pause)) continue;
    if (await resumes?.(pause)) await engine.runs.resume(pause.owner);
    else {
      const todo = `nothing was sent; resume with ${resumeCommand(pause, name)}, then run again`;
      throw new PausedError({ code: 'paused', what: pauseText(pause), subject: name, todo });
    }
  }
}

/** Returns who paused a waiting run, or all spending, and the command that resumes it. */
export async function pauseNotice({ runs }: EnrichRuntime['engine'], owner: string): Promise<string> {
  const pause = (await runs.pauses()).find((each) => each.owner === owner || isOfAll(each));
  if (pause === undefined) return 'paused; this run waits until it is resumed';
  return `${pauseText(pause)}; this run waits; resume with ${resumeCommand(pause)}`;
}

/** Records for `status` and the dashboard how many identifiers have stored answers. */
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
 * Ends the run in the engine and returns its last record. `stop`: null for a complete run. The file
 * is written already, so an unreachable engine only causes a notice.
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
    // Nothing is in flight any more, and a second stop changes nothing.
    if (runtime.worker?.type === 'own') await worker?.stop(0);
    const left = worker?.leftOnDisk ?? 0;
    if (left > 0) {
      const text =
        `the engine could not store ${countOf(left, 'paid answer')}: they are on disk, and the ` +
        'next run on this engine stores them';
      emit({ type: 'notice', text, isWarning: true });
    }
    // The last tally of the engine, or the counts of this process where they are higher.
    const tally = progress?.tally ?? run.tally;
    const { requests, billed, cutOff } = worker?.sentFor(run.id) ?? { ...NO_TALLY, cutOff: 0 };
    const latest = {
      ...tally,
      requests: Math.max(tally.requests, requests),
      billed: Math.max(tally.billed, billed),
    };
    return { ledger: null, ended: { ...run, tally: latest, spent: latest.billed + cutOff } };
  }
}

/** Returns the record of an ended run, after its workers had time to report their last requests. */
async function settledRun(run: RunRecord, { engine, clock }: EnrichRuntime): Promise<RunRecord> {
  for (let looks = 1; ; looks += 1) {
    const record = (await engine.runs.get(run.id)) ?? run;
    if (unreportedOf(record) === 0 || looks === SETTLE_LOOKS) return record;
    await clock.sleep(SETTLE_LOOK_MS);
  }
}

/** Runs the schedules of one host when they are due, each tick on one of its runners. */
import { randomBytes } from 'node:crypto';
import { DelayedError } from 'bullmq';
import type { DaemonContext } from '../../context/daemon-context.js';
import { BrandEnrichError, EXIT, errorText } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { dueAtOf, type ScheduledJob } from '../../stores/scheduled-jobs.js';
import {
  createScheduleBook,
  type EndedRun,
  GONE_AFTER_MS,
  type PassedTick,
  RESULTS,
  SCOPES,
  type Schedule,
  tickQueueOf,
} from './schedule-book.js';

const HEARTBEAT_MS = 5_000;
const AT_ONCE = 20;
const CLOSE_MS = 20_000;
/** An interrupted tick is delayed this long, so that the stopping runner does not take it again. */
const PARKED_MS = 1_000;
/** A tick taken later than this was missed: the machine was off or no runner was up. */
const LATE_AFTER_MS = 60_000;

export interface ScheduledWork {
  readonly schedule: Schedule;
  /** For `{date}` and `{time}`: when it was due, so an interrupted run goes on with its files. */
  readonly stampedAt: number;
  /** Stop asking, write what is there, and end with exit code 130. */
  readonly stop: AbortSignal;
}

export interface ScheduleRunnerOptions extends Pick<DaemonContext, 'engine' | 'clock' | 'log'> {
  /** The machine whose schedules it runs. */
  readonly host: string;
  /** Runs the command of a schedule. What it throws is the result of the run. */
  readonly execute: (work: ScheduledWork) => Promise<Omit<EndedRun, 'dueAt' | 'startedAt' | 'endedAt'>>;
  /** Default: a minute. */
  readonly lateAfterMs?: number;
}

export type ScheduleRunner = ReturnType<typeof createScheduleRunner>;

export function createScheduleRunner(options: ScheduleRunnerOptions) {
  const { engine, host, clock, log, lateAfterMs = LATE_AFTER_MS } = options;
  const { keyValues, scheduledJobs } = engine;
  /** Tells runners of one host apart. */
  const runnerName = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const book = createScheduleBook(engine);
  const queue = tickQueueOf(host);
  const stopping = new AbortController();
  const worker = engine.openScheduledJobWorker(queue, take, AT_ONCE);
  let timer: NodeJS.Timeout | undefined;

  async function take(job: ScheduledJob, token?: string, lost?: AbortSignal): Promise<void> {
    if (stopping.signal.aborted) return park(job, token);
    const { name, id, begunAt } = job.data;
    const dueAt = dueAtOf(job);
    const schedule = await book.find(name);
    if (schedule === null) await scheduledJobs.remove(queue, name);
    if (schedule === null || schedule.id !== id) return;
    const hasBegun = begunAt !== undefined;
    const lateMs = dueAt === null ? null : clock.now() - dueAt;
    if (isMissed({ lateMs, hasBegun, catchesUp: schedule.catchesUp }, lateAfterMs))
      return pass(schedule, 'missed', dueAt);
    const holder = job.id ?? '';
    const claimRunning = () => keyValues.claim(SCOPES.running, name, holder, GONE_AFTER_MS);
    if (!(await claimRunning())) return pass(schedule, 'skipped', dueAt);
    const heartbeats = setInterval(() => claimRunning().catch(warnOfFailure), HEARTBEAT_MS);
    try {
      const startedAt = clock.now();
      if (!hasBegun) await job.updateData({ ...job.data, begunAt: startedAt });
      const stop = AbortSignal.any([stopping.signal, ...(lost ? [lost] : [])]);
      const result = await run({ schedule, stampedAt: dueAt ?? job.timestamp, stop });
      if (lost?.aborted) return;
      if (stopping.signal.aborted && result.exitCode === EXIT.interrupted) return await park(job, token);
      const ended = { dueAt, startedAt, endedAt: clock.now(), ...result };
      await keep(schedule, () => book.noteEnded(id, ended));
      log.info({ schedule: name, exitCode: result.exitCode }, result.sentence);
    } finally {
      clearInterval(heartbeats);
      await keyValues.remove(SCOPES.running, name, holder).catch(warnOfFailure);
    }
  }

  /** Leaves a tick to the next runner. Always throws: BullMQ expects that. */
  async function park(job: ScheduledJob, token: string | undefined): Promise<never> {
    await job.moveToDelayed(clock.now() + PARKED_MS, token);
    throw new DelayedError();
  }

  async function run(work: ScheduledWork): ReturnType<ScheduleRunnerOptions['execute']> {
    const { name, line } = work.schedule;
    log.info({ schedule: name, command: line }, 'a scheduled run starts');
    try {
      return await options.execute(work);
    } catch (error) {
      const isOurs = error instanceof BrandEnrichError;
      if (!isOurs) log.error({ err: error, schedule: name }, 'this is a bug; please report it');
      return { exitCode: isOurs ? error.exitCode : EXIT.ioError, sentence: errorText(error), output: null };
    }
  }

  async function pass(schedule: Schedule, why: PassedTick['why'], dueAt: number | null): Promise<void> {
    const passed: PassedTick = { why, dueAt, at: clock.now() };
    await keep(schedule, () => keyValues.put(SCOPES.passed, schedule.id, JSON.stringify(passed)));
    log.warn(
      { schedule: schedule.name },
      why === 'skipped'
        ? 'skipped: the previous run is still running'
        : 'missed: no schedule runner was active in time; with --catch-up it would run now',
    );
  }

  /** Leaves nothing behind if the schedule was removed or replaced in the meantime. */
  async function keep({ name, id }: Schedule, write: () => Promise<void>): Promise<void> {
    await write();
    if ((await book.find(name))?.id === id) return;
    for (const scope of RESULTS) await keyValues.remove(scope, id, null);
  }

  function warnOfFailure(error: unknown): void {
    log.warn({ reason: errorText(error) }, 'the heartbeat of the schedule runner could not be written');
  }

  /** The heartbeat of this host; also sets clocks that the engine lost or never had. */
  async function heartbeat(): Promise<void> {
    await keyValues.put(SCOPES.runner, host, runnerName);
    const clocks = new Set((await scheduledJobs.list(queue)).map(({ name }) => name));
    for (const { schedule } of await book.list())
      if (schedule.host === host && !clocks.has(schedule.name)) await book.setClock(schedule);
  }

  return {
    /** Starts taking ticks. Throws what the engine throws. */
    async start(): Promise<void> {
      await heartbeat();
      timer = setInterval(() => void heartbeat().catch(warnOfFailure), HEARTBEAT_MS);
      worker
        .run()
        .catch((error) => log.error({ reason: errorText(error) }, 'scheduled runs no longer start'));
    },
    /** Interrupts what runs; another runner, or the next one here, continues it. */
    async stop(): Promise<void> {
      clearInterval(timer);
      const closed = worker.close().catch(() => undefined);
      stopping.abort(new Error('the schedule runner is stopping'));
      await withinDeadline(closed, CLOSE_MS);
      await keyValues.remove(SCOPES.runner, host, runnerName).catch(warnOfFailure);
    },
  };
}

/** Whether a tick was missed: never one by hand (`lateMs` null), or one begun before. Pure. */
export function isMissed(
  { lateMs, hasBegun, catchesUp }: { lateMs: number | null; hasBegun: boolean; catchesUp: boolean },
  lateAfterMs: number,
): boolean {
  return lateMs !== null && !hasBegun && !catchesUp && lateMs > lateAfterMs;
}

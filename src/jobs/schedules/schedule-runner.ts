/** Runs the schedules of one machine when they are due, as the files there define them. */
import { randomBytes } from 'node:crypto';
import { DelayedError } from 'bullmq';
import { z } from 'zod';
import type { DaemonContext } from '../../app/daemon-context.js';
import { BrandEnrichError, EXIT, errorText } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { oncePerMinute } from '../../core/log.js';
import {
  cancelledText,
  type Order,
  type Orders,
  pausedText,
  type RunOwner,
  scheduleOwner,
} from '../../engine/stores/run-store.js';
import { dueAtOf, type ScheduledJob } from '../../engine/stores/scheduled-jobs.js';
import {
  createScheduleBook,
  type EndedRun,
  GONE_AFTER_MS,
  keyOf,
  type PassedTick,
  SCOPES,
  tickJob,
} from './schedule-book.js';
import { type BegunTick, type Schedule, type ScheduleFiles, tickQueueOf } from './schedule-files.js';

const HEARTBEAT_MS = 5_000;
const AT_ONCE = 20;
const CLOSE_MS = 20_000;
/** Delay of an interrupted tick, so that the stopping runner does not take it again. */
const PARKED_MS = 1_000;
/** Interval at which a begun tick checks whether its schedule is still paused. */
const PAUSED_LOOK_MS = 5_000;
/** A tick taken later was missed: the machine was off, or no runner was up. */
const LATE_AFTER_MS = 60_000;
/** The most by which the engine's clock may be ahead of this machine's. */
const AHEAD_AT_MOST_MS = 60_000;

const PASSED: Readonly<Record<PassedTick['why'], string>> = {
  skipped: 'skipped: the previous run is still running',
  missed: 'missed: no schedule runner was active in time; with --catch-up it would run now',
};

const tickShape = z.object({ name: z.string(), id: z.string() });

export interface ScheduledWork {
  readonly schedule: Schedule;
  /** The due time for `{date}` and `{time}`, so an interrupted run continues with its files. */
  readonly stampedAt: number;
  /** The tick, which people can pause or cancel. */
  readonly job: RunOwner;
  /** Ends the run with exit code 130, after it has written the answers so far. */
  readonly stop: AbortSignal;
}

export interface ScheduleRunnerOptions extends Pick<DaemonContext, 'engine' | 'clock' | 'log'> {
  /** The machine whose schedules run, as `files` define them. */
  readonly host: string;
  readonly files: ScheduleFiles;
  readonly execute: (work: ScheduledWork) => Promise<
    Omit<EndedRun, 'dueAt' | 'startedAt' | 'endedAt'> & {
      /** Present if a person ended the run. */
      readonly orderedEnd?: 'cancelled' | 'paused';
    }
  >;
  /** Called for each tick that a pause skips, also for several at once. */
  readonly onPaused?: (schedule: Schedule, pause: Order) => Promise<void>;
  readonly lateAfterMs?: number;
}

export type ScheduleRunner = Awaited<ReturnType<typeof createScheduleRunner>>;

/** Creates a runner, which the caller starts. Throws what the engine throws. */
export async function createScheduleRunner(options: ScheduleRunnerOptions) {
  const { engine, host, files, clock, log, lateAfterMs = LATE_AFTER_MS } = options;
  const { keyValues } = engine;
  const runnerName = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const book = createScheduleBook(engine, files, host);
  const queue = tickQueueOf(host, await files.giveMachineId());
  const stopping = new AbortController();
  const worker = engine.openScheduledJobWorker(queue, take, AT_ONCE);
  let timer: NodeJS.Timeout | undefined;
  const warnOfStranger = oncePerMinute(clock, (facts, others) =>
    log.warn({ ...facts, ...others }, 'a tick of no schedule that is defined on this machine: nothing runs'),
  );

  async function take(job: ScheduledJob, token?: string, lost?: AbortSignal): Promise<void> {
    if (stopping.signal.aborted) return park(job, token);
    const { name = '', id } = tickShape.safeParse(job.data).data ?? {};
    const schedule = await files.find(name);
    // The schedule was removed, or a stranger wrote the tick.
    if (schedule?.host !== host || schedule.id !== id)
      return warnOfStranger({ schedule: name.slice(0, 64), folder: files.folder });
    const dueAt = dueAtOf(job);
    const holder = job.id ?? '';
    const begun = await files.begun(name);
    const hasBegun = begun !== null && begun.job === holder;
    // A run by hand has no due time, so it is never late.
    const isLate = dueAt !== null && clock.now() - dueAt > lateAfterMs;
    const key = keyOf({ queue, name });
    const tick = { job: tickJob(key, holder), owner: scheduleOwner(key) };
    const { cancelled, paused } = await ordersOf(tick);
    if (cancelled !== null) {
      // The process that began the tick has left its entry.
      await keyValues.remove(SCOPES.running, key, holder);
      if (hasBegun) await files.noteBegun(name, { ...begun, job: null });
      const now = clock.now();
      const ended = { dueAt, startedAt: now, endedAt: now, exitCode: EXIT.interrupted, output: null };
      return book.noteEnded(key, { ...ended, sentence: cancelledText(cancelled) });
    }
    // A begun tick continues after a resume.
    if (paused !== null && hasBegun) return park(job, token, PAUSED_LOOK_MS);
    if (paused !== null) return pass(schedule, { why: 'skipped', dueAt, paused });
    if (isLate && !hasBegun && !schedule.catchesUp) return pass(schedule, { why: 'missed', dueAt });
    const claimRunning = () => keyValues.claim(SCOPES.running, key, holder, GONE_AFTER_MS);
    if (!(await claimRunning())) return pass(schedule, { why: 'skipped', dueAt });
    const heartbeats = setInterval(() => claimRunning().catch(warnOfFailure), HEARTBEAT_MS);
    try {
      const startedAt = clock.now();
      const stampedAt = hasBegun ? begun.stampedAt : stampOf(dueAt, schedule, begun, startedAt);
      if (!hasBegun) await files.noteBegun(name, { job: holder, stampedAt });
      const stop = AbortSignal.any([stopping.signal, ...(lost ? [lost] : [])]);
      const { orderedEnd, ...result } = await run({ schedule, stampedAt, job: tick, stop });
      if (lost?.aborted) return;
      if (orderedEnd === 'paused') return await park(job, token, PAUSED_LOOK_MS);
      if (orderedEnd === undefined && result.exitCode === EXIT.interrupted) {
        // The next take finds an order that came while the file was read.
        const isOrdered = async () => Object.values(await ordersOf(tick)).some((order) => order !== null);
        if (stopping.signal.aborted || (await isOrdered())) return await park(job, token);
      }
      await files.noteBegun(name, { job: null, stampedAt });
      await book.noteEnded(key, { dueAt, startedAt, endedAt: clock.now(), ...result });
      log.info({ schedule: name, exitCode: result.exitCode }, result.sentence);
    } finally {
      clearInterval(heartbeats);
      await keyValues.remove(SCOPES.running, key, holder).catch(warnOfFailure);
    }
  }

  async function ordersOf(tick: RunOwner): Promise<Orders> {
    return (await engine.runs.orders([tick]))[0] ?? { cancelled: null, paused: null };
  }

  /** Leaves a tick to the next runner. Always throws, as BullMQ expects. */
  async function park(job: ScheduledJob, token: string | undefined, forMs = PARKED_MS): Promise<never> {
    await job.moveToDelayed(clock.now() + forMs, token);
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

  async function pass(schedule: Schedule, tick: Omit<PassedTick, 'at'>): Promise<void> {
    const { name } = schedule;
    const { why, paused } = tick;
    const passed: PassedTick = { ...tick, at: clock.now() };
    await keyValues.put(SCOPES.passed, keyOf({ queue, name }), JSON.stringify(passed));
    if (paused === undefined) return log.warn({ schedule: name }, PASSED[why]);
    log.warn({ schedule: name }, `skipped: ${pausedText(paused)}`);
    await options.onPaused?.(schedule, paused).catch((error: unknown) => {
      log.warn({ schedule: name, reason: errorText(error) }, 'the pause of a schedule could not be notified');
    });
  }

  function warnOfFailure(error: unknown): void {
    log.warn({ reason: errorText(error) }, 'the heartbeat of the schedule runner could not be written');
  }

  /** Writes the heartbeat, and sets clocks that the engine lost or has differently. */
  async function heartbeat(): Promise<void> {
    await keyValues.put(SCOPES.runner, queue, runnerName);
    const own = (await files.all()).filter((schedule) => schedule.host === host);
    for (const schedule of await book.unannounced(queue, own)) await book.announce(schedule);
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
    /** Interrupts the runs, which another runner or the next one here continues. */
    async stop(): Promise<void> {
      clearInterval(timer);
      const closed = worker.close().catch(() => undefined);
      stopping.abort(new Error('the schedule runner is stopping'));
      await withinDeadline(closed, CLOSE_MS);
      await keyValues.remove(SCOPES.runner, queue, runnerName).catch(warnOfFailure);
    },
  };
}

/** Returns the moment in names of outputs: when due, or now if that could overwrite files. Pure. */
export function stampOf(
  dueAt: number | null,
  { addedAt }: Pick<Schedule, 'addedAt'>,
  begun: Pick<BegunTick, 'stampedAt'> | null,
  now: number,
): number {
  const last = Math.max(addedAt, begun?.stampedAt ?? 0);
  return dueAt !== null && dueAt > last && dueAt <= now + AHEAD_AT_MOST_MS ? dueAt : now;
}

/**
 * Takes the ticks of one host's schedules and has their commands run. Any number of runners may be there: a tick goes to one
 * of them, and a schedule whose run is still going is not started twice. How a command is run is the caller's.
 */
import { DelayedError } from 'bullmq';
import type { Clock } from '../../core/clock.js';
import { BrandEnrichError, EXIT, errorText } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { Engine } from '../../engine/engine.js';
import { dueAtOf, type TickJob } from '../../stores/ticks.js';
import {
  AWAY_AFTER_MS,
  createScheduleBook,
  type EndedRun,
  type PassedTick,
  SCOPES,
  type Schedule,
  setClock,
  tickQueueOf,
} from './schedule-book.js';

const BEAT_MS = 5_000;
const AT_ONCE = 20;
const CLOSE_MS = 20_000;
/** Parked for so long, what was interrupted is not taken again by the runner that stops. */
const PARKED_MS = 1_000;

export interface ScheduledWork {
  readonly schedule: Schedule;
  /** The moment that `{date}` and `{time}` stand for, milliseconds since 1970. */
  readonly stampedAt: number;
  /** Stop asking, write what is there, and end with exit code 130. */
  readonly stop: AbortSignal;
}

export interface ScheduleRunnerOptions {
  readonly engine: Engine;
  /** Whose schedules it takes. */
  readonly host: string;
  /** Tells runners of one host apart. */
  readonly name: string;
  /** Runs the command of a schedule. What it throws is the result of the run. */
  readonly execute: (work: ScheduledWork) => Promise<Pick<EndedRun, 'exitCode' | 'sentence' | 'output'>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: a minute. */
  readonly lateAfterMs?: number;
}

export interface ScheduleRunner {
  /** Takes ticks from now on. Throws what the engine throws. */
  start(): Promise<void>;
  /** Interrupts what runs, which another runner, or the next one here, goes on with. */
  stop(): Promise<void>;
}

export function createScheduleRunner(options: ScheduleRunnerOptions): ScheduleRunner {
  const { engine, host, clock, log, lateAfterMs = LATE_AFTER_MS } = options;
  const { notes, ticks } = engine;
  const book = createScheduleBook(engine);
  const queue = tickQueueOf(host);
  const stopping = new AbortController();
  const worker = engine.openTickWorker(queue, take, AT_ONCE);
  let timer: NodeJS.Timeout | undefined;

  async function take(job: TickJob, token?: string, lost?: AbortSignal): Promise<void> {
    if (stopping.signal.aborted) return park(job, token);
    const { name, id, begunAt } = job.data;
    const dueAt = dueAtOf(job);
    const schedule = await book.find(name);
    if (schedule === null) await ticks.remove(queue, name);
    if (schedule === null || schedule.id !== id) return;
    const { catchesUp } = schedule;
    const hasBegun = begunAt !== undefined;
    if (judgeTick({ dueAt, hasBegun }, { now: clock.now(), catchesUp, lateAfterMs }) === 'missed') {
      await pass(schedule, 'missed', dueAt);
      return;
    }
    const holder = job.id ?? '';
    if (!(await notes.claim(SCOPES.running, name, holder, AWAY_AFTER_MS))) {
      await pass(schedule, 'skipped', dueAt);
      return;
    }
    const beating = setInterval(() => {
      notes.claim(SCOPES.running, name, holder, AWAY_AFTER_MS).catch(noteTrouble);
    }, BEAT_MS);
    try {
      const startedAt = clock.now();
      if (!hasBegun) await job.updateData({ ...job.data, begunAt: startedAt });
      const stop = AbortSignal.any([stopping.signal, ...(lost ? [lost] : [])]);
      const result = await run({ schedule, stampedAt: dueAt ?? job.timestamp, stop });
      if (lost?.aborted) return;
      if (stopping.signal.aborted && result.exitCode === EXIT.interrupted) {
        return await park(job, token);
      }
      const ended: EndedRun = { dueAt, startedAt, endedAt: clock.now(), ...result };
      await keep(SCOPES.ended, schedule, ended);
      log.info({ schedule: name, exitCode: result.exitCode }, result.sentence);
    } finally {
      clearInterval(beating);
      await notes.remove(SCOPES.running, name, holder).catch(noteTrouble);
    }
  }

  /** Hands a tick on to the next runner. Always throws, which is how BullMQ is told. */
  async function park(job: TickJob, token: string | undefined): Promise<never> {
    await job.moveToDelayed(clock.now() + PARKED_MS, token);
    throw new DelayedError();
  }

  async function run(work: ScheduledWork): ReturnType<ScheduleRunnerOptions['execute']> {
    const { name, line } = work.schedule;
    log.info({ schedule: name, command: line }, 'a scheduled run begins');
    try {
      return await options.execute(work);
    } catch (error) {
      if (!(error instanceof BrandEnrichError)) {
        log.error({ err: error, schedule: name }, 'this is a bug, please report it');
      }
      const exitCode = error instanceof BrandEnrichError ? error.exitCode : EXIT.trouble;
      return { exitCode, sentence: errorText(error), output: null };
    }
  }

  async function pass(schedule: Schedule, why: PassedTick['why'], dueAt: number | null): Promise<void> {
    const passed: PassedTick = { why, dueAt, at: clock.now() };
    await keep(SCOPES.passed, schedule, passed);
    log.warn(
      { schedule: schedule.name },
      why === 'skipped'
        ? 'skipped: the run before is still going'
        : 'missed: nobody was there in time to run it; with --catch-up it would run on return',
    );
  }

  /** Of a schedule that was removed meanwhile nothing stays behind. */
  async function keep(scope: string, { name, id }: Schedule, result: EndedRun | PassedTick): Promise<void> {
    await notes.put(scope, id, JSON.stringify(result));
    if ((await book.find(name))?.id !== id) await notes.remove(scope, id, null);
  }

  function noteTrouble(error: unknown): void {
    log.warn({ reason: errorText(error) }, 'a sign of life of the schedules did not arrive');
  }

  /** The sign of life of this host, and the clocks that were lost with the engine's memory or never set. */
  async function beat(): Promise<void> {
    await notes.put(SCOPES.runner, host, options.name);
    const clocks = new Set((await ticks.list(queue)).map(({ name }) => name));
    for (const { schedule } of await book.list()) {
      if (schedule.host === host && !clocks.has(schedule.name)) await setClock(ticks, schedule);
    }
  }

  return {
    async start() {
      await beat();
      timer = setInterval(() => void beat().catch(noteTrouble), BEAT_MS);
      worker.run().catch((error) => log.error({ reason: errorText(error) }, 'no more ticks are taken'));
    },
    async stop() {
      clearInterval(timer);
      const closed = worker.close().catch(() => undefined);
      stopping.abort(new Error('the runner of schedules stops'));
      await withinDeadline(closed, CLOSE_MS);
      await notes.remove(SCOPES.runner, host, options.name).catch(noteTrouble);
    },
  };
}

/** A tick that is taken later than this was missed: the machine or its runner was away. */
const LATE_AFTER_MS = 60_000;

interface TakenTick {
  /** Milliseconds since 1970; null for one by hand, which never is late. */
  readonly dueAt: number | null;
  /** Whether its run had begun before, and was interrupted: it goes on, however late it is. */
  readonly hasBegun: boolean;
}

export function judgeTick(
  { dueAt, hasBegun }: TakenTick,
  { now, catchesUp, lateAfterMs }: { now: number; catchesUp: boolean; lateAfterMs: number },
): 'run' | 'missed' {
  if (dueAt === null || hasBegun || catchesUp) return 'run';
  return now - dueAt > lateAfterMs ? 'missed' : 'run';
}

/**
 * The schedules of an engine: added, listed, removed, run by hand. What they are lies in notes,
 * when they are due in clocks; the notes are what holds, and a runner sets a clock that is missing.
 * Works through the holder of a state folder too.
 */

import { z } from 'zod';
import type { Engine } from '../../engine/engine.js';
import type { Entry } from '../../stores/key-value-store.js';

/** Flags of a run by key, as the command line gives them. */
const flagsShape = z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())]));

const scheduleShape = z.object({
  name: z.string(),
  /** Unique for every schedule ever added, whatever its name. */
  id: z.string(),
  cron: z.string(),
  /** A name of the IANA time zone database. */
  tz: z.string(),
  /** The machine whose files it reads. */
  host: z.string(),
  /** The command as it was given, for people. */
  line: z.string(),
  /** Absolute. */
  input: z.string(),
  /** Paths in it are absolute; outputs may hold `{date}` and `{time}`. */
  flags: flagsShape,
  /** Whether a tick that was missed runs on return. */
  catchesUp: z.boolean(),
  /** Milliseconds since 1970, by the clock of its host. */
  addedAt: z.number(),
});
export type Schedule = z.infer<typeof scheduleShape>;
export type ScheduledFlags = z.infer<typeof flagsShape>;

const endedShape = z.object({
  /** Milliseconds since 1970, by the clock of the host; `dueAt` is null for a run by hand. */
  dueAt: z.number().nullable(),
  startedAt: z.number(),
  endedAt: z.number(),
  /** As of the command `run`. */
  exitCode: z.number(),
  /** The result, for people. */
  sentence: z.string(),
  /** The file that was written; null when there is none. */
  output: z.string().nullable(),
});
/** A run that ended, successfully or not. */
export type EndedRun = z.infer<typeof endedShape>;

const passedShape = z.object({
  /** `skipped`: the previous run was still going. `missed`: no runner took the tick in time. */
  why: z.enum(['skipped', 'missed']),
  dueAt: z.number().nullable(),
  at: z.number(),
});
/** A tick without a run. */
export type PassedTick = z.infer<typeof passedShape>;

function reader<T>(shape: z.ZodType<T>): (text: string | undefined) => T | null {
  return (text) => {
    if (text === undefined) return null;
    try {
      return shape.parse(JSON.parse(text));
    } catch {
      return null;
    }
  };
}

/** null for any other text, such as one of a later release. */
const readSchedule = reader(scheduleShape);
const readEndedRun = reader(endedShape);
const readPassedTick = reader(passedShape);

/** Letters, digits, `.`, `_` and `-`, 64 at most, the first a letter or a digit. */
export function isScheduleName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

type ScheduleStores = Pick<Engine, 'keyValues' | 'scheduledJobs'>;

/**
 * Scopes in the key-value store: by the schedule's name, for runners by host, for results by the
 * schedule's id.
 */
export const SCOPES = {
  schedule: 'schedule',
  runner: 'schedule-runner',
  running: 'schedule-running',
  ended: 'schedule-ended',
  passed: 'schedule-passed',
} as const;

/** A runner or run whose heartbeat is older than this is gone. */
export const GONE_AFTER_MS = 30_000;

/** The queue of the ticks of one host. */
export function tickQueueOf(host: string): string {
  return `schedules-${host.replaceAll(':', '_')}`;
}

/** A schedule and its state. */
export interface ScheduleState {
  readonly schedule: Schedule;
  /**
   * When its next tick is due, milliseconds since 1970; null until a runner of its host has set the
   * clock.
   */
  readonly nextAt: number | null;
  readonly isRunning: boolean;
  /** No runner of its host is up. */
  readonly isHostAway: boolean;
  readonly ended: EndedRun | null;
  readonly passed: PassedTick | null;
}

export interface ScheduleBook {
  /** False when there is already one of this name, which stays. */
  add(schedule: Schedule): Promise<boolean>;
  /** By name. */
  list(): Promise<ScheduleState[]>;
  find(name: string): Promise<Schedule | null>;
  /**
   * A run in progress continues; the next tick is removed. False when there is none of this name.
   */
  remove(name: string): Promise<boolean>;
  /** Its host runs it at once, or as soon as it is back. */
  runNow(schedule: Schedule): Promise<void>;
}

export function createScheduleBook({ keyValues, scheduledJobs }: ScheduleStores): ScheduleBook {
  const noteOf = (found: readonly Entry[], name: string) => found.find((note) => note.name === name);
  const isAlive = (note: Entry | undefined) => note !== undefined && note.ageMs <= GONE_AFTER_MS;

  async function schedules(): Promise<Schedule[]> {
    const found = await keyValues.list(SCOPES.schedule);
    return found.map(({ text }) => readSchedule(text)).filter((each) => each !== null);
  }
  const find = async (name: string) => (await schedules()).find((each) => each.name === name) ?? null;

  return {
    find,
    async add(schedule) {
      const text = JSON.stringify(schedule);
      const isNew = await keyValues.claim(SCOPES.schedule, schedule.name, text, null);
      if (isNew) await setClock(scheduledJobs, schedule);
      return isNew;
    },
    async list() {
      const [found, runners, running, ended, passed] = await Promise.all([
        schedules(),
        keyValues.list(SCOPES.runner),
        keyValues.list(SCOPES.running),
        keyValues.list(SCOPES.ended),
        keyValues.list(SCOPES.passed),
      ]);
      const hosts = [...new Set(found.map(({ host }) => host))];
      const clocks = new Map(
        await Promise.all(
          hosts.map(async (host) => [host, await scheduledJobs.list(tickQueueOf(host))] as const),
        ),
      );
      return found.map((schedule) => {
        const { name, host } = schedule;
        return {
          schedule,
          nextAt: clocks.get(host)?.find((clock) => clock.name === name)?.nextAt ?? null,
          isRunning: isAlive(noteOf(running, name)),
          isHostAway: !isAlive(noteOf(runners, host)),
          ended: readEndedRun(noteOf(ended, schedule.id)?.text),
          passed: readPassedTick(noteOf(passed, schedule.id)?.text),
        };
      });
    },
    async remove(name) {
      const schedule = await find(name);
      if (schedule === null) return false;
      const isOurs = await keyValues.remove(SCOPES.schedule, name, JSON.stringify(schedule));
      await scheduledJobs.remove(tickQueueOf(schedule.host), name);
      for (const scope of [SCOPES.ended, SCOPES.passed]) await keyValues.remove(scope, schedule.id, null);
      return isOurs;
    },
    runNow: ({ name, id, host }) => scheduledJobs.addNow(tickQueueOf(host), { name, id }),
  };
}

/** Sets the next ticks of a schedule, replacing earlier ones. */
export function setClock(scheduledJobs: ScheduleStores['scheduledJobs'], schedule: Schedule): Promise<void> {
  const { name, id, host, cron, tz } = schedule;
  return scheduledJobs.set(tickQueueOf(host), cron, tz, { name, id });
}

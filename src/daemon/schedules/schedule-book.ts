/**
 * The schedules of an engine: added, listed, removed, run by hand. What they are lies in notes, when they are due in clocks; the
 * notes are what holds, and a runner sets a clock that is missing. Works through the holder of a state folder too.
 */

import type { Engine } from '../../engine/engine.js';
import type { Entry } from '../../stores/key-value-store.js';
import {
  type EndedRun,
  type PassedTick,
  readEndedRun,
  readPassedTick,
  readSchedule,
  type Schedule,
} from './schedule.js';

export type ScheduleStores = Pick<Engine, 'keyValues' | 'scheduledJobs'>;

/** Scopes of notes: by name of the schedule, for runners by host, for what ticks came to by the schedule's id. */
export const SCOPES = {
  schedule: 'schedule',
  runner: 'schedule-runner',
  running: 'schedule-running',
  ended: 'schedule-ended',
  passed: 'schedule-passed',
} as const;

/** A runner, or a run, that was not heard of for so long is gone. */
export const AWAY_AFTER_MS = 30_000;

/** The queue of the ticks of one host. */
export function tickQueueOf(host: string): string {
  return `schedules-${host.replaceAll(':', '_')}`;
}

/** A schedule and how it is doing. */
export interface ScheduleState {
  readonly schedule: Schedule;
  /** When its next tick is due, milliseconds since 1970; null until a runner of its host has set the clock. */
  readonly nextAt: number | null;
  readonly isRunning: boolean;
  /** No runner of its host is there to take its ticks. */
  readonly isHostAway: boolean;
  readonly ended: EndedRun | null;
  readonly passed: PassedTick | null;
}

export interface ScheduleBook {
  /** False when there is one of this name already, which stays as it is. */
  add(schedule: Schedule): Promise<boolean>;
  /** By name. */
  list(): Promise<ScheduleState[]>;
  find(name: string): Promise<Schedule | null>;
  /** What runs goes on; its next tick is gone. False when there is none of this name. */
  remove(name: string): Promise<boolean>;
  /** Its host runs it at once, or as soon as it is back. */
  runNow(schedule: Schedule): Promise<void>;
}

export function createScheduleBook({ keyValues, scheduledJobs }: ScheduleStores): ScheduleBook {
  const noteOf = (found: readonly Entry[], name: string) => found.find((note) => note.name === name);
  const isAlive = (note: Entry | undefined) => note !== undefined && note.ageMs <= AWAY_AFTER_MS;

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

/** Sets the clock of a schedule, in place of an earlier one. */
export function setClock(scheduledJobs: ScheduleStores['scheduledJobs'], schedule: Schedule): Promise<void> {
  const { name, id, host, cron, tz } = schedule;
  return scheduledJobs.set(tickQueueOf(host), cron, tz, { name, id });
}

/**
 * The schedules of an engine. Definitions are in the key-value store, due times in scheduled jobs;
 * a runner sets a missing job. Moments are milliseconds since 1970.
 */
import { z } from 'zod';
import { readJson } from '../../core/json-text.js';
import type { Engine } from '../../engine/engine.js';
import type { Entry } from '../../stores/key-value-store.js';

const scheduleShape = z.object({
  name: z.string(),
  /** Unique for every schedule ever added. */
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
  /** By key. Paths are absolute, outputs may hold `{date}` and `{time}`. */
  flags: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())])),
  /** Whether a tick that was missed runs on return. */
  catchesUp: z.boolean(),
  /** By the clock of its host. */
  addedAt: z.number(),
  /** Its config file, absolute; absent: `schedule add` added it. */
  source: z.string().optional(),
});
export type Schedule = z.infer<typeof scheduleShape>;
/** The same text for the same schedule, in any order of its parts. */
const textOf = (schedule: Schedule) => JSON.stringify(scheduleShape.parse(schedule));

const endedShape = z.object({
  dueAt: z.number().nullable(),
  startedAt: z.number(),
  endedAt: z.number(),
  exitCode: z.number(),
  /** The result, for people. */
  sentence: z.string(),
  /** The file that was written; null when there is none. */
  output: z.string().nullable(),
  /** Absent: it ended before its run began. */
  runId: z.string().optional(),
  billed: z.number().optional(),
});
/** A run that ended, successfully or not, by the clock of its host; `dueAt` null: a run by hand. */
export type EndedRun = z.infer<typeof endedShape>;

const passedShape = z.object({
  /** `skipped`: the previous run was still running. `missed`: no runner took the tick in time. */
  why: z.enum(['skipped', 'missed']),
  dueAt: z.number().nullable(),
  at: z.number(),
});
/** A tick without a run. */
export type PassedTick = z.infer<typeof passedShape>;

/** Letters, digits, `.`, `_` and `-`, 64 at most, the first a letter or a digit. */
export function isScheduleName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

/** Scopes of the key-value store: by a schedule's name, runners by host, results by its id. */
export const SCOPES = {
  schedule: 'schedule',
  runner: 'schedule-runner',
  running: 'schedule-running',
  ended: 'schedule-ended',
  /** The last runs, newest first, including that of `ended`. */
  runs: 'schedule-runs',
  passed: 'schedule-passed',
} as const;

const RUNS_KEPT = 10;
const runsShape = z.array(endedShape);

/** A runner or run whose heartbeat is older than this is gone. */
export const GONE_AFTER_MS = 30_000;

/** The scopes with results by the id of a schedule. */
export const RESULTS = [SCOPES.ended, SCOPES.runs, SCOPES.passed];

/** The queue of the ticks of one host. */
export function tickQueueOf(host: string): string {
  return `schedules-${host.replaceAll(':', '_')}`;
}

/** A schedule and its state. */
export interface ScheduleState {
  readonly schedule: Schedule;
  /** When its next tick is due; null until a runner of its host has set the clock. */
  readonly nextAt: number | null;
  readonly isRunning: boolean;
  /** No runner of its host is up. */
  readonly isHostAway: boolean;
  readonly ended: EndedRun | null;
  /** The last ten, newest first. */
  readonly runs: readonly EndedRun[];
  readonly passed: PassedTick | null;
}

export type ScheduleBook = ReturnType<typeof createScheduleBook>;

/** Its functions throw what the engine throws. */
export function createScheduleBook({ keyValues, scheduledJobs }: Engine) {
  const entryOf = (entries: Entry[], name: string) => entries.find((entry) => entry.name === name);
  const isAlive = (entries: Entry[], name: string) =>
    (entryOf(entries, name)?.ageMs ?? Number.POSITIVE_INFINITY) <= GONE_AFTER_MS;

  async function schedules(): Promise<Schedule[]> {
    const found = await keyValues.list(SCOPES.schedule);
    return found.flatMap(({ text }) => readJson(text, scheduleShape) ?? []);
  }
  async function find(name: string): Promise<Schedule | null> {
    return (await schedules()).find((each) => each.name === name) ?? null;
  }
  /** Sets the next ticks of a schedule, replacing earlier ones. */
  function setClock({ name, id, host, cron, tz }: Schedule): Promise<void> {
    return scheduledJobs.set(tickQueueOf(host), cron, tz, { name, id });
  }

  return {
    /** By name. */
    find,
    setClock,
    /** False when there is already one of this name, which stays. */
    async add(schedule: Schedule): Promise<boolean> {
      const text = textOf(schedule);
      const isNew = await keyValues.claim(SCOPES.schedule, schedule.name, text, null);
      if (isNew) await setClock(schedule);
      return isNew;
    },
    /**
     * Replaces a schedule with the same name. A run in progress finishes; the last runs stay
     * listed.
     */
    async replace(old: Schedule, schedule: Schedule): Promise<void> {
      if (old.host !== schedule.host) await scheduledJobs.remove(tickQueueOf(old.host), old.name);
      for (const scope of [SCOPES.ended, SCOPES.runs]) {
        const kept = entryOf(await keyValues.list(scope), old.id);
        if (kept !== undefined) await keyValues.put(scope, schedule.id, kept.text);
      }
      await keyValues.put(SCOPES.schedule, schedule.name, textOf(schedule));
      await setClock(schedule);
      if (old.id === schedule.id) return;
      for (const scope of RESULTS) await keyValues.remove(scope, old.id, null);
    },
    /** Adds the result of a run to those of its schedule. Only the runner calls it. */
    async noteEnded(id: string, run: EndedRun): Promise<void> {
      const before = entryOf(await keyValues.list(SCOPES.runs), id)?.text ?? '';
      const runs = [run, ...(readJson(before, runsShape) ?? [])].slice(0, RUNS_KEPT);
      await keyValues.put(SCOPES.runs, id, JSON.stringify(runs));
      await keyValues.put(SCOPES.ended, id, JSON.stringify(run));
    },
    /** By name. */
    async list(): Promise<ScheduleState[]> {
      const [found, runners, running, ended, runs, passed] = await Promise.all([
        schedules(),
        keyValues.list(SCOPES.runner),
        keyValues.list(SCOPES.running),
        keyValues.list(SCOPES.ended),
        keyValues.list(SCOPES.runs),
        keyValues.list(SCOPES.passed),
      ]);
      const clocksOf = async (host: string) => [host, await scheduledJobs.list(tickQueueOf(host))] as const;
      const hosts = new Set(found.map(({ host }) => host));
      const clocks = new Map(await Promise.all([...hosts].map(clocksOf)));
      return found.map((schedule) => ({
        schedule,
        nextAt: clocks.get(schedule.host)?.find(({ name }) => name === schedule.name)?.nextAt ?? null,
        isRunning: isAlive(running, schedule.name),
        isHostAway: !isAlive(runners, schedule.host),
        ended: readJson(entryOf(ended, schedule.id)?.text ?? '', endedShape),
        runs: readJson(entryOf(runs, schedule.id)?.text ?? '', runsShape) ?? [],
        passed: readJson(entryOf(passed, schedule.id)?.text ?? '', passedShape),
      }));
    },
    /** A run in progress continues; the next tick is removed. False: there is none of this name. */
    async remove(name: string): Promise<boolean> {
      const schedule = await find(name);
      if (schedule === null) return false;
      const isOurs = await keyValues.remove(SCOPES.schedule, name, textOf(schedule));
      await scheduledJobs.remove(tickQueueOf(schedule.host), name);
      for (const scope of RESULTS) await keyValues.remove(scope, schedule.id, null);
      return isOurs;
    },
    /** Its host runs it at once, or as soon as it is back. */
    runNow({ name, id, host }: Schedule): Promise<void> {
      return scheduledJobs.addNow(tickQueueOf(host), { name, id });
    },
  };
}

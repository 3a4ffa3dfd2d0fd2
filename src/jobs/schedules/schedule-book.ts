/** The schedules that a machine knows. Entries in the engine are for display and decide nothing. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { orderDocument } from '../../app/account-status.js';
import { readJson } from '../../core/json-text.js';
import type { Engine } from '../../engine/engine.js';
import type { Entry } from '../../engine/stores/key-value-store.js';
import { type Order, scheduleOwner } from '../../engine/stores/run-store.js';
import type { Document } from '../../run/documents.js';
import { isoTime } from '../../run/output/columns.js';
import {
  isScheduleName,
  momentShape,
  type Schedule,
  type ScheduleFiles,
  tickQueueOf,
} from './schedule-files.js';

const entryShape = z.object({
  name: z.string().refine(isScheduleName),
  id: z.string().max(64),
  host: z.string().min(1).max(255),
  /** The queue of its ticks. */
  queue: z.string().regex(/^schedules-[^:/]{1,255}-[0-9a-f]{16}$/),
});
type ScheduleEntry = z.infer<typeof entryShape>;

const sentence = z.string().max(20_000);
const endedShape = z.object({
  dueAt: momentShape.nullable(),
  startedAt: momentShape,
  endedAt: momentShape,
  exitCode: z.number().int().min(0).max(255),
  sentence,
  output: sentence.nullable(),
  /** Absent if it ended before its run began. */
  runId: z.string().max(64).optional(),
  billed: z.number().min(0).optional(),
});
/** An ended run, by the clock of its host; `dueAt` is null for a run by hand. */
export type EndedRun = z.infer<typeof endedShape>;

const passedShape = z.object({
  /** `skipped`: a pause, or the previous run was still running. `missed`: no runner in time. */
  why: z.enum(['skipped', 'missed']),
  paused: z.object({ by: sentence, at: momentShape }).optional(),
  dueAt: momentShape.nullable(),
  at: momentShape,
});
/** A tick without a run. */
export type PassedTick = z.infer<typeof passedShape>;

/** Scopes of the key-value store: runners by queue, other entries by queue and name. */
export const SCOPES = {
  schedule: 'schedule',
  runner: 'schedule-runner',
  running: 'schedule-running',
  runs: 'schedule-runs',
  passed: 'schedule-passed',
} as const;

const RUNS_KEPT = 10;
const runsShape = z.array(endedShape);

/** A runner or run with an older heartbeat has ended. */
export const GONE_AFTER_MS = 30_000;

/** Returns the name of a schedule in the key-value store. */
export function keyOf({ queue, name }: Pick<ScheduleEntry, 'queue' | 'name'>): string {
  return `${queue}/${name}`;
}

/** Returns the job of a tick for orders; `holder` is the id of the tick in its queue. */
export function tickJob(key: string, holder: string): string {
  return `${key}/${holder}`;
}

export type ScheduleState = Awaited<ReturnType<ScheduleBook['list']>>[number];

export type ScheduleBook = ReturnType<typeof createScheduleBook>;

/** Creates the book of this machine. Its functions throw what engine and files throw. */
export function createScheduleBook(
  { keyValues, scheduledJobs, runs }: Pick<Engine, 'keyValues' | 'scheduledJobs' | 'runs'>,
  files: ScheduleFiles,
  ownHost = hostname(),
) {
  const entryOf = (entries: Entry[], name: string) => entries.find((entry) => entry.name === name);
  const isAlive = (entries: Entry[], name: string) =>
    (entryOf(entries, name)?.ageMs ?? Number.POSITIVE_INFINITY) <= GONE_AFTER_MS;

  async function entryFor({ name, id, host }: Schedule): Promise<ScheduleEntry> {
    return { name, id, host, queue: tickQueueOf(host, await files.giveMachineId()) };
  }

  async function announce(schedule: Schedule): Promise<void> {
    const entry = await entryFor(schedule);
    const { name, id, queue } = entry;
    await keyValues.put(SCOPES.schedule, keyOf(entry), JSON.stringify(entry));
    await scheduledJobs.set(queue, schedule.cron, schedule.tz, { name, id });
  }

  async function forget(entry: Pick<ScheduleEntry, 'queue' | 'name'>): Promise<void> {
    const key = keyOf(entry);
    await keyValues.remove(SCOPES.schedule, key, null);
    await scheduledJobs.remove(entry.queue, entry.name);
    for (const scope of [SCOPES.runs, SCOPES.passed]) await keyValues.remove(scope, key, null);
    await runs.resume(scheduleOwner(key));
  }

  async function entries(): Promise<ScheduleEntry[]> {
    const found = await keyValues.list(SCOPES.schedule);
    return found.flatMap(({ name, text }) => {
      const entry = readJson(text, entryShape);
      return entry !== null && keyOf(entry) === name ? entry : [];
    });
  }

  return {
    announce,
    find: files.find,
    /** Adds a schedule; returns false if this machine already has one of this name. */
    async add(schedule: Schedule): Promise<boolean> {
      const isNew = await files.add(schedule);
      if (isNew) await announce(schedule);
      return isNew;
    },
    /** Replaces a schedule of the same name; a run in progress finishes, and the last runs stay. */
    async replace(old: Schedule, schedule: Schedule): Promise<void> {
      await files.replace(schedule);
      if (old.host !== schedule.host) await forget(await entryFor(old));
      await announce(schedule);
    },
    /** Adds the result of a run to its schedule, for the runner only. */
    async noteEnded(key: string, run: EndedRun): Promise<void> {
      const before = entryOf(await keyValues.list(SCOPES.runs), key)?.text ?? '';
      const latest = [run, ...(readJson(before, runsShape) ?? [])].slice(0, RUNS_KEPT);
      await keyValues.put(SCOPES.runs, key, JSON.stringify(latest));
    },
    /** Returns schedules of this machine that the engine lacks, or has with another definition. */
    async unannounced(queue: string, own: readonly Schedule[]): Promise<Schedule[]> {
      const [known, clocks] = await Promise.all([entries(), scheduledJobs.list(queue)]);
      return own.filter(({ name, id, host, cron, tz }) => {
        const isNamed = (each: { name: string; id: string | null }) => each.name === name && each.id === id;
        const entry = known.find((each) => isNamed(each) && each.queue === queue && each.host === host);
        return !(entry && clocks.some((each) => isNamed(each) && each.cron === cron && each.tz === tz));
      });
    },
    /** Lists the schedules of this machine, then those of others, each by name. */
    async list() {
      const [defined, found, machineId] = await Promise.all([files.all(), entries(), files.machineId()]);
      const own = defined.map((schedule) => {
        const { name, id, host } = schedule;
        return { name, id, host, queue: tickQueueOf(host, machineId ?? ''), schedule };
      });
      const others = found
        .filter((entry) => !own.some((each) => keyOf(each) === keyOf(entry)))
        .map((entry) => ({ ...entry, schedule: null }));
      const listed: (ScheduleEntry & { schedule: Schedule | null })[] = [...own, ...others];
      if (listed.length === 0) return [];
      const [runners, running, last, passed, pauses] = await Promise.all([
        keyValues.list(SCOPES.runner),
        keyValues.list(SCOPES.running),
        keyValues.list(SCOPES.runs),
        keyValues.list(SCOPES.passed),
        runs.pauses(),
      ]);
      const clocksOf = async (queue: string) => [queue, await scheduledJobs.list(queue)] as const;
      const queues = new Set(listed.map(({ queue }) => queue));
      const clocks = new Map(await Promise.all([...queues].map(clocksOf)));
      return listed.map((each) => {
        const key = keyOf(each);
        const latest = readJson(entryOf(last, key)?.text ?? '', runsShape) ?? [];
        const paused: Order | null = pauses.find(({ owner }) => owner === scheduleOwner(key)) ?? null;
        return {
          ...each,
          /** The engine has it for this machine, but no file defines it, so it never runs. */
          isMissing: each.schedule === null && each.host === ownHost,
          /** Null until a runner of its host has set the clock. */
          nextAt: clocks.get(each.queue)?.find(({ name }) => name === each.name)?.nextAt ?? null,
          isRunning: isAlive(running, key),
          isHostOffline: !isAlive(runners, each.queue),
          ended: latest[0] ?? null,
          /** The last ten, newest first. */
          runs: latest,
          passed: readJson(entryOf(passed, key)?.text ?? '', passedShape),
          paused,
        };
      });
    },
    /** Returns the job of the current tick, or null. Only its machine knows a paused tick. */
    async tickUnderWay(owner: string): Promise<string | null> {
      const running = await keyValues.list(SCOPES.running);
      const found = running.find(({ name }) => scheduleOwner(name) === owner && isAlive(running, name));
      if (found !== undefined) return tickJob(found.name, found.text);
      const own = await Promise.all((await files.all()).map(entryFor));
      const entry = own.find((each) => scheduleOwner(keyOf(each)) === owner);
      const { job = null } = (entry && (await files.begun(entry.name))) ?? {};
      return entry && job !== null ? tickJob(keyOf(entry), job) : null;
    },
    /** Removes a schedule of this machine and its next tick; a run in progress continues. */
    async remove(schedule: Schedule): Promise<void> {
      await files.remove(schedule.name);
      await forget(await entryFor(schedule));
    },
    forget,
    /** Lets its host run it now, or as soon as the host is back. */
    runNow({ name, id, queue }: ScheduleEntry): Promise<void> {
      return scheduledJobs.addNow(queue, { name, id });
    },
  };
}

/** Returns this machine's `NAME` or `NAME@HOST`, else the only such schedule, else all of them. */
export function chooseSchedule<S extends Pick<ScheduleState, 'name' | 'host' | 'schedule'>>(
  states: readonly S[],
  said: string,
): S | readonly S[] {
  const [name, host] = said.split('@', 2);
  const named = states.filter((each) => each.name === name && (host === undefined || each.host === host));
  const [own] = named.filter(({ schedule }) => schedule !== null);
  return own ?? (named.length === 1 && named[0] ? named[0] : named);
}

/** Returns why a schedule cannot run by hand, or null; runners skip orders during a run. Pure. */
export function obstacleOf({
  isMissing,
  paused,
  isRunning,
  isHostOffline,
}: Pick<ScheduleState, 'isMissing' | 'paused' | 'isRunning' | 'isHostOffline'>) {
  if (isMissing) return { why: 'missing' } as const;
  if (paused !== null) return { why: 'paused', order: paused } as const;
  if (isRunning) return { why: 'running' } as const;
  return isHostOffline ? ({ why: 'offline' } as const) : null;
}

type ScheduleDocument = Document<'schedules'>['schedules'][number];

const UNKNOWN = { line: null, cron: null, tz: null, input: null, catchesUp: null, source: null } as const;

const textOf = (at: number) => new Date(at).toISOString();

/** Returns the document of a schedule without its state. */
export function addedDocument(schedule: Schedule): Document<'schedule-add'>['schedule'] {
  const { name, line, cron, tz, host, input, catchesUp, source = null } = schedule;
  return { name, line, cron, tz, host, input, catchesUp, source, addedAt: textOf(schedule.addedAt) };
}

/** Returns the document of a schedule; its definition is null if another machine has it. */
export function scheduleDocument(state: ScheduleState): ScheduleDocument {
  const { name, host, schedule, isMissing, nextAt, isRunning, isHostOffline, ended, runs, passed } = state;
  const definition = schedule === null ? (isMissing ? 'missing' : 'elsewhere') : 'here';
  return {
    ...(schedule === null ? { ...UNKNOWN, addedAt: null, name, host } : addedDocument(schedule)),
    definition,
    nextAt: isoTime(nextAt),
    isRunning,
    isHostUp: !isHostOffline,
    last: ended && endedDocument(ended),
    runs: runs.map(endedDocument),
    passed: passed && {
      why: passed.why,
      dueAt: isoTime(passed.dueAt),
      at: textOf(passed.at),
      paused: orderDocument(passed.paused ?? null),
    },
    paused: orderDocument(state.paused),
  };
}

function endedDocument({ dueAt, startedAt, endedAt, exitCode, sentence, output }: EndedRun) {
  const times = { dueAt: isoTime(dueAt), startedAt: textOf(startedAt), endedAt: textOf(endedAt) };
  return { ...times, exitCode, sentence, output };
}

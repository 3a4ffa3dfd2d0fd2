/** Schedules as parts of documents: times as text, without flags. Pure. */
import { orderDocument } from '../../app/account-status.js';
import type { Document } from '../../run/documents.js';
import { isoTime } from '../../run/output/columns.js';
import type { EndedRun, ScheduleState } from './schedule-book.js';
import type { Schedule } from './schedule-files.js';

type ScheduleDocument = Document<'schedules'>['schedules'][number];

const UNKNOWN = { line: null, cron: null, tz: null, input: null, catchesUp: null, source: null } as const;

const textOf = (at: number) => new Date(at).toISOString();

/** A schedule without its state. */
export function addedDocument(schedule: Schedule): Document<'schedule-add'>['schedule'] {
  const { name, line, cron, tz, host, input, catchesUp, source = null } = schedule;
  return { name, line, cron, tz, host, input, catchesUp, source, addedAt: textOf(schedule.addedAt) };
}

/** What it runs is null for one that is defined elsewhere. */
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

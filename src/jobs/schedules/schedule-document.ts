/** Schedules as parts of documents: times as text, without flags. Pure. */
import { orderDocument } from '../../app/account-status.js';
import type { Document } from '../../run/documents.js';
import { isoTime } from '../../run/output/columns.js';
import type { EndedRun, ScheduleState } from './schedule-book.js';
import type { Schedule } from './schedule-files.js';

type ScheduleDocument = Document<'schedules'>['schedules'][number];

const UNKNOWN = {
  line: null,
  cron: null,
  tz: null,
  input: null,
  catchesUp: null,
  source: null,
  addedAt: null,
} as const;

/** A schedule without its state. */
export function addedDocument(schedule: Schedule): Document<'schedule-add'>['schedule'] {
  const { name, line, cron, tz, host, input, catchesUp, source = null } = schedule;
  const addedAt = new Date(schedule.addedAt).toISOString();
  return { name, line, cron, tz, host, input, catchesUp, source, addedAt };
}

/** What it runs is null for one that is defined elsewhere. */
export function scheduleDocument(state: ScheduleState): ScheduleDocument {
  const { name, host, schedule, isMissing, nextAt, isRunning, isHostOffline, ended, runs, passed } = state;
  const definition = schedule === null ? (isMissing ? 'missing' : 'elsewhere') : 'here';
  return {
    ...(schedule === null ? { ...UNKNOWN, name, host } : addedDocument(schedule)),
    definition,
    nextAt: isoTime(nextAt),
    isRunning,
    isHostUp: !isHostOffline,
    last: ended && endedDocument(ended),
    runs: runs.map(endedDocument),
    passed: passed && {
      why: passed.why,
      dueAt: isoTime(passed.dueAt),
      at: new Date(passed.at).toISOString(),
      paused: orderDocument(passed.paused ?? null),
    },
    paused: orderDocument(state.paused),
  };
}

function endedDocument(run: EndedRun): ScheduleDocument['runs'][number] {
  const { exitCode, sentence, output } = run;
  return {
    dueAt: isoTime(run.dueAt),
    startedAt: new Date(run.startedAt).toISOString(),
    endedAt: new Date(run.endedAt).toISOString(),
    exitCode,
    sentence,
    output,
  };
}

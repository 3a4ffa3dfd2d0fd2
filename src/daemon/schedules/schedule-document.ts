/** Schedules as parts of documents: times as text, without flags. Pure. */
import type { Document } from '../../core/documents.js';
import { isoTime } from '../../run/output/columns.js';
import type { Schedule, ScheduleState } from './schedule-book.js';

type ScheduleDocument = Document<'schedules'>['schedules'][number];

/** A schedule without its state. */
export function addedDocument(schedule: Schedule): Document<'schedule-add'>['schedule'] {
  const { name, line, cron, tz, host, input, catchesUp, addedAt } = schedule;
  return { name, line, cron, tz, host, input, catchesUp, addedAt: new Date(addedAt).toISOString() };
}

export function scheduleDocument(state: ScheduleState): ScheduleDocument {
  const { schedule, nextAt, isRunning, isHostAway, ended, passed } = state;
  return {
    ...addedDocument(schedule),
    nextAt: isoTime(nextAt),
    isRunning,
    isHostUp: !isHostAway,
    isHostAway,
    last: ended && {
      dueAt: isoTime(ended.dueAt),
      startedAt: new Date(ended.startedAt).toISOString(),
      endedAt: new Date(ended.endedAt).toISOString(),
      exitCode: ended.exitCode,
      sentence: ended.sentence,
      output: ended.output,
    },
    passed: passed && {
      why: passed.why,
      dueAt: isoTime(passed.dueAt),
      at: new Date(passed.at).toISOString(),
    },
  };
}

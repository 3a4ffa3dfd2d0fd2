/** Schedules as parts of documents: times as text, without flags. Pure. */
import type { Document } from '../../core/documents.js';
import { isoTime } from '../../run/output/columns.js';
import type { EndedRun, Schedule, ScheduleState } from './schedule-book.js';

type ScheduleDocument = Document<'schedules'>['schedules'][number];

/** A schedule without its state. */
export function addedDocument(schedule: Schedule): Document<'schedule-add'>['schedule'] {
  const { name, line, cron, tz, host, input, catchesUp, source = null } = schedule;
  const addedAt = new Date(schedule.addedAt).toISOString();
  return { name, line, cron, tz, host, input, catchesUp, source, addedAt };
}

export function scheduleDocument(state: ScheduleState): ScheduleDocument {
  const { schedule, nextAt, isRunning, isHostAway, ended, runs, passed } = state;
  return {
    ...addedDocument(schedule),
    nextAt: isoTime(nextAt),
    isRunning,
    isHostUp: !isHostAway,
    isHostAway,
    last: ended && endedDocument(ended),
    runs: runs.map(endedDocument),
    passed: passed && {
      why: passed.why,
      dueAt: isoTime(passed.dueAt),
      at: new Date(passed.at).toISOString(),
    },
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

/**
 * What a schedule is and what its ticks come to: the shapes that lie in the engine as texts, and how they are read back.
 * Who keeps them is `schedule-book.ts`.
 */
import { z } from 'zod';

/** Flags of a run by key, as the command line gives them. */
const flagsShape = z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())]));

const scheduleShape = z.object({
  name: z.string(),
  /** Another for every schedule that was ever added, whatever its name. */
  id: z.string(),
  cron: z.string(),
  /** A name of the IANA time zone database. */
  tz: z.string(),
  /** The machine whose files it reads. */
  host: z.string(),
  /** The command as it was said, for people. */
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
  /** What it came to, for people. */
  sentence: z.string(),
  /** The file that was written; null when there is none. */
  output: z.string().nullable(),
});
/** A run that came to an end, well or not. */
export type EndedRun = z.infer<typeof endedShape>;

const passedShape = z.object({
  /** `skipped`: the run before was still going. `missed`: nobody took the tick in time. */
  why: z.enum(['skipped', 'missed']),
  dueAt: z.number().nullable(),
  at: z.number(),
});
/** A tick that nothing was run for. */
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

/** null for a text that none of ours is, such as one of a later release. */
export const readSchedule = reader(scheduleShape);
export const readEndedRun = reader(endedShape);
export const readPassedTick = reader(passedShape);

/** Letters, digits, `.`, `_` and `-`, 64 at most, the first a letter or a digit. */
export function isScheduleName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

/**
 * Whether a tick that somebody took is run, or was missed. Pure.
 */

/** A tick that is taken later than this was missed: the machine or its runner was away. */
export const LATE_AFTER_MS = 60_000;

export interface TakenTick {
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

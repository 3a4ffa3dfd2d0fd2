/**
 * What `schedule list` says, in words. Pure.
 */

import { visibleLines } from '../core/terminal-text.js';
import type { ScheduleState } from '../daemon/schedules/schedule-book.js';

/** `2026-01-14 02:00:00` in the schedule's own zone, which is named. */
export function zonedTime(ms: number, tz: string): string {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'medium' });
  return `${text.format(ms)} ${tz}`;
}

/** `host` is this machine's name, `now` in milliseconds. */
export function schedulesText(
  states: readonly ScheduleState[],
  { host, now }: { readonly host: string; readonly now: number },
): string {
  if (states.length === 0) return 'no schedules\n';
  return states.map((state) => visibleLines(scheduleLines(state, host, now))).join('\n');
}

function scheduleLines(state: ScheduleState, ownHost: string, now: number): string[] {
  const { name, cron, tz, host, line, catchesUp } = state.schedule;
  const where = host === ownHost ? `${host} (this machine)` : host;
  const lines = [
    `${name}`,
    `  runs     ${line}`,
    `  when     ${cron} (${tz})${catchesUp ? ', missed ones on return' : ''}`,
    `  host     ${where}${state.isHostAway ? ', away: nobody takes its ticks until `brand-enrich up` or `schedule serve` runs there' : ''}`,
    `  next     ${nextText(state, now)}`,
    `  last     ${lastText(state)}`,
  ];
  if (state.isRunning) lines.push('  now      running');
  if (state.passed !== null && state.passed.at > (state.ended?.startedAt ?? 0)) {
    lines.push(
      `  ${state.passed.why.padEnd(8)} ${zonedTime(state.passed.dueAt ?? state.passed.at, tz)}: ${
        state.passed.why === 'skipped'
          ? 'the run before was still going'
          : 'nobody was there in time to run it'
      }`,
    );
  }
  return lines;
}

function nextText({ nextAt, schedule }: ScheduleState, now: number): string {
  if (nextAt === null) return 'not known before a runner of its host is there';
  return nextAt < now ? `was due ${zonedTime(nextAt, schedule.tz)}` : zonedTime(nextAt, schedule.tz);
}

function lastText({ ended, schedule }: ScheduleState): string {
  if (ended === null) return 'none yet';
  const file = ended.output === null ? '' : `, ${ended.output}`;
  return `${zonedTime(ended.startedAt, schedule.tz)}, exit code ${ended.exitCode}: ${ended.sentence}${file}`;
}

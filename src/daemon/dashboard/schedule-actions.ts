/** "Run now" of a schedule, on the machine whose files it reads. */
import { NeverStartError, usageProblem } from '../../core/errors.js';
import { weekdayText } from '../../core/figures.js';
import type { ScheduleBook, ScheduleState } from '../schedules/schedule-book.js';
import type { Action } from './actions.js';
import type { DashboardView } from './gather-dashboard.js';

/** Its due times stay as they are. */
export function scheduleActions(
  book: Pick<ScheduleBook, 'list' | 'runNow'>,
  look: () => Promise<Pick<DashboardView, 'outageNoticedAt'>>,
): Action[] {
  async function ready({ name = '' }: Readonly<Record<string, string>>): Promise<ScheduleState> {
    // It would take effect when the engine is back: then nobody expects it any more.
    if ((await look()).outageNoticedAt !== null)
      throw refused('the engine does not answer', name, 'try again when it does');
    const state = (await book.list()).find(({ schedule }) => schedule.name === name);
    if (state === undefined) throw refused('no such schedule', name, 'reload the page');
    const { schedule, isRunning, isHostAway } = state;
    if (isRunning) throw refused('the schedule is running', name, 'wait until it has ended');
    if (isHostAway) {
      const todo = 'start `brand-enrich up` or `brand-enrich schedule serve` there';
      throw refused('its machine is offline', `${name} on ${schedule.host}`, todo);
    }
    return state;
  }
  return [
    {
      path: '/schedules/:name/run',
      async ask({ params }) {
        const { schedule, nextAt } = await ready(params);
        const { name, line, host, tz } = schedule;
        const next =
          nextAt === null ? '' : ` The next scheduled run is still ${weekdayText(nextAt, tz)} ${tz}.`;
        return {
          title: `Run ${name} now?`,
          lines: [
            `It runs \`${line}\` on ${host}.${next}`,
            'It can cost money: every identifier without a stored answer needs a request, up to the quota and the budget of the schedule.',
          ],
          yes: 'Run now',
        };
      },
      async carryOut({ params }) {
        const { schedule } = await ready(params);
        const { name, host } = schedule;
        await book.runNow(schedule);
        return { path: '/', sentence: `${name} runs now on ${host}.`, subject: name };
      },
    },
  ];
}

export function runNowPath(name: string): string {
  return `/schedules/${encodeURIComponent(name)}/run`;
}

function refused(what: string, subject: string, todo: string): NeverStartError {
  return new NeverStartError(usageProblem(what, subject, todo));
}

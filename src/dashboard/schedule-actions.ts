/** A schedule is run now, on the machine whose files it reads, is paused, and resumed. */
import { weekdayText } from '../core/figures.js';
import { pausedText, scheduleOwner } from '../engine/stores/run-store.js';
import { type OrderStores, resume } from '../jobs/file-orders.js';
import {
  chooseSchedule,
  keyOf,
  obstacleOf,
  type ScheduleBook,
  type ScheduleState,
} from '../jobs/schedules/schedule-book.js';
import { type Action, actionOn, noEngine, RefusedAction } from './actions.js';
import type { DashboardView } from './gather-dashboard.js';

/** Due times stay as they are: those of a paused schedule are skipped. */
export function scheduleActions(
  book: Pick<ScheduleBook, 'list' | 'runNow'>,
  engine: OrderStores,
  look: () => Promise<Pick<DashboardView, 'outageNoticedAt'>>,
): Action[] {
  async function find({ id }: { readonly id: string }): Promise<ScheduleState> {
    if ((await look()).outageNoticedAt !== null) throw noEngine(id);
    const state = chooseSchedule(await book.list(), id);
    if (!('name' in state)) throw new RefusedAction('not-found', 'no such schedule', id);
    return state;
  }
  async function findReady(input: { readonly id: string }): Promise<ScheduleState> {
    const state = await find(input);
    const { name, host } = state;
    const obstacle = obstacleOf(state);
    if (obstacle === null) return state;
    const order = obstacle.why === 'paused' ? pausedText(obstacle.order) : '';
    const subject = obstacle.why === 'offline' ? `${name} on ${host}` : name;
    const refusals = {
      missing: [`definition missing on ${host}`, 'add it there, or remove it'],
      paused: [`the schedule is ${order}`, 'resume it first'],
      running: ['the schedule is running', 'wait until it has ended'],
      offline: ['its machine is offline', 'start `brand-enrich up` or `brand-enrich schedule serve` there'],
    } as const;
    const [what, todo] = refusals[obstacle.why];
    throw new RefusedAction('not-now', what, subject, todo);
  }
  const done = (subject: string, words: string) => ({ path: '/', sentence: `${subject} ${words}`, subject });
  return [
    actionOn('/schedules/:id/run', findReady, {
      async ask({ name, host, schedule, nextAt }) {
        const tz = schedule?.tz ?? 'UTC';
        const what = schedule === null ? `what ${host} defines` : `\`${schedule.line}\``;
        const next =
          nextAt === null ? '' : ` The next scheduled run is still ${weekdayText(nextAt, tz)} ${tz}.`;
        return {
          title: `Run ${name} now?`,
          lines: [
            `It runs ${what} on ${host}.${next}`,
            'It can cost money: every company without a stored answer needs a paid lookup, up to ' +
              'the quota and the budget of the schedule.',
          ],
          yes: 'Run now',
        };
      },
      async carryOut(state) {
        await book.runNow(state);
        return done(state.name, `runs now on ${state.host}.`);
      },
    }),
    actionOn('/schedules/:id/pause', find, {
      async carryOut(state, { user: by }) {
        const label = { host: null, name: state.name };
        await engine.runs.pauseOwner({ owner: scheduleOwner(keyOf(state)), label, by, run: null });
        return done(state.name, 'is paused: its next runs are skipped');
      },
    }),
    actionOn('/schedules/:id/resume', find, {
      async ask({ name }) {
        const lines = ['It runs again when it is due. A run that was paused continues within seconds.'];
        return { title: `Resume ${name}?`, lines, yes: 'Resume' };
      },
      async carryOut(state) {
        await resume(engine, scheduleOwner(keyOf(state)));
        return done(state.name, 'is resumed');
      },
    }),
  ];
}

/** One of another machine is said with its host. */
export function schedulePath(
  { name, host, schedule }: Pick<ScheduleState, 'name' | 'host' | 'schedule'>,
  action: 'run' | 'pause' | 'resume',
): string {
  return `/schedules/${encodeURIComponent(schedule === null ? `${name}@${host}` : name)}/${action}`;
}

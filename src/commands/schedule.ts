/**
 * The schedule commands: `add`, `list`, `remove` and `run-now` read and change the schedules;
 * `serve` runs those of this machine when they are due, until it is stopped.
 */
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { CommandName } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { type CommandContext, logOpened, openEngineContext, openStores } from '../context/open-context.js';
import { systemClock } from '../core/clock.js';
import { EXIT, type ExitCode, NeverStartError, throwProblems, usageProblem } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import { printJson, printText, visibleLines } from '../core/terminal-text.js';
import {
  createScheduleBook,
  isScheduleName,
  type Schedule,
  type ScheduleBook,
  type ScheduleState,
} from '../daemon/schedules/schedule-book.js';
import { findCronProblem, findTimeZoneProblem, nextTickAt } from '../daemon/schedules/schedule-times.js';
import { readScheduledCommand } from '../daemon/schedules/scheduled-command.js';
import { createHostedScheduleRunner } from '../daemon/schedules/scheduled-run.js';

/** Address and token are the runner's: where a schedule is added, they need not be known. */
const KNOWN_LATER = { BRAND_API_URL: 'https://service.invalid', BRAND_API_TOKEN: 'known-later' };

interface Answer {
  readonly data: unknown;
  readonly text: string;
}

/** Throws `NeverStartError` for arguments it cannot use, and what opening the engine throws. */
export function runSchedule(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  context: CommandContext,
): Promise<ExitCode> {
  if (command === 'schedule serve') return serveSchedules(settings, context);
  const schedule = command === 'schedule add' ? readNewSchedule(args, settings, context) : null;
  return withReleasers(async (releasers) => {
    const stores = await openStores(settings, context, releasers);
    const book = createScheduleBook(stores);
    const answer =
      schedule === null ? await carryOut(command, args[0] ?? '', book) : await add(schedule, book, context);
    if (settings.json) printJson(context.stdout, answer.data);
    else printText(context.stdout, answer.text);
    return EXIT.done;
  });
}

function readNewSchedule(args: readonly string[], settings: Settings, context: CommandContext): Schedule {
  const [name = '', ...command] = args;
  const tz = settings.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const problems = [];
  if (!isScheduleName(name)) {
    problems.push(
      usageProblem('not a name for a schedule', name, 'write up to 64 letters, digits, ".", "_" and "-"'),
    );
  }
  const zoneProblem = findTimeZoneProblem(tz);
  if (zoneProblem !== null) {
    problems.push(usageProblem(`not ${zoneProblem}`, `--tz ${tz}`, 'write one such as Europe/Berlin'));
  }
  if (settings.cron === null) {
    problems.push(usageProblem('--cron is missing', name, "give the time, for example --cron '0 2 * * *'"));
  } else {
    const cronProblem = zoneProblem === null ? findCronProblem(settings.cron, tz, Date.now()) : null;
    if (cronProblem !== null) {
      problems.push(
        usageProblem(
          `not a cron expression (${cronProblem})`,
          `--cron ${settings.cron}`,
          "write one such as '0 2 * * *'",
        ),
      );
    }
  }
  throwProblems(problems);
  const read = readScheduledCommand(command, context.folder, (of, flags) =>
    context.load(of, flags, KNOWN_LATER),
  );
  return {
    name,
    id: randomBytes(8).toString('hex'),
    cron: settings.cron ?? '',
    tz,
    host: hostname(),
    ...read,
    catchesUp: settings.catchUp,
    addedAt: Date.now(),
  };
}

async function add(schedule: Schedule, book: ScheduleBook, { stderr }: CommandContext): Promise<Answer> {
  const { name, cron, tz, host, input } = schedule;
  if (!(await book.add(schedule))) {
    throwProblems([
      usageProblem(
        'there is a schedule of this name',
        name,
        `remove it first: brand-enrich schedule remove ${name}`,
      ),
    ]);
  }
  await access(input).catch(() => printText(stderr, `note: ${input} does not exist yet\n`));
  const state = (await book.list()).find((each) => each.schedule.name === name);
  const unavailable = state?.isHostAway
    ? `; start \`brand-enrich up\` or \`brand-enrich schedule serve\` on ${host} to run it`
    : '';
  const nextAt = nextTickAt(cron, tz, Date.now());
  return {
    data: { schedule, nextAt },
    text: `${name} is added; next run ${zonedTime(nextAt, tz)}${unavailable}\n`,
  };
}

async function carryOut(command: CommandName, name: string, book: ScheduleBook): Promise<Answer> {
  if (command === 'schedule list') {
    const states = await book.list();
    return { data: states, text: schedulesText(states, { host: hostname(), now: Date.now() }) };
  }
  if (command === 'schedule remove') {
    if (!(await book.remove(name))) throw unknownSchedule(name);
    return { data: { removed: name }, text: `${name} is removed; a run in progress finishes\n` };
  }
  const state = (await book.list()).find((each) => each.schedule.name === name);
  if (state === undefined) throw unknownSchedule(name);
  await book.runNow(state.schedule);
  const { host } = state.schedule;
  return {
    data: { asked: name, isHostAway: state.isHostAway },
    text: state.isHostAway
      ? `${name} runs as soon as \`brand-enrich up\` or \`brand-enrich schedule serve\` is started on ${host}\n`
      : `${name} runs on ${host}; \`brand-enrich schedule list\` shows the result\n`,
  };
}

function unknownSchedule(name: string): Error {
  return new NeverStartError({
    code: 'usage-invalid',
    what: 'there is no such schedule',
    subject: name,
    todo: '`brand-enrich schedule list` shows them',
  });
}

function serveSchedules(settings: Settings, context: CommandContext): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { log, stop, graceMs } = context;
    const opened = await openEngineContext(settings, context, releasers);
    const { engine } = opened;
    logOpened(opened, false, log);
    const runner = createHostedScheduleRunner({
      ...opened,
      settings,
      load: context.load,
      streams: context,
      shared: null,
      clock: systemClock,
      log,
      graceMs,
    });
    releasers.push(() => runner.stop());
    await runner.start();
    log.info({ host: hostname(), engine: engine.address }, 'running the schedules of this machine');
    await untilAborted(stop);
    return EXIT.done;
  });
}

/** `2026-01-14 02:00:00` in the schedule's time zone, with its name. */
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
    `  when     ${cron} (${tz})${catchesUp ? ', a missed run is caught up' : ''}`,
    `  host     ${where}${state.isHostAway ? ', not running: start `brand-enrich up` or `brand-enrich schedule serve` there' : ''}`,
    `  next     ${nextText(state, now)}`,
    `  last     ${lastText(state)}`,
  ];
  if (state.isRunning) lines.push('  now      running');
  if (state.passed !== null && state.passed.at > (state.ended?.startedAt ?? 0)) {
    lines.push(
      `  ${state.passed.why.padEnd(8)} ${zonedTime(state.passed.dueAt ?? state.passed.at, tz)}: ${
        state.passed.why === 'skipped' ? 'the previous run was still going' : 'no runner was there in time'
      }`,
    );
  }
  return lines;
}

function nextText({ nextAt, schedule }: ScheduleState, now: number): string {
  if (nextAt === null) return 'not known until a runner of its host is up';
  return nextAt < now ? `was due ${zonedTime(nextAt, schedule.tz)}` : zonedTime(nextAt, schedule.tz);
}

function lastText({ ended, schedule }: ScheduleState): string {
  if (ended === null) return 'none yet';
  const file = ended.output === null ? '' : `, ${ended.output}`;
  return `${zonedTime(ended.startedAt, schedule.tz)}, exit code ${ended.exitCode}: ${ended.sentence}${file}`;
}

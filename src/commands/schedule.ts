/** The schedule commands; `serve` runs the schedules of this machine until it is stopped. */
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { hostname } from 'node:os';
import { logOpened, openEngineContext, stopWithEngine } from '../app/open-context.js';
import { systemClock } from '../core/clock.js';
import { ConfigError, EXIT, type ExitCode, usageProblem } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import { printText, visibleLines } from '../core/terminal-text.js';
import { pausedText } from '../engine/stores/run-store.js';
import {
  addedDocument,
  chooseSchedule,
  createScheduleBook,
  obstacleOf,
  type ScheduleBook,
  type ScheduleState,
  scheduleDocument,
} from '../jobs/schedules/schedule-book.js';
import { createScheduleFiles, type Schedule } from '../jobs/schedules/schedule-files.js';
import { localTime, nextTickAt, readSchedule } from '../jobs/schedules/scheduled-command.js';
import { createHostedScheduleRunner } from '../jobs/schedules/scheduled-run.js';
import type { Document } from '../run/documents.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';

const HOSTS = '`brand-enrich up` or `brand-enrich schedule serve`';

/** Carries out a command. Throws `ConfigError` for bad arguments, and as opening the engine. */
export async function runSchedule(call: CommandCall): Promise<ExitCode> {
  if (call.command === 'schedule serve') return serveSchedules(call);
  const schedule = call.command === 'schedule add' ? readNewSchedule(call) : null;
  return answerFrom(call, (stores) => {
    const book = createScheduleBook(stores, createScheduleFiles(call.settings.state));
    return schedule === null ? carryOut(call, book) : add(schedule, book, call);
  });
}

function readNewSchedule({ args, settings, folder, load }: CommandCall): Schedule {
  const [name = '', ...argv] = args;
  const { cron, tz, catchUp: catchesUp } = settings;
  const id = randomBytes(8).toString('hex');
  return { ...readSchedule({ name, cron, tz, catchesUp, argv }, folder, load, 'flags'), id };
}

async function add(schedule: Schedule, book: ScheduleBook, call: CommandCall): Promise<Answer> {
  const { name, cron, tz, host, input } = schedule;
  const { stderr, settings } = call;
  const old = await book.find(name);
  if (old?.source !== undefined) {
    const todo = `change it in ${old.source} on ${old.host}, or choose another name`;
    throw new ConfigError(usageProblem('a config file has a schedule with this name', name, todo));
  }
  if (old !== null && settings.replace) await book.replace(old, schedule);
  else if (!(await book.add(schedule))) {
    const todo = `add --replace, or remove it first: brand-enrich schedule remove ${name}`;
    throw new ConfigError(usageProblem('a schedule with this name exists', name, todo));
  }
  await access(input).catch(() => printText(stderr, `note: ${input} does not exist yet\n`));
  const state = (await book.list()).find((each) => each.schedule?.id === schedule.id);
  const start = state?.isHostOffline
    ? `; to run it, start ${HOSTS} on ${host} with the state folder ${settings.state}`
    : '';
  const nextAt = nextTickAt(cron, tz, Date.now());
  const data = { schedule: addedDocument(schedule), nextAt: new Date(nextAt).toISOString() };
  const done = old === null ? 'added' : 'replaced';
  return answerLine(data, `${name} is ${done}; next run ${zonedTime(nextAt, tz)}${start}`);
}

async function carryOut({ command, args }: CommandCall, book: ScheduleBook): Promise<Answer> {
  const [named = ''] = args;
  const states = await book.list();
  if (command === 'schedule list') {
    const data: Document<'schedules'> = { schedules: states.map(scheduleDocument) };
    return { data, text: schedulesText(states, { host: hostname(), now: Date.now() }) };
  }
  const state = oneOf(states, named);
  const { name, host, schedule, isHostOffline } = state;
  if (command === 'schedule remove') {
    if (schedule !== null) await book.remove(schedule);
    else if (state.isMissing || isHostOffline) await book.forget(state);
    else throw refused('this schedule is defined on another machine', name, `remove it on ${host}`);
    const again =
      schedule?.source !== undefined
        ? `; the next start adds it again unless ${schedule.source} changes`
        : schedule === null && !state.isMissing
          ? `; ${host} lists it again when it is up, unless it is removed there`
          : '';
    return answerLine({ removed: name }, `${name} is removed; a run in progress finishes${again}`);
  }
  const obstacle = obstacleOf(state);
  switch (obstacle?.why) {
    case 'missing':
      throw refused(`definition missing on ${host}`, name, `add it there, or remove it: ${REMOVE} ${name}`);
    case 'paused':
      throw refused(
        `it is ${pausedText(obstacle.order)}`,
        named,
        `\`brand-enrich resume ${named}\` allows it again`,
      );
    case 'running':
      throw refused(
        'the schedule is running',
        named,
        'wait until it has ended: `brand-enrich schedule list` shows it',
      );
  }
  await book.runNow(state);
  const when = isHostOffline
    ? `as soon as ${HOSTS} is started on ${host}`
    : `on ${host}; \`brand-enrich schedule list\` shows the result`;
  return answerLine({ asked: name, isHostUp: !isHostOffline }, `${name} runs ${when}`);
}

const REMOVE = 'brand-enrich schedule remove';

/** Returns the schedule of a name. Throws `ConfigError` if there is none, or several. */
function oneOf(states: readonly ScheduleState[], named: string): ScheduleState {
  const chosen = chooseSchedule(states, named);
  if ('name' in chosen) return chosen;
  const [first] = chosen;
  if (first === undefined)
    throw refused('no such schedule', named, '`brand-enrich schedule list` shows them');
  const names = chosen.map(({ name, host }) => `${name}@${host}`).join(' or ');
  throw refused('several machines have a schedule with this name', named, `write ${names}`);
}

function refused(what: string, subject: string, todo: string): ConfigError {
  return new ConfigError(usageProblem(what, subject, todo));
}

function serveSchedules(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, log } = call;
    const { stop, watch, assertNotLost } = stopWithEngine(call.stop, releasers);
    const stopping = { ...call, stop };
    const opened = await openEngineContext(settings, stopping, releasers);
    watch(opened.engine);
    logOpened(opened, false, log);
    const host = { ...stopping, ...opened, streams: call, clock: systemClock, daemon: null };
    const runner = await createHostedScheduleRunner(host);
    releasers.push(() => runner.stop());
    await runner.start();
    const facts = { host: hostname(), engine: opened.engine.address };
    log.info(facts, "running this machine's schedules");
    await untilAborted(stop);
    assertNotLost();
    return EXIT.done;
  });
}

const zonedTime = (at: number, tz: string) => `${localTime(at, tz)} ${tz}`;

/** Returns the schedules for people. `host`: the name of this machine. */
export function schedulesText(
  states: readonly ScheduleState[],
  { host, now }: { readonly host: string; readonly now: number },
): string {
  if (states.length === 0) return 'no schedules\n';
  return states.map((state) => visibleLines(scheduleLines(state, host, now))).join('\n');
}

function scheduleLines(state: ScheduleState, ownHost: string, now: number): string[] {
  const { name, host, schedule, isMissing, nextAt, isHostOffline, isRunning, ended, runs, passed } = state;
  const { paused } = state;
  const tz = schedule?.tz ?? 'UTC';
  const here = host === ownHost ? ' (this machine)' : '';
  const file = ended?.output ? `, ${ended.output}` : '';
  const lines = [
    name,
    ...definitionLines(state),
    `  host     ${host}${here}${isHostOffline && !isMissing ? `, not running: start ${HOSTS} there` : ''}`,
    nextAt === null
      ? '  next     unknown until a schedule runner starts on its host'
      : `  next     ${nextAt < now ? 'was due ' : ''}${zonedTime(nextAt, tz)}`,
    ended === null
      ? '  last     none yet'
      : `  last     ${zonedTime(ended.startedAt, tz)}, exit code ${ended.exitCode}: ${ended.sentence}${file}`,
  ];
  const before = runs.slice(1).map(({ exitCode }) => exitCode);
  if (before.length > 0) lines.push(`  before   exit codes ${before.join(', ')} (newest first)`);
  if (schedule?.source !== undefined) lines.push(`  from     ${schedule.source}`);
  if (isRunning) lines.push('  now      running');
  if (paused !== null)
    lines.push(`  paused   ${pausedText(paused)}; \`brand-enrich resume ${name}\` continues it`);
  if (passed !== null && passed.at > (ended?.startedAt ?? 0)) {
    const { why, dueAt, at } = passed;
    const words =
      passed.paused !== undefined
        ? pausedText(passed.paused)
        : why === 'skipped'
          ? 'the previous run was still running'
          : 'no schedule runner was active in time';
    lines.push(`  ${why.padEnd(8)} ${zonedTime(dueAt ?? at, tz)}: ${words}`);
  }
  return lines;
}

/** Returns what the schedule runs and when, which only the machine that defines it knows. */
function definitionLines({ name, host, schedule, isMissing }: ScheduleState): string[] {
  if (schedule === null)
    return isMissing
      ? [`  runs     nothing: definition missing on ${host}; ${REMOVE} ${name} removes it from this list`]
      : [`  runs     what ${host} defines`];
  const { line, cron, tz, catchesUp } = schedule;
  return [`  runs     ${line}`, `  when     ${cron} (${tz})${catchesUp ? ', runs later if missed' : ''}`];
}

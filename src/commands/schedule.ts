/** The schedule commands; `serve` runs those of this machine until it is stopped. */
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { hostname } from 'node:os';
import { logOpened, openEngineContext } from '../context/open-context.js';
import { systemClock } from '../core/clock.js';
import type { Document } from '../core/documents.js';
import { EXIT, type ExitCode, NeverStartError, usageProblem } from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import { printText, visibleLines } from '../core/terminal-text.js';
import {
  createScheduleBook,
  type Schedule,
  type ScheduleBook,
  type ScheduleState,
} from '../daemon/schedules/schedule-book.js';
import { addedDocument, scheduleDocument } from '../daemon/schedules/schedule-document.js';
import { localTime, nextTickAt } from '../daemon/schedules/schedule-times.js';
import { readSchedule } from '../daemon/schedules/scheduled-command.js';
import { createHostedScheduleRunner } from '../daemon/schedules/scheduled-run.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';

const HOSTS = '`brand-enrich up` or `brand-enrich schedule serve`';

/** Throws `NeverStartError` for arguments it cannot use, and what opening the engine throws. */
export async function runSchedule(call: CommandCall): Promise<ExitCode> {
  if (call.command === 'schedule serve') return serveSchedules(call);
  const schedule = call.command === 'schedule add' ? readNewSchedule(call) : null;
  return answerFrom(call, (stores) => {
    const book = createScheduleBook(stores);
    return schedule === null ? carryOut(call, book) : add(schedule, book, call);
  });
}

function readNewSchedule({ args, settings, folder, load }: CommandCall): Schedule {
  const [name = '', ...argv] = args;
  const { cron, tz, catchUp: catchesUp } = settings;
  const id = randomBytes(8).toString('hex');
  return { ...readSchedule({ name, cron, tz, catchesUp, argv }, folder, load), id };
}

async function add(schedule: Schedule, book: ScheduleBook, call: CommandCall): Promise<Answer> {
  const { name, cron, tz, host, input } = schedule;
  const { stderr, settings } = call;
  const old = await book.find(name);
  if (old?.source !== undefined) {
    const todo = `change it in ${old.source} on ${old.host}, or choose another name`;
    throw new NeverStartError(usageProblem('a config file has a schedule with this name', name, todo));
  }
  if (old !== null && settings.replace) await book.replace(old, schedule);
  else if (!(await book.add(schedule))) {
    const todo = `add --replace, or remove it first: brand-enrich schedule remove ${name}`;
    throw new NeverStartError(usageProblem('a schedule with this name exists', name, todo));
  }
  await access(input).catch(() => printText(stderr, `note: ${input} does not exist yet\n`));
  const state = await stateOf(name, book);
  const start = state?.isHostAway ? `; to run it, start ${HOSTS} on ${host}` : '';
  const nextAt = nextTickAt(cron, tz, Date.now());
  const data = { schedule: addedDocument(schedule), nextAt: new Date(nextAt).toISOString() };
  const done = old === null ? 'added' : 'replaced';
  return answerLine(data, `${name} is ${done}; next run ${zonedTime(nextAt, tz)}${start}`);
}

async function carryOut({ command, args }: CommandCall, book: ScheduleBook): Promise<Answer> {
  const [name = ''] = args;
  if (command === 'schedule list') {
    const states = await book.list();
    const data: Document<'schedules'> = { schedules: states.map(scheduleDocument) };
    return { data, text: schedulesText(states, { host: hostname(), now: Date.now() }) };
  }
  if (command === 'schedule remove') {
    const source = (await book.find(name))?.source;
    if (!(await book.remove(name))) throw unknownSchedule(name);
    const again = source === undefined ? '' : `; the next start adds it again unless ${source} changes`;
    return answerLine({ removed: name }, `${name} is removed; a run in progress finishes${again}`);
  }
  const state = await stateOf(name, book);
  if (state === undefined) throw unknownSchedule(name);
  const { isHostAway, schedule } = state;
  const { host } = schedule;
  await book.runNow(schedule);
  const when = isHostAway
    ? `as soon as ${HOSTS} is started on ${host}`
    : `on ${host}; \`brand-enrich schedule list\` shows the result`;
  return answerLine({ asked: name, isHostUp: !isHostAway, isHostAway }, `${name} runs ${when}`);
}

async function stateOf(name: string, book: ScheduleBook): Promise<ScheduleState | undefined> {
  return (await book.list()).find(({ schedule }) => schedule.name === name);
}

function unknownSchedule(name: string): Error {
  const todo = '`brand-enrich schedule list` shows them';
  return new NeverStartError(usageProblem('no such schedule', name, todo));
}

function serveSchedules(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, log, stop } = call;
    const opened = await openEngineContext(settings, call, releasers);
    logOpened(opened, false, log);
    const around = { ...call, ...opened, streams: call, clock: systemClock };
    const runner = createHostedScheduleRunner({ ...around, daemon: null });
    releasers.push(() => runner.stop());
    await runner.start();
    const facts = { host: hostname(), engine: opened.engine.address };
    log.info(facts, "running this machine's schedules");
    await untilAborted(stop);
    return EXIT.done;
  });
}

const zonedTime = (at: number, tz: string) => `${localTime(at, tz)} ${tz}`;

/** `host` is this machine's name, `now` in milliseconds. */
export function schedulesText(
  states: readonly ScheduleState[],
  { host, now }: { readonly host: string; readonly now: number },
): string {
  if (states.length === 0) return 'no schedules\n';
  return states.map((state) => visibleLines(scheduleLines(state, host, now))).join('\n');
}

function scheduleLines(state: ScheduleState, ownHost: string, now: number): string[] {
  const { schedule, nextAt, isHostAway, isRunning, ended, runs, passed } = state;
  const { name, cron, tz, host, line, catchesUp, source } = schedule;
  const here = host === ownHost ? ' (this machine)' : '';
  const file = ended?.output ? `, ${ended.output}` : '';
  const lines = [
    name,
    `  runs     ${line}`,
    `  when     ${cron} (${tz})${catchesUp ? ', a missed run is made up' : ''}`,
    `  host     ${host}${here}${isHostAway ? `, not running: start ${HOSTS} there` : ''}`,
    nextAt === null
      ? '  next     unknown until a schedule runner starts on its host'
      : `  next     ${nextAt < now ? 'was due ' : ''}${zonedTime(nextAt, tz)}`,
    ended === null
      ? '  last     none yet'
      : `  last     ${zonedTime(ended.startedAt, tz)}, exit code ${ended.exitCode}: ${ended.sentence}${file}`,
  ];
  const before = runs.slice(1).map(({ exitCode }) => exitCode);
  if (before.length > 0) lines.push(`  before   exit codes ${before.join(', ')} (newest first)`);
  if (source !== undefined) lines.push(`  from     ${source}`);
  if (isRunning) lines.push('  now      running');
  if (passed !== null && passed.at > (ended?.startedAt ?? 0)) {
    const { why, dueAt, at } = passed;
    const words =
      why === 'skipped' ? 'the previous run was still running' : 'no schedule runner was active in time';
    lines.push(`  ${why.padEnd(8)} ${zonedTime(dueAt ?? at, tz)}: ${words}`);
  }
  return lines;
}

/** The schedule commands; `serve` runs those of this machine until it is stopped. */
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { hostname } from 'node:os';
import { logOpened, openEngineContext } from '../context/open-context.js';
import { systemClock } from '../core/clock.js';
import type { Document } from '../core/documents.js';
import {
  EXIT,
  type ExitCode,
  NeverStartError,
  type Problem,
  throwProblems,
  usageProblem,
} from '../core/errors.js';
import { untilAborted, withReleasers } from '../core/lifecycle.js';
import { printText, visibleLines } from '../core/terminal-text.js';
import {
  createScheduleBook,
  isScheduleName,
  type Schedule,
  type ScheduleBook,
  type ScheduleState,
} from '../daemon/schedules/schedule-book.js';
import { addedDocument, scheduleDocument } from '../daemon/schedules/schedule-document.js';
import { findCronProblem, isTimeZone, localTime, nextTickAt } from '../daemon/schedules/schedule-times.js';
import { readScheduledCommand } from '../daemon/schedules/scheduled-command.js';
import { createHostedScheduleRunner } from '../daemon/schedules/scheduled-run.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';

/** The runner has address and token: where a schedule is added, they need not be known. */
const KNOWN_LATER = { BRAND_API_URL: 'https://service.invalid', BRAND_API_TOKEN: 'known-later' };
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
  const [name = '', ...command] = args;
  const { cron, tz: zone, catchUp: catchesUp } = settings;
  const tz = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const now = Date.now();
  const problems: Problem[] = [];
  const add = (what: string, subject: string, todo: string) =>
    problems.push(usageProblem(what, subject, todo));
  if (!isScheduleName(name))
    add('not a valid schedule name', name, 'write up to 64 letters, digits, ".", "_" and "-"');
  if (!isTimeZone(tz)) add('not an IANA time zone', `--tz ${tz}`, 'use one such as Europe/Berlin');
  if (cron === null) add('--cron is missing', name, "set the time, for example --cron '0 2 * * *'");
  const wrong = cron === null || !isTimeZone(tz) ? null : findCronProblem(cron, tz, now);
  if (wrong !== null)
    add(`not a cron expression (${wrong})`, `--cron ${cron}`, "use one such as '0 2 * * *'");
  throwProblems(problems);
  const read = readScheduledCommand(command, folder, (of, flags) => load(of, flags, KNOWN_LATER));
  const id = randomBytes(8).toString('hex');
  return { name, id, cron: cron ?? '', tz, host: hostname(), ...read, catchesUp, addedAt: now };
}

async function add(schedule: Schedule, book: ScheduleBook, { stderr }: CommandCall): Promise<Answer> {
  const { name, cron, tz, host, input } = schedule;
  if (!(await book.add(schedule))) {
    const todo = `remove it first: brand-enrich schedule remove ${name}`;
    throw new NeverStartError(usageProblem('a schedule with this name exists', name, todo));
  }
  await access(input).catch(() => printText(stderr, `note: ${input} does not exist yet\n`));
  const state = await stateOf(name, book);
  const start = state?.isHostAway ? `; to run it, start ${HOSTS} on ${host}` : '';
  const nextAt = nextTickAt(cron, tz, Date.now());
  const data = { schedule: addedDocument(schedule), nextAt: new Date(nextAt).toISOString() };
  return answerLine(data, `${name} is added; next run ${zonedTime(nextAt, tz)}${start}`);
}

async function carryOut({ command, args }: CommandCall, book: ScheduleBook): Promise<Answer> {
  const [name = ''] = args;
  if (command === 'schedule list') {
    const states = await book.list();
    const data: Document<'schedules'> = { schedules: states.map(scheduleDocument) };
    return { data, text: schedulesText(states, { host: hostname(), now: Date.now() }) };
  }
  if (command === 'schedule remove') {
    if (!(await book.remove(name))) throw unknownSchedule(name);
    return answerLine({ removed: name }, `${name} is removed; a run in progress finishes`);
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
  const { schedule, nextAt, isHostAway, isRunning, ended, passed } = state;
  const { name, cron, tz, host, line, catchesUp } = schedule;
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
  if (isRunning) lines.push('  now      running');
  if (passed !== null && passed.at > (ended?.startedAt ?? 0)) {
    const { why, dueAt, at } = passed;
    const words =
      why === 'skipped' ? 'the previous run was still running' : 'no schedule runner was active in time';
    lines.push(`  ${why.padEnd(8)} ${zonedTime(dueAt ?? at, tz)}: ${words}`);
  }
  return lines;
}

/**
 * A schedule and its command, read when it is added: paths become absolute, secrets are refused.
 */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { maskTokenPath } from '../../config/address-values.js';
import { parseCommandLine } from '../../config/command-line.js';
import { SETTING_ENTRIES } from '../../config/settings.js';
import type { CommandContext } from '../../context/open-stores.js';
import { NeverStartError, type Problem, throwProblems, usageProblem } from '../../core/errors.js';
import { isScheduleName, type Schedule } from './schedule-book.js';
import { findCronProblem, isTimeZone, unknownStamps } from './schedule-times.js';

/** Flags that belong to the process which runs the schedules. */
const ENGINE_FLAGS = ['engine', 'state', 'waitForDisk', 'caFile', 'sample', 'metricsPort', 'metricsHost'];
const OF_THE_RUNNER = [...ENGINE_FLAGS, 'config', 'json', 'quiet', 'logLevel', 'logFile', 'color'];
/** Flags whose file names may contain the moment of the run. */
export const STAMPED: readonly string[] = ['output', 'errors', 'report'];

const LINES = SETTING_ENTRIES.flatMap(([, line]) => (line.key === null ? [] : [{ ...line, key: line.key }]));
const PATHS = new Set(LINES.filter(({ kind }) => kind.isPath).map(({ key }) => key));

/** Address and token are known to the runner, and not needed where a schedule is read. */
const KNOWN_LATER = { BRAND_API_URL: 'https://service.invalid', BRAND_API_TOKEN: 'known-later' };

interface NewSchedule extends Pick<Schedule, 'name' | 'catchesUp'> {
  readonly cron: string | null;
  /** null: that of the machine. */
  readonly tz: string | null;
  /** `run INPUT` with its flags. */
  readonly argv: readonly string[];
}

/**
 * Throws a NeverStartError for all problems, or what `load` throws. Paths are relative to `folder`.
 */
export function readSchedule(
  { name, cron, tz: zone, catchesUp, argv }: NewSchedule,
  folder: string,
  load: CommandContext['load'],
): Omit<Schedule, 'id'> {
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
  const read = readScheduledCommand(argv, folder, (of, flags) => load(of, flags, KNOWN_LATER));
  return { name, cron: cron ?? '', tz, host: hostname(), ...read, catchesUp, addedAt: now };
}

/** `argv`: what follows `--`. Throws a NeverStartError for all problems, or what `load` throws. */
export function readScheduledCommand(
  argv: readonly string[],
  folder: string,
  load: (command: 'run', flags: Record<string, unknown>) => unknown,
): Pick<Schedule, 'line' | 'input' | 'flags'> {
  const todo = 'write -- run INPUT and its flags';
  if (argv[0] !== 'run')
    throwProblems([usageProblem('only runs can be scheduled', argv[0] ?? 'nothing', todo)]);
  const parsed = parseCommandLine(argv, '');
  const [input] = 'command' in parsed ? parsed.args : [];
  if (!('command' in parsed) || input === undefined)
    throw new NeverStartError(usageProblem('no command', 'the words after --', todo));
  if (parsed.command !== 'run')
    throwProblems([usageProblem('only runs can be scheduled', '--dry-run', 'omit it')]);
  throwProblems(findProblems(input, parsed.flags));
  const given = Object.entries(parsed.flags).map(([key, value]) => [key, flagValue(key, value, folder)]);
  const flags: Schedule['flags'] = Object.fromEntries(given);
  load('run', flags);
  return { line: argv.map(quoted).join(' '), input: resolve(folder, input), flags };
}

function findProblems(input: string, flags: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  const add = (what: string, subject: string, todo: string) =>
    problems.push(usageProblem(what, subject, todo));
  if (input === '-' || flags.output === '-')
    add('a scheduled run has no standard input or output', '-', 'give files');
  if (flags.try !== undefined)
    add('a scheduled run has nobody to ask after a trial', '--try', 'omit it; try the command by hand');
  for (const { key, flag: written, secrecy } of LINES) {
    const given = flags[key];
    if (given === undefined) continue;
    const flag = written ?? key;
    if (OF_THE_RUNNER.includes(key)) {
      const todo = 'omit it: the process that runs the schedules decides on engine, log and the like';
      add('not a flag of a scheduled run', flag, todo);
    }
    if (!['open', 'address', 'token path'].includes(secrecy))
      add('schedules cannot hold secrets', flag, 'set it in the environment');
    if (secrecy === 'token path' && maskTokenPath(String(given)) === '…')
      add('this looks like a token', flag, 'give the file that holds it');
    for (const word of STAMPED.includes(key) ? unknownStamps(String(given)) : [])
      add('no such placeholder', `{${word}} in ${flag}`, 'use {date} or {time}');
  }
  return problems;
}

function flagValue(key: string, value: unknown, folder: string): Schedule['flags'][string] {
  if (PATHS.has(key) && typeof value === 'string') return resolve(folder, value);
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'boolean' ? value : String(value);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Reads the command of a schedule when it is added, by the table of the command line. Paths become
 * absolute, secrets are refused, and so are flags that the process decides which runs it.
 */
import { resolve } from 'node:path';
import { maskTokenPath } from '../../config/address-values.js';
import { parseCommandLine } from '../../config/command-line.js';
import type { CommandName } from '../../config/setting.js';
import { type LoadedSettings, SETTING_ENTRIES } from '../../config/settings.js';
import { type Problem, throwProblems, usageProblem } from '../../core/errors.js';
import type { Schedule, ScheduledFlags } from './schedule-book.js';
import { unknownStamps } from './schedule-times.js';

/**
 * Settings of a command from these flags, environment and config file. Throws as `loadSettings`
 * does.
 */
export type LoadFlags = (command: CommandName, flags: Record<string, unknown>) => LoadedSettings;

/** Flags that belong to the process which runs the schedules. */
const OF_THE_RUNNER: readonly string[] = [
  'engine',
  'state',
  'waitForDisk',
  'sample',
  'config',
  'json',
  'quiet',
  'logLevel',
  'logFile',
  'color',
  'metricsPort',
  'metricsHost',
];
/** Flags whose file names may contain the moment of the run. */
export const STAMPED: readonly string[] = ['output', 'errors', 'report'];

/**
 * `argv` is what follows `--`; `folder` is what relative paths count from. Throws one
 * `NeverStartError` that lists every problem.
 */
export function readScheduledCommand(
  argv: readonly string[],
  folder: string,
  load: LoadFlags,
): Pick<Schedule, 'line' | 'input' | 'flags'> {
  if (argv[0] !== 'run') {
    throwProblems([
      usageProblem('only runs can be scheduled', argv[0] ?? 'nothing', 'write -- run INPUT and its flags'),
    ]);
  }
  const parsed = parseCommandLine(argv, '');
  const [input] = 'command' in parsed ? parsed.args : [];
  if (!('command' in parsed) || input === undefined) {
    throwProblems([usageProblem('no run', 'what follows --', 'write -- run INPUT and its flags')]);
    throw new Error('a problem was not thrown');
  }
  throwProblems(findProblems(input, parsed.flags));
  const flags = withAbsolutePaths(parsed.flags, folder);
  load('run', flags);
  return { line: argv.map(quoted).join(' '), input: resolve(folder, input), flags };
}

function findProblems(input: string, flags: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  if (input === '-' || flags.output === '-') {
    problems.push(usageProblem('a schedule has no standard input or output', '-', 'name files'));
  }
  for (const [key, line] of byKey()) {
    const said = flags[key];
    if (said === undefined) continue;
    const flag = line.flag ?? key;
    if (OF_THE_RUNNER.includes(key)) {
      problems.push(
        usageProblem(
          'not a flag of a scheduled run',
          flag,
          'leave it out: the runner decides on engine, log and the like',
        ),
      );
    }
    if (!['open', 'address', 'token path'].includes(line.secrecy)) {
      problems.push(
        usageProblem('a schedule keeps no secrets', flag, 'set it in the environment of the runner'),
      );
    }
    if (line.secrecy === 'token path' && maskTokenPath(String(said)) === '…') {
      problems.push(usageProblem('this looks like a token', flag, 'name the file that holds it'));
    }
    for (const word of STAMPED.includes(key) ? unknownStamps(String(said)) : []) {
      problems.push(usageProblem('no such stamp', `{${word}} in ${flag}`, 'use {date} or {time}'));
    }
  }
  return problems;
}

function withAbsolutePaths(said: Record<string, unknown>, folder: string): ScheduledFlags {
  const paths = new Set(
    byKey()
      .filter(([, line]) => line.kind.isPath)
      .map(([key]) => key),
  );
  return Object.fromEntries(
    Object.entries(said).map(([key, value]) => [
      key,
      paths.has(key) && typeof value === 'string' ? resolve(folder, value) : flagValue(value),
    ]),
  );
}

function flagValue(value: unknown): ScheduledFlags[string] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'boolean' ? value : String(value);
}

function byKey() {
  return SETTING_ENTRIES.flatMap(([, line]) => (line.key === null ? [] : [[line.key, line] as const]));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

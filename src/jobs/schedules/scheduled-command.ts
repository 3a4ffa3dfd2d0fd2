/** Reads a new schedule, its times and its command: paths become absolute, secrets are refused. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { CronExpressionParser } from 'cron-parser';
import type { CommandContext } from '../../app/open-stores.js';
import { ConfigError, errorText, type Problem, throwProblems, usageProblem } from '../../core/errors.js';
import { type Naming, phrase, sayPhrase } from '../../core/phrase.js';
import { parseCommandLine } from '../../settings/command-line.js';
import type { SettingGroup } from '../../settings/setting.js';
import { SETTING_ENTRIES, type SettingName } from '../../settings/settings.js';
import { isScheduleName, type Schedule } from './schedule-files.js';

/** Settings of a schedule; its runner decides on the others, such as service and secrets. */
const GROUPS: readonly SettingGroup[] = ['Input', 'Columns', 'Output', 'Money', 'Limits'];
const OTHER_SETTINGS: readonly SettingName[] = ['allowNsfw', 'timeoutMs', 'worker'];
/** Flags whose file names may contain the moment of the run. */
export const STAMPED: readonly string[] = ['output', 'errors', 'report', 'changes', 'differences'];

const LINES = SETTING_ENTRIES.flatMap(([name, line]) =>
  line.key === null ? [] : [{ ...line, name, key: line.key }],
);
const RUN_KEYS = new Set(
  LINES.filter(
    ({ name, group }) => name !== 'sample' && (GROUPS.includes(group) || OTHER_SETTINGS.includes(name)),
  ).map(({ key }) => key),
);
const PATHS = new Set(LINES.filter(({ kind }) => kind.isPath).map(({ key }) => key));

/** Stands for address and token, which only the runner needs. */
const KNOWN_LATER = { BRAND_API_URL: 'https://service.invalid', BRAND_API_TOKEN: 'known-later' };

interface NewSchedule extends Pick<Schedule, 'name' | 'catchesUp'> {
  readonly cron: string | null;
  readonly tz: string | null;
  /** `run INPUT` with its flags. */
  readonly argv: readonly string[];
}

/** Reads a schedule; paths are relative to `folder`. Throws ConfigError, or what `load` throws. */
export function readSchedule(
  { name, cron, tz: zone, catchesUp, argv }: NewSchedule,
  folder: string,
  load: CommandContext['load'],
  naming: Naming,
): Omit<Schedule, 'id'> {
  const tz = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const now = Date.now();
  const problems: Problem[] = [];
  const add = (what: string, subject: string, todo: string) =>
    problems.push(usageProblem(what, subject, todo));
  const named = (key: string) => sayPhrase(phrase`${{ setting: key }}`, naming);
  const nightly = `for example ${sayPhrase(phrase`${{ choose: 'cron', example: '0 2 * * *' }}`, naming)}`;
  if (!isScheduleName(name))
    add('not a valid schedule name', name, 'write up to 64 letters, digits, ".", "_" and "-"');
  if (!isTimeZone(tz)) add('not an IANA time zone', `${named('tz')} ${tz}`, 'use one such as Europe/Berlin');
  if (cron === null) add(`${named('cron')} is missing`, name, `set the time, ${nightly}`);
  const wrong = cron === null || !isTimeZone(tz) ? null : findCronProblem(cron, tz, now);
  if (wrong !== null)
    add(`not a cron expression (${wrong})`, `${named('cron')} ${cron}`, `write one, ${nightly}`);
  throwProblems(problems);
  const read = readScheduledCommand(argv, folder, (of, flags) => load(of, flags, KNOWN_LATER));
  return { name, cron: cron ?? '', tz, host: hostname(), ...read, catchesUp, addedAt: now };
}

/** Reads the words after `--`. Throws a ConfigError for all problems, or what `load` throws. */
export function readScheduledCommand(
  argv: readonly string[],
  folder: string,
  load: (command: 'run', flags: Record<string, unknown>) => unknown,
): Pick<Schedule, 'line' | 'input' | 'flags'> {
  const parsed = parseCommandLine(argv, '');
  const [input] = 'command' in parsed && parsed.command === 'run' ? parsed.args : [];
  if (!('command' in parsed) || input === undefined) {
    const todo = 'write -- run INPUT and its flags, without --dry-run';
    throw new ConfigError(usageProblem('only runs can be scheduled', argv.join(' ') || 'nothing', todo));
  }
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
  if (flags.changes !== undefined && /\{(?:date|time)\}/.test(String(flags.output ?? ''))) {
    const todo = 'give a fixed -o; {date} may stand in --changes';
    add('changes need an output whose name stays the same', `--changes with -o ${flags.output}`, todo);
  }
  problems.push(...findForeignFlags(flags, ''));
  for (const { key, flag } of LINES) {
    const given = flags[key];
    if (given === undefined) continue;
    for (const word of STAMPED.includes(key) ? unknownStamps(String(given)) : [])
      add('no such placeholder', `{${word}} in ${flag}`, 'use {date} or {time}');
  }
  return problems;
}

/** Names foreign flags without their values, which may be secrets. */
function findForeignFlags(flags: Record<string, unknown>, place: string): Problem[] {
  const foreign = Object.keys(flags).filter((key) => flags[key] !== undefined && !RUN_KEYS.has(key));
  return foreign.map((key) => {
    const flag = LINES.find((line) => line.key === key)?.flag ?? key;
    const todo =
      'omit it: the process that runs the schedules decides on service, token, notifications, ' +
      'network, engine and log';
    return usageProblem('not a flag of a scheduled run', `${flag}${place}`, todo);
  });
}

/** Throws a ConfigError that names every flag which a schedule cannot set. */
export function assertFlagsOfRun(flags: Schedule['flags'], place: string): void {
  throwProblems(findForeignFlags(flags, ` in ${place}`));
}

function flagValue(key: string, value: unknown, folder: string): Schedule['flags'][string] {
  if (PATHS.has(key) && typeof value === 'string') return resolve(folder, value);
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'boolean' ? value : String(value);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns when the first tick after `after` is due. Throws if there is none. */
export function nextTickAt(cron: string, tz: string, after: number): number {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(after) })
    .next()
    .getTime();
}

/** True for a name of the IANA time zone database. */
export function isTimeZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    // `Intl` accepts offsets such as +02:00; the cron library does not.
    return /^[A-Za-z]/.test(tz);
  } catch {
    return false;
  }
}

/** Returns why an expression is refused, as part of a sentence; null if it has a next tick. */
export function findCronProblem(cron: string, tz: string, now: number): string | null {
  const text = cron.trim();
  const fields = text.split(/\s+/);
  if (!text.startsWith('@') && fields.length !== 5 && fields.length !== 6)
    return (
      `${fields.length} fields instead of 5 (minute, hour, day of the month, month, day of the ` +
      'week), or 6 with seconds first'
    );
  // The library replaces H by a random value at each reading.
  if (fields.some((field) => /(^|,)H/i.test(field))) return 'H, which is a different time on every machine';
  try {
    nextTickAt(text, tz, now);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** Returns a moment like `2026-01-14 02:00:00` in a time zone. */
export function localTime(at: number, tz: string): string {
  return new Date(at).toLocaleString('sv-SE', { timeZone: tz });
}

/** Replaces `{date}` by `2026-01-14` and `{time}` by `020000`, in a time zone. */
export function stampPath(path: string, at: number, tz: string): string {
  const [date = '', time = ''] = localTime(at, tz).split(' ');
  return path.replaceAll('{date}', date).replaceAll('{time}', time.replaceAll(':', ''));
}

/** Returns the words in braces other than `{date}` and `{time}`. */
export function unknownStamps(path: string): string[] {
  return [...path.matchAll(/\{(?!(?:date|time)\})([A-Za-z]+)\}/g)].map(([, word = '']) => word);
}

/** Schedules of the config file, which change no schedules of `schedule add` or another file. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { CommandContext } from '../../app/open-stores.js';
import { ConfigError, type Problem, throwProblems, usageProblem } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { type ConfigFile, SCHEDULES_KEY } from '../../settings/load-settings.js';
import type { ScheduleBook } from './schedule-book.js';
import type { Schedule } from './schedule-files.js';
import { readSchedule } from './scheduled-command.js';

export const scheduleEntry = z.strictObject({
  name: z.string(),
  cron: z.string(),
  tz: z.string().optional(),
  catchUp: z.boolean().default(false),
  /** INPUT and flags of `run`: a list of words, or a text without quotes. */
  run: z.union([z.array(z.string()), z.string().regex(/^[^'"\\]+$/)]),
});

const EXAMPLE =
  '{"name": "nightly", "cron": "0 2 * * *", "run": "customers.csv -o out/{date}.csv"}, optionally ' +
  'with "tz" and "catchUp"; "run" may be a list of words';

/** Reads the schedules of a file. Throws one ConfigError (`usage-invalid`) for all problems. */
export function readFileSchedules(file: ConfigFile | null, load: CommandContext['load']): Schedule[] {
  if (file === null) return [];
  const { path, values } = file;
  const written = values[SCHEDULES_KEY] ?? [];
  if (!Array.isArray(written))
    throw new ConfigError(usageProblem('not a list', `schedules in ${path}`, `write [${EXAMPLE}]`));
  const problems: Problem[] = [];
  const names = new Set<string>();
  const schedules = written.flatMap((each: unknown, index) => {
    const subject = `schedules[${index}] in ${path}`;
    const { data } = scheduleEntry.safeParse(each);
    if (data === undefined || names.has(data.name)) {
      const what = data === undefined ? 'not a schedule' : `a second schedule named ${data.name}`;
      problems.push(usageProblem(what, subject, `write ${EXAMPLE}`));
      return [];
    }
    names.add(data.name);
    const { name, cron, tz = null, catchUp: catchesUp, run } = data;
    const argv = ['run', ...(typeof run === 'string' ? run.trim().split(/\s+/) : run)];
    try {
      const read = readSchedule({ name, cron, tz, catchesUp, argv }, dirname(path), load, 'keys');
      return [{ ...read, id: idOf(read), source: path }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { what, todo } = error.detail;
      problems.push(usageProblem(what, `${error.subject} in ${subject}`, todo));
      return [];
    }
  });
  throwProblems(problems);
  return schedules;
}

function idOf({ addedAt: _, ...parts }: Omit<Schedule, 'id'>): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** Updates the schedules of a file on this machine. Throws what `book` throws. */
export async function syncFileSchedules(
  wanted: readonly Schedule[],
  existing: readonly Schedule[],
  { path, host, book, log }: { path: string; host: string; book: ScheduleBook; log: Log },
): Promise<void> {
  const isOwn = ({ host: at, source }: Schedule) =>
    at === host && source !== undefined && (source === path || !existsSync(source));
  for (const schedule of wanted) {
    const { name } = schedule;
    const old = await book.find(name);
    if (old?.id === schedule.id) continue;
    if (old === null) {
      if (await book.add(schedule)) log.info({ schedule: name }, 'added a schedule of the config file');
    } else if (isOwn(old)) {
      await book.replace(old, schedule);
      log.info({ schedule: name }, 'changed a schedule to that of the config file');
    } else {
      const owner = old.source === undefined ? 'was added by `schedule add`' : `is in ${old.source}`;
      const reason = `another schedule with this name ${owner} on ${old.host}: rename or remove one of them`;
      log.error({ schedule: name, reason }, 'a schedule of the config file was not added');
    }
  }
  for (const schedule of existing) {
    const { name, host: at, source } = schedule;
    if (at !== host || source !== path || wanted.some((each) => each.name === name)) continue;
    await book.remove(schedule);
    log.info({ schedule: name }, 'removed a schedule that is no longer in the config file');
  }
}

/**
 * The schedules of this machine in private files, so a writer of the engine decides on no command
 * or path; their last begun ticks; and a random id, which names the queue of ticks.
 */
import { randomBytes } from 'node:crypto';
import { link, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isMoment } from '../../core/clock.js';
import { RunError } from '../../core/errors.js';
import { makePrivateFolder } from '../../core/folders.js';
import { readJson } from '../../core/json-text.js';
import { phrase } from '../../core/phrase.js';
import { readPlainFile, replaceFile } from '../../core/plain-file.js';
import { isErrorCode, systemWords } from '../../core/system-error.js';

/** A moment that can be shown as a date. */
export const momentShape = z.number().refine(isMoment);

const scheduleShape = z.object({
  name: z.string().refine(isScheduleName),
  /** Unique among all schedules ever added. */
  id: z.string(),
  cron: z.string(),
  tz: z.string(),
  host: z.string(),
  /** The command as given, for people. */
  line: z.string(),
  /** An absolute path. */
  input: z.string(),
  /** By key; paths are absolute, and outputs may contain `{date}` and `{time}`. */
  flags: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())])),
  /** True if a missed tick runs when a runner is back. */
  catchesUp: z.boolean(),
  addedAt: momentShape,
  /** The absolute path of its config file; absent after `schedule add`. */
  source: z.string().optional(),
});
export type Schedule = z.infer<typeof scheduleShape>;

const VERSION = 1;
const fileShape = z.object({ version: z.literal(VERSION), schedule: scheduleShape });

const begunShape = z.object({
  /** The job of the tick, or null once it has ended. */
  job: z.string().nullable(),
  /** For `{date}` and `{time}`. */
  stampedAt: momentShape,
});
/** The last tick of a schedule that this machine began. */
export type BegunTick = z.infer<typeof begunShape>;

const FOLDER = 'schedules';
const ID_FILE = 'machine-id';
const SUFFIX = '.json';
const BEGUN_SUFFIX = '.begun';

/** True for up to 64 letters, digits, `.`, `_` and `-` that begin with a letter or digit. */
export function isScheduleName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

/** Returns the queue of a machine's ticks, named by host and the random id of the state folder. */
export function tickQueueOf(host: string, machineId: string): string {
  return `schedules-${host.replaceAll(':', '_')}-${machineId}`;
}

export type ScheduleFiles = ReturnType<typeof createScheduleFiles>;

/** Creates the files; writing throws `RunError` (`output-unwritable`) for a faulty folder. */
export function createScheduleFiles(stateFolder: string) {
  const folder = join(stateFolder, FOLDER);
  const pathOf = (name: string, suffix = SUFFIX) => join(folder, `${name}${suffix}`);
  const read = async <T>(path: string, shape: z.ZodType<T>): Promise<T | null> =>
    readJson(await readPlainFile(path, { isOwn: true }).catch(() => ''), shape);

  /** Writes a whole file. With `isNew`, an existing file stays, and the result is false. */
  async function write(path: string, content: string, { isNew }: { isNew: boolean }): Promise<boolean> {
    const written = isNew ? `${path}.${randomBytes(6).toString('hex')}.tmp` : path;
    try {
      makePrivateFolder(folder);
      await replaceFile(written, content, { mode: 0o600, isShared: true });
      if (isNew) await link(written, path).finally(() => rm(written, { force: true }));
      return true;
    } catch (error) {
      if (isNew && isErrorCode(error, 'EEXIST')) return false;
      const what = 'a schedule cannot be written';
      const todo = phrase`make the state folder writable, or name another with ${{ setting: 'state' }}`;
      const subject = `${path} (${systemWords(error)})`;
      throw new RunError({ code: 'output-unwritable', what, subject, todo, cause: error });
    }
  }

  const textOf = (schedule: Schedule) =>
    `${JSON.stringify({ version: VERSION, schedule: scheduleShape.parse(schedule) }, null, 2)}\n`;

  async function find(name: string): Promise<Schedule | null> {
    if (!isScheduleName(name)) return null;
    const schedule = (await read(pathOf(name), fileShape))?.schedule ?? null;
    return schedule?.name === name ? schedule : null;
  }

  async function machineId(): Promise<string | null> {
    const text = await readPlainFile(join(folder, ID_FILE), { isOwn: true }).catch(() => '');
    return /^[0-9a-f]{16}$/.exec(text.trim())?.[0] ?? null;
  }

  return {
    folder,
    machineId,
    find,
    async giveMachineId(): Promise<string> {
      const known = await machineId();
      if (known !== null) return known;
      const id = randomBytes(8).toString('hex');
      // Of several writers the first wins; a file without an id is replaced.
      const isFirst = await write(join(folder, ID_FILE), `${id}\n`, { isNew: true });
      const first = isFirst ? id : await machineId();
      if (first === null) await write(join(folder, ID_FILE), `${id}\n`, { isNew: false });
      return first ?? id;
    },
    async all(): Promise<Schedule[]> {
      const names = (await readdir(folder).catch(() => [])).sort();
      const found = names.flatMap((file) =>
        file.endsWith(SUFFIX) ? find(file.slice(0, -SUFFIX.length)) : [],
      );
      return (await Promise.all(found)).filter((schedule) => schedule !== null);
    },
    /** Returns false if a schedule of this name exists, which stays. */
    add: (schedule: Schedule) => write(pathOf(schedule.name), textOf(schedule), { isNew: true }),
    async replace(schedule: Schedule): Promise<void> {
      await write(pathOf(schedule.name), textOf(schedule), { isNew: false });
    },
    async remove(name: string): Promise<void> {
      for (const suffix of [SUFFIX, BEGUN_SUFFIX]) await rm(pathOf(name, suffix), { force: true });
    },
    begun: (name: string) => read(pathOf(name, BEGUN_SUFFIX), begunShape),
    async noteBegun(name: string, tick: BegunTick): Promise<void> {
      await write(pathOf(name, BEGUN_SUFFIX), `${JSON.stringify(tick)}\n`, { isNew: false });
    },
  };
}

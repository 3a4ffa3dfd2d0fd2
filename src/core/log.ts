/** The log: pino, to standard error or a file, without secrets. */
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from './clock.js';
import { BrandEnrichError, RunError } from './errors.js';
import { makeFolder } from './folders.js';
import { load } from './load.js';
import { phrase } from './phrase.js';
import { isNamedPipe } from './plain-file.js';
import { jsonWithoutSecrets } from './secrets.js';
import { systemWords } from './system-error.js';
import { visible, visibleJson } from './terminal-text.js';

const { pino } = load('pino') as typeof import('pino');

export type Log = Logger;

/** Names of secrets, up to three levels deep: pino has no wildcard for any depth. */
const SECRETS = ['token', 'authorization', 'Authorization'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

const LINES = {
  base: null,
  redact: { paths: SECRETS, censor: '[removed]' },
  // Our errors say what to do; only bugs need their stack.
  serializers: {
    err: (error: Error) =>
      error instanceof BrandEnrichError
        ? { code: error.code, message: error.message }
        : pino.stdSerializers.err(error),
  },
  // pino escapes ASCII control characters alone, and messages of libraries may hold secrets.
  hooks: { streamWrite: (line: string) => visibleJson(jsonWithoutSecrets(line)) },
};

interface LogOptions {
  readonly level: string;
  readonly file: string | null;
  readonly stderr: NodeJS.WritableStream;
  /** Lines for people, see {@link textOfLine}. Default: JSON. */
  readonly isText?: boolean;
}

/** Opens the log, with synchronous writes that survive a kill. Throws `output-unwritable`. */
export function openLog({ level, file, stderr, isText = false }: LogOptions): {
  readonly log: Log;
  /** Opens the file again, after rotation. */
  reopen(): void;
} {
  const opened = file === null ? null : openFile(file);
  const destination = opened ?? stderr;
  // A log that cannot be written does not stop the work that it reports.
  destination.on('error', () => undefined);
  const hooks = isText
    ? { streamWrite: (line: string) => visible(textOfLine(jsonWithoutSecrets(line))) }
    : LINES.hooks;
  const log = pino({ ...LINES, hooks, level, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    log,
    reopen() {
      try {
        opened?.reopen();
      } catch (error) {
        log.warn({ err: error }, 'the log file could not be reopened; the old one is still in use');
      }
    },
  };
}

/** Formats a line for people, in local time: `14:05:09 warning: list.csv: no column (rows 3)`. */
export function textOfLine(json: string): string {
  const { level, time, msg = '', file, schedule, reason, err, ...rest } = JSON.parse(json) as LogLine;
  const { error, warn } = pino.levels.values;
  const rank = level >= (error ?? 50) ? 'error: ' : level >= (warn ?? 40) ? 'warning: ' : '';
  const words = [file ?? schedule, msg, reason, err?.message].filter(
    (each) => each !== undefined && each !== '',
  );
  const facts = Object.entries(rest).flatMap(([name, value]) =>
    // Objects, such as counts of rows, are for programs.
    value === null || (typeof value === 'object' && !Array.isArray(value))
      ? []
      : `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const clock = new Date(time).toTimeString().slice(0, 8);
  const line = `${clock} ${rank}${words.join(': ')}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`;
  return `${line.replaceAll('\n', '\\n')}${stack}\n`;
}

interface LogLine {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly file?: string;
  readonly schedule?: string;
  readonly reason?: string;
  readonly err?: { readonly message: string; readonly stack?: string };
}

function openFile(file: string) {
  try {
    makeFolder(dirname(file));
    if (isNamedPipe(file)) throw new Error('it is a named pipe');
    return pino.destination({ dest: file, append: true, sync: true });
  } catch (cause) {
    const what = 'the log cannot be written';
    const subject = `${file} (${systemWords(cause)})`;
    const todo = phrase`name another file with ${{ setting: 'logFile' }}`;
    throw new RunError({ code: 'output-unwritable', what, subject, todo, cause });
  }
}

/** The methods of another logger, as pino and `console` have them. */
export type LogTarget = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
>;

/** Returns a log that passes its lines, without secrets, to a logger, which filters by level. */
export function forwardingLog(target: LogTarget): Log {
  const write = (line: string) => {
    const { level, msg = '', ...facts } = JSON.parse(line) as { level: number; msg?: string };
    const { values } = pino.levels;
    const name = (['error', 'warn', 'info'] as const).find((each) => level >= (values[each] ?? 0));
    try {
      target[name ?? 'debug'](facts, msg);
    } catch {
      // A log that cannot be written does not stop the work.
    }
  };
  return pino({ ...LINES, level: 'debug', timestamp: false }, { write });
}

export function silentLog(): Log {
  return pino({ level: 'silent' });
}

const EVERY_MS = 60_000;

/** Writes the first event at once, then one a minute; `unlogged` counts those between. */
export function oncePerMinute<Facts extends object>(
  clock: Pick<Clock, 'monotonic'>,
  write: (facts: Facts, others: { readonly unlogged?: number }) => void,
): (facts: Facts) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (facts) => {
    const now = clock.monotonic();
    if (now - writtenAt < EVERY_MS) {
      unlogged += 1;
      return;
    }
    write(facts, unlogged === 0 ? {} : { unlogged });
    writtenAt = now;
    unlogged = 0;
  };
}

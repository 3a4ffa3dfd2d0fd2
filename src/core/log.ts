/**
 * The log: pino, to standard error or a file, with the token and every `Authorization` value cut
 * out at the source. What is worth a line is decided where it happens.
 */
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { BrandEnrichError, FailFileError } from './errors.js';
import { load } from './load.js';
import { makeFolder } from './make-folder.js';
import { phrase } from './phrase.js';
import { isNamedPipe } from './plain-file.js';
import { jsonWithoutSecrets } from './secrets.js';
import { systemWords } from './system-error.js';
import { visibleJson } from './terminal-text.js';

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
  // Ours say what to do; only of a bug the stack is worth anything.
  serializers: {
    err: (error: Error) =>
      error instanceof BrandEnrichError
        ? { code: error.code, message: error.message }
        : pino.stdSerializers.err(error),
  },
  // pino escapes the control characters of ASCII alone; and a message of others may hold a secret.
  hooks: { streamWrite: (line: string) => visibleJson(jsonWithoutSecrets(line)) },
};

interface LogOptions {
  /** One of pino's levels, or `silent`. */
  readonly level: string;
  /** A path to append to; standard error when absent. */
  readonly file?: string | undefined;
}

/**
 * Opens the log. Lines are written synchronously: what was logged before a kill is on disk.
 * `reopen` opens the file again under its name, after a rotation. Throws FailFileError
 * `output-unwritable`.
 */
export function openLog({ level, file }: LogOptions): { readonly log: Log; reopen(): void } {
  const destination = openDestination(file);
  // The work that it reports goes on when a log cannot be written.
  destination.on('error', () => undefined);
  const log = pino({ ...LINES, level, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    log,
    reopen() {
      if (file === undefined) return;
      try {
        destination.reopen();
      } catch (error) {
        log.warn({ err: error }, 'the log file could not be reopened; the old one is still in use');
      }
    },
  };
}

function openDestination(file: string | undefined) {
  if (file === undefined) return pino.destination({ fd: 2, sync: true });
  try {
    makeFolder(dirname(file));
    if (isNamedPipe(file)) throw new Error('it is a named pipe');
    return pino.destination({ dest: file, append: true, sync: true });
  } catch (cause) {
    const what = 'the log cannot be written';
    const subject = `${file} (${systemWords(cause)})`;
    const todo = phrase`name another file with ${{ setting: 'logFile' }}`;
    throw new FailFileError({ code: 'output-unwritable', what, subject, todo, cause });
  }
}

/** Another logger's methods, as pino and `console` have them. */
export type LogTarget = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
>;

/** A log that hands its lines, without secrets, to another logger, whose level decides. */
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

/** A log that writes nothing. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}

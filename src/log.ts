/**
 * The log: pino, to standard error or a file, with the token and every `Authorization` value cut out at the
 * source. What is worth a line is decided where it happens.
 */
import pino from 'pino';

export type Log = pino.Logger;

/** Names of secrets, up to three levels deep: pino knows no wildcard for any depth. */
const SECRETS = ['token', 'authorization', 'Authorization'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

export interface LogOptions {
  /** One of pino's levels, or `silent`. */
  readonly level: string;
  /** A path to append to; standard error when absent. */
  readonly file?: string | undefined;
}

/** Opens the log. Lines are written synchronously: what was logged before a kill is on disk. */
export function createLog(options: LogOptions): Log {
  const destination = pino.destination(
    options.file === undefined
      ? { fd: 2, sync: true }
      : { dest: options.file, append: true, mkdir: true, sync: true },
  );
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: SECRETS,
        censor: '[removed]',
      },
    },
    destination,
  );
}

/** A log that writes nothing. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}

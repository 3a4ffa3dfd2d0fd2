/**
 * The log: pino, to standard error or a file, with the token and every `Authorization` value cut
 * out at the source. What is worth a line is decided where it happens.
 */
import pino from 'pino';
import { NeverStartError } from './errors.js';
import { isNamedPipe } from './plain-file.js';
import { jsonWithoutSecrets } from './secrets.js';
import { visibleJson } from './terminal-text.js';

export type Log = pino.Logger;

/** Names of secrets, up to three levels deep: pino has no wildcard for any depth. */
const SECRETS = ['token', 'authorization', 'Authorization'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

interface LogOptions {
  /** One of pino's levels, or `silent`. */
  readonly level: string;
  /** A path to append to; standard error when absent. */
  readonly file?: string | undefined;
}

export function createLog(options: LogOptions): Log {
  return openLog(options).log;
}

/**
 * Opens the log. Lines are written synchronously: what was logged before a kill is on disk.
 * `reopen` opens the file again under its name, after a rotation. Throws NeverStartError for a
 * named pipe.
 */
export function openLog({ level, file }: LogOptions): { readonly log: Log; reopen(): void } {
  if (file !== undefined && isNamedPipe(file)) {
    const what = 'the log cannot be written to a named pipe';
    throw new NeverStartError({
      code: 'usage-invalid',
      what,
      subject: file,
      todo: 'give a file with --log-file',
    });
  }
  const destination = pino.destination(
    file === undefined ? { fd: 2, sync: true } : { dest: file, append: true, mkdir: true, sync: true },
  );
  // A log that cannot be written is no reason to stop the work that it reports.
  destination.on('error', () => undefined);
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRETS, censor: '[removed]' },
      // pino escapes only ASCII control characters; and a secret may be in any text.
      hooks: { streamWrite: (line) => visibleJson(jsonWithoutSecrets(line)) },
    },
    destination,
  );
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

/** A log that writes nothing. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}

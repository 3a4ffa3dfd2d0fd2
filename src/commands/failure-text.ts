/**
 * What a process says of an error that ended it: a line for people on standard error, and with `--json` an object for
 * programs on standard output. The exit code says the same.
 */
import { BrandEnrichError, type ErrorCode, EXIT, type ExitCode, errorText } from '../core/errors.js';

export interface Failure {
  readonly error: {
    /** One of the error table; `bug` for what is none of ours. */
    readonly code: ErrorCode | 'bug';
    readonly message: string;
    readonly exitCode: ExitCode;
  };
}

/** `secrets` are taken out of the words of others; our own messages never hold them. */
export function failureOf(error: unknown, secrets: readonly string[]): Failure {
  if (error instanceof BrandEnrichError) {
    const { code, message, exitCode } = error;
    return { error: { code, message, exitCode } };
  }
  return {
    error: { code: 'bug', message: withoutSecrets(errorText(error), secrets), exitCode: EXIT.trouble },
  };
}

/** One line, or a few, ending in a line break. */
export function failureText(error: unknown, secrets: readonly string[]): string {
  if (error instanceof BrandEnrichError) return `brand-enrich: ${error.message}\n`;
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `brand-enrich: this is a bug, please report it: ${withoutSecrets(words, secrets)}\n`;
}

function withoutSecrets(words: string, secrets: readonly string[]): string {
  let shown = words;
  for (const secret of secrets) if (secret !== '') shown = shown.replaceAll(secret, '***');
  return shown;
}

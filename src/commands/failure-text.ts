/**
 * The error that ended the process: a line for people on standard error and, with `--json`, an
 * object for programs on standard output.
 */
import { BrandEnrichError, type ErrorCode, EXIT, type ExitCode, errorText } from '../core/errors.js';

export interface Failure {
  readonly error: {
    /** One of the error table; `bug` for any other error. */
    readonly code: ErrorCode | 'bug';
    readonly message: string;
    readonly exitCode: ExitCode;
  };
}

/** `secrets` are removed from unknown errors; our own messages never hold them. */
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

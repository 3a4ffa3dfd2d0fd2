/** The error of a file that cannot be read because of what is in it. */
import { BrandEnrichError, errorText, FailFileError } from '../core/errors.js';
import { cutText } from '../intake/record-splitter.js';

/** A file is intact, and has more of something than is read. */
export class OverBounds extends Error {
  constructor(
    message: string,
    /** How to get below the bound. */
    readonly todo: string,
  ) {
    super(message);
  }
}

/** Other libraries may quote the file. */
const CAUSE_AT_MOST = 300;

function causeText(cause: unknown): string {
  const text = errorText(cause);
  return text.length > CAUSE_AT_MOST ? `${cutText(text, CAUSE_AT_MOST)}…` : text;
}

/** `input-binary` with the cause in the message; one of our errors stays. */
export function damaged(name: string, cause: unknown): BrandEnrichError {
  if (cause instanceof BrandEnrichError) return cause;
  const isOver = cause instanceof OverBounds;
  return new FailFileError({
    code: 'input-binary',
    what: isOver ? 'the file is too large to be read' : 'the file is damaged, or has another format',
    // It is about the engine that runs this, not about the file.
    subject: `${name} (${cause instanceof RangeError ? 'its structure is nested too deeply, or too large' : causeText(cause)})`,
    todo: isOver
      ? cause.todo
      : 'open it in the program that made it, save it again, or save it as CSV (UTF-8)',
    cause,
  });
}

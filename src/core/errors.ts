/** Errors: classes by what happens next, permanent codes, messages `what: subject; what to do`. */
import { joinPhrases, type Naming, type Phrase, phrase, sayPhrase } from './phrase.js';
import { visibleLine } from './terminal-text.js';

/** Exit codes of the command line; {@link worstExit} picks one of several. */
export const EXIT = {
  done: 0,
  someFailed: 1,
  usage: 2,
  tooManyErrors: 3,
  credentials: 4,
  ioError: 5,
  limit: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const WORST_FIRST: readonly ExitCode[] = [2, 4, 5, 130, 3, 7, 1, 0];

/** Returns the exit code that wins: 4, 5, 130, 3, 7, 1, 0 (with 2 nothing starts). */
export function worstExit(codes: readonly ExitCode[]): ExitCode {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.done;
}

/** Every code with its meaning; a test compares the manual's list with this one. */
export const ERROR_CATALOGUE = {
  'usage-invalid': 'a flag, setting or argument is wrong; all problems are listed at once',
  'usage-token-missing': 'no token was given',
  'usage-service-missing': 'no service address was given',
  'usage-insecure': 'the address is neither https nor loopback, and plain http is not allowed',
  'column-unknown': 'the given column is not in the header',
  'column-doubtful': 'it is unclear which column holds the identifiers',
  'column-mismatch': 'most values of the column do not fit the kind given for it',
  'column-ours': 'a column or key is named like those that a run adds',
  'input-missing': 'the input cannot be opened',
  'input-empty': 'the input has no records',
  'input-binary': 'the input has a format that is not supported',
  'input-encoding': 'the input does not match its encoding',
  'input-preamble': 'lines above the header are not part of the table',
  'input-ragged': 'too many rows do not fit the table',
  'reader-failed': 'no process could be started to read the file',
  'input-changed': 'the input changed while it was being processed',
  'catalogue-invalid': 'a line of the catalogue is wrong',
  'output-unwritable': 'an output cannot be written',
  'output-miscounted': 'the written file has the wrong number of records: this is a bug',
  'disk-low': 'too little disk space is left to store paid answers',
  'input-exceeds-disk': 'the input takes more disk space than there is',
  'engine-unreachable': 'the engine does not answer',
  'engine-unfit': 'the engine cannot be used: its version, settings or data are unsuitable',
  'file-refused': 'the system does not let this process use a file as it must',
  'files-limit': 'this process may not open as many files as it needs',
  'engine-held': 'another process or machine is using the state folder',
  'service-unreachable': 'an address cannot be reached or listened on',
  'credentials-refused': 'the service refused the credentials',
  'check-refused': 'no request beyond the limit may be ordered now',
  interrupted: 'stopped by a signal',
  paused: 'a person paused this command',
  declined: 'nothing was done: you declined',
} as const;
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

interface ErrorDetail {
  readonly code: ErrorCode;
  /** What the message is about: a path, a flag, a column, an address. Never a secret. */
  readonly subject: Phrase;
  readonly todo: Phrase;
  /** Replaces the sentence of the catalogue where a more exact one is known. */
  readonly what?: Phrase;
  readonly cause?: unknown;
  /** Set if the table has no column that could hold identifiers. Default false. */
  readonly hasNoIdentifiers?: boolean;
}

type ErrorTexts = Record<'what' | 'subject' | 'todo' | 'message', string>;

/** The base of all expected errors; use the classes below. Its texts are for a terminal. */
export abstract class BrandEnrichError extends Error {
  abstract readonly exitCode: ExitCode;
  readonly code: ErrorCode;
  readonly what: string;
  readonly subject: string;
  readonly todo: string;
  readonly hasNoIdentifiers: boolean;
  readonly #phrases: Record<'what' | 'subject' | 'todo', Phrase>;

  constructor(detail: ErrorDetail) {
    const { code, cause, hasNoIdentifiers = false, what = ERROR_CATALOGUE[code], subject, todo } = detail;
    const phrases = { what, subject, todo };
    const texts = sayError(phrases, 'flags');
    super(texts.message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.what = texts.what;
    this.subject = texts.subject;
    this.todo = texts.todo;
    this.hasNoIdentifiers = hasNoIdentifiers;
    this.#phrases = phrases;
  }

  /** The detail, for another error made from this one. */
  get detail() {
    const { code, hasNoIdentifiers } = this;
    return { code, hasNoIdentifiers, ...this.#phrases };
  }

  /** Returns the texts for a reader who names settings like this. */
  inWords(naming: Naming): ErrorTexts {
    return sayError(this.#phrases, naming);
  }
}

function sayError(phrases: Record<'what' | 'subject' | 'todo', Phrase>, naming: Naming): ErrorTexts {
  const [what, subject, todo] = [phrases.what, phrases.subject, phrases.todo].map((each) =>
    sayPhrase(each, naming),
  ) as [string, string, string];
  return { what, subject, todo, message: `${what}: ${visibleLine(subject)}; ${todo}` };
}

/** Flags, settings or the choice of a column are wrong; nothing was started. */
export class ConfigError extends BrandEnrichError {
  readonly exitCode = EXIT.usage;
}

/** One thing to fix before a start; several are listed at once. Never holds a secret. */
export interface Problem extends ErrorDetail {
  readonly what: Phrase;
}

/** Makes a problem with the code `usage-invalid`. */
export function usageProblem(what: Phrase, subject: Phrase, todo: Phrase): Problem {
  return { code: 'usage-invalid', what, subject, todo };
}

/** Throws a `ConfigError` if there are problems: a single one as it is, several as a list. */
export function throwProblems(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0) throw new ConfigError(first);
  const isOfOneKind = others.every(({ code }) => code === first.code);
  const list = problems.map(({ what, subject, todo }) => phrase`\n  - ${what}: ${subject}; ${todo}`);
  throw new ConfigError({
    code: isOfOneKind ? first.code : 'usage-invalid',
    what: `${problems.length} problems`,
    subject: joinPhrases(
      problems.map(({ subject }) => subject),
      ', ',
    ),
    todo: phrase`fix these:${joinPhrases(list, '')}`,
  });
}

/** Input, output or engine failed, so the file cannot be processed. Paid answers are stored. */
export class RunError extends BrandEnrichError {
  readonly exitCode = EXIT.ioError;
}

/** A limit forbids the action for now; nothing was sent. */
export class LimitError extends BrandEnrichError {
  readonly exitCode = EXIT.limit;
}

/** The service refused the token. Nothing is sent until the token changes; nothing is lost. */
export class AuthenticationError extends BrandEnrichError {
  readonly exitCode = EXIT.credentials;
}

/** The run was asked to stop; the same command resumes it. */
export class InterruptedError extends BrandEnrichError {
  readonly exitCode: ExitCode = EXIT.interrupted;
}

/** Returns the error for a signal that came while the input was being read. */
export function readingStopped(subject: string): InterruptedError {
  const todo = 'nothing was spent or written; run again';
  return new InterruptedError({ code: 'interrupted', subject, todo });
}

/** The user was asked before spending, and declined. Nothing was done. */
export class DeclinedError extends InterruptedError {
  override readonly exitCode = EXIT.done;
}

/** A person paused the run; nothing was sent. The same command works again after `resume`. */
export class PausedError extends InterruptedError {
  override readonly exitCode = EXIT.limit;
}

/** True if an error only reports that `stop` ended a wait or a read. */
export function isOfStop(error: unknown, stop: AbortSignal): boolean {
  if (!stop.aborted) return false;
  if (error === stop.reason || error instanceof InterruptedError) return true;
  return error instanceof Error && error.name === 'AbortError';
}

/** Returns the message of any thrown value, for a log or a last line. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

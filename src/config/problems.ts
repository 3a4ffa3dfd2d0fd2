/**
 * Usage problems, collected as data, and the one error that lists them all.
 */
import type { ErrorCode } from '../core/errors.js';
import { NeverStartError } from '../core/errors.js';

/** One thing to fix; reads `what: subject; todo`. Never holds a secret. */
export interface Problem {
  readonly code: ErrorCode;
  readonly what: string;
  readonly subject: string;
  readonly todo: string;
}

/** A problem with the general code. */
export function usageProblem(what: string, subject: string, todo: string): Problem {
  return { code: 'usage-invalid', what, subject, todo };
}

/** Throws one error when there are problems: a single one as it is, several as a list. */
export function throwProblems(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0) throw new NeverStartError(first);
  const codes = new Set(problems.map((problem) => problem.code));
  throw new NeverStartError({
    code: codes.size === 1 ? first.code : 'usage-invalid',
    what: `${problems.length} problems`,
    subject: problems.map((problem) => problem.subject).join(', '),
    todo: `fix these:${problems.map((problem) => `\n  - ${problem.what}: ${problem.subject}; ${problem.todo}`).join('')}`,
  });
}

/** What was seen, quoted and cut to a readable length. */
export function quote(seen: string): string {
  return JSON.stringify(seen.length > 60 ? `${seen.slice(0, 60)}…` : seen);
}

/** The end of a "what to do": the suggestion if there is one, else the way to find out. */
export function didYouMean(nearestWord: string | undefined, otherwise: string): string {
  return nearestWord === undefined ? otherwise : `did you mean ${nearestWord}?`;
}

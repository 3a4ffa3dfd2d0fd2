/**
 * What the process of a run ends with. Pure; the codes and which of several wins are `errors.ts`'s.
 */
import { EXIT, type ExitCode, worstExit } from '../core/errors.js';
import { hasNoMatch } from '../core/outcome.js';
import type { RunHalt } from '../stores/run-store.js';
import type { EnrichResult } from './enrich-request.js';

const EXIT_OF_HALT: Record<RunHalt['why'], ExitCode> = {
  credentials: EXIT.credentials,
  limit: EXIT.limit,
  throttled: EXIT.limit,
  doubtful: EXIT.limit,
  unreachable: EXIT.trouble,
  lost: EXIT.trouble,
  useless: EXIT.trouble,
};

/** `isStrict`: invalid rows count as failed ones, and so does a whole run in which nothing matched. */
export function exitCodeOf(
  result: Pick<EnrichResult, 'end'> & { readonly written: Pick<EnrichResult['written'], 'counts'> },
  isStrict: boolean,
): ExitCode {
  const { end, written } = result;
  const codes: ExitCode[] = [];
  if (end.type === 'halted') codes.push(EXIT_OF_HALT[end.halt.why]);
  if (end.type === 'too_many_failures') codes.push(EXIT.tooManyErrors);
  if (end.type === 'stopped' || end.type === 'cancelled') codes.push(EXIT.interrupted);
  if (written.counts.failed > 0) codes.push(EXIT.someFailed);
  if (isStrict && (written.counts.invalid > 0 || hasNoMatch(written.counts))) codes.push(EXIT.someFailed);
  return worstExit(codes);
}

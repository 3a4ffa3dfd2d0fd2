/**
 * The accounting: three counts made independently of each other must agree before a run says "done". Pure.
 */
import { FailFileError } from '../../core/errors.js';
import { OUTCOME_STATUSES, type StatusCounts } from '../../core/outcome.js';

export interface Accounts {
  /** Records that intake found in the input. */
  readonly read: number;
  /** Rows by what they came to. */
  readonly byStatus: StatusCounts;
  /** Records read back from the written file (`count-records.ts`); null when it went to a pipe. */
  readonly written: number | null;
}

/** How many rows came to anything. */
export function sumOf(counts: StatusCounts): number {
  return OUTCOME_STATUSES.reduce((sum, status) => sum + counts[status], 0);
}

/** Throws FailFileError `output-miscounted` when the counts disagree. `path` is the written file. */
export function assertAccounts(path: string, accounts: Accounts): void {
  const { read, written } = accounts;
  const settled = sumOf(accounts.byStatus);
  if (read === settled && (written === null || written === settled)) return;
  const counts = `${read} records read, ${settled} rows with a status, ${written ?? 'no'} records written`;
  throw new FailFileError({
    code: 'output-miscounted',
    subject: `${path} (${counts})`,
    todo: 'keep the input and report this, answers that were paid for are kept',
  });
}

/**
 * The files that belong to an accounts file, and stating from them what is owed, without a running service and without
 * disturbing one (`serve --statement`).
 */
import type { Clock } from '../core/clock.js';
import { loadAccounts } from './accounts.js';
import { type Statement, statementOf } from './plan-terms.js';
import { openStatementFile, type StatementFile } from './statement-file.js';
import { readUsageCounts } from './usage-journal.js';
import { lockUsage } from './usage-lock.js';
import { monthOf } from './usage-month.js';

/** Where the usage of an accounts file is kept: beside it. */
export function usageFileOf(accountsPath: string): string {
  return `${accountsPath}.usage.jsonl`;
}

/** Where statements of closed months are kept: beside the accounts file. */
export function statementFileOf(accountsPath: string): string {
  return `${accountsPath}.statements.jsonl`;
}

/**
 * One statement per account with a monthly quota, in the order of the accounts file: as it was closed, or from the
 * usage so far. `month` is `YYYY-MM`, by default the current one (UTC). A month that is over, and that no service has
 * closed yet, is closed here unless a service is running, which does it: what was stated as final does not move when
 * the terms are changed later. Throws `NeverStartError` when the accounts file cannot be used.
 */
export async function readAccountStatements(
  accountsPath: string,
  month: string | undefined,
  clock: Clock,
): Promise<Statement[]> {
  const { all } = await loadAccounts(accountsPath);
  const unlock = await lockUsage(accountsPath).catch(() => null);
  try {
    const closed = openStatementFile(statementFileOf(accountsPath));
    const usage = readUsageCounts(usageFileOf(accountsPath));
    const current = monthOf(clock.now());
    const asked = month ?? current;
    return all
      .filter((account) => account.period === 'month')
      .map((account) => {
        const known = closed.find(account.name, asked);
        if (known !== undefined) return known;
        const count = usage.find(({ account: name, period }) => name === account.name && period === asked);
        const statement = statementOf(account, asked, count?.requests ?? 0, asked < current);
        if (statement.isFinal && count !== undefined && unlock !== null) keepIfPossible(closed, statement);
        return statement;
      });
  } finally {
    await unlock?.();
  }
}

/** Stating needs no right to write: whoever may, keeps it. */
function keepIfPossible(closed: StatementFile, statement: Statement): void {
  try {
    closed.add(statement);
  } catch {
    // The next service closes the month.
  }
}

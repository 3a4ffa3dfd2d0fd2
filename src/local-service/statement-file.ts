/**
 * Statements of months that are over, one JSON line each, appended once and never changed: what an account owes does
 * not move when its quota or price is changed later. How a statement is reckoned is `plan-terms.ts`'s.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Statement } from './plan-terms.js';

export interface StatementFile {
  find(account: string, month: string): Statement | undefined;
  /** Appends and syncs. Throws when the file cannot be written. */
  add(statement: Statement): void;
}

/** `path` null keeps statements in memory only. */
export function openStatementFile(path: string | null): StatementFile {
  const statements = new Map<string, Statement>();
  for (const statement of path === null ? [] : readStatements(path)) {
    statements.set(statementKey(statement.account, statement.month), statement);
  }
  return {
    find: (account, month) => statements.get(statementKey(account, month)),
    add(statement) {
      if (path !== null) appendLine(path, JSON.stringify(statement));
      statements.set(statementKey(statement.account, statement.month), statement);
    },
  };
}

/** The statements of a file in the order in which they were written; none when there is no such file. */
function readStatements(path: string): Statement[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').flatMap(parseLine);
}

/** Begins on a line of its own, whatever a crash left at the end of the file. */
function appendLine(path: string, line: string): void {
  const isTorn = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8'));
  const descriptor = openSync(path, 'a', 0o600);
  try {
    writeSync(descriptor, `${isTorn ? '\n' : ''}${line}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function parseLine(line: string): Statement[] {
  try {
    const statement = JSON.parse(line) as Statement;
    return typeof statement.account === 'string' && typeof statement.month === 'string' ? [statement] : [];
  } catch {
    return [];
  }
}

function statementKey(account: string, month: string): string {
  return `${month} ${account}`;
}

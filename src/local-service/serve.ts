/**
 * Runs the local service: files in, a listening address out. Also states what accounts owe
 * (`serve --statement`), with or without a running service.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '../core/clock.js';
import { FailFileError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { createReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { type Accounts, createAccounts, loadAccounts, parseAccounts } from './accounts.js';
import { createService, type LocalService } from './create-service.js';
import { parseFaults, withFaults } from './faults.js';
import { listen } from './http-adapter.js';
import { loadCatalogue } from './load-catalogue.js';
import { monthOf, openStatementFile, type Statement, type StatementFile, statementOf } from './statements.js';
import { readUsageCounts } from './usage-journal.js';
import { lockUsage } from './usage-lock.js';

/** The brand of the service itself in the sample catalogue; asking for it is free. */
export const DEFAULT_OWN_DOMAIN = 'brand-service.example';
/** The account that is served when no accounts file is given. The token is no secret: it opens sample data only. */
export const DEMO_TOKEN = 'demo-token';
const DEMO_QUOTA = 100_000;

/** How often an idle service looks whether a month is over. */
const MONTH_CHECK_MS = 60_000;

export interface ServeOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: loopback only. */
  readonly host?: string | undefined;
  /** JSONL file of brands; default: the sample catalogue. */
  readonly catalogue?: string | undefined;
  /** Accounts file (`accounts.ts`); default: one demo account whose usage is kept in memory. */
  readonly accounts?: string | undefined;
  readonly ownDomain?: string | undefined;
  /** A line per billed request is appended here. */
  readonly journal?: string | undefined;
  /** `KEY=VALUE` texts (`faults.ts`). */
  readonly faults?: readonly string[] | undefined;
  /** Counts billed requests per identifier. */
  readonly trace?: boolean | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
}

export interface Serving {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** The first line for people: address, brands, account. */
  readonly message: string;
  /** The service behind the faults, for statements and traced counts. */
  readonly service: LocalService;
  /** Finishes answers under way and keeps what was counted. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Serves a catalogue over HTTP until it is closed. Throws `NeverStartError` for wrong settings or accounts,
 * `FailFileError` for a bad catalogue, a port or a file that cannot be had.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { log, clock = systemClock, host = '127.0.0.1' } = options;
  const faults = parseFaults(options.faults ?? []);
  const accounts = options.accounts === undefined ? demoAccounts() : await loadAccounts(options.accounts);
  for (const account of accounts.inClear) {
    log.warn({ account }, 'the accounts file holds this token in clear; write its SHA-256 as tokenSha256');
  }
  const catalogue = await loadCatalogue(options.catalogue ?? sampleCatalogue());
  const releasers = createReleasers();
  try {
    if (options.accounts !== undefined) releasers.push(await lockUsage(options.accounts));
    const service = createService({
      catalogue,
      accounts,
      ownDomain: options.ownDomain ?? DEFAULT_OWN_DOMAIN,
      clock,
      log,
      usageFile: options.accounts && usageFileOf(options.accounts),
      statementFile: options.accounts && statementFileOf(options.accounts),
      journalFile: options.journal,
      trace: options.trace,
    });
    releasers.push(() => service.close());
    const months = setInterval(() => service.closeMonths(), MONTH_CHECK_MS).unref();
    releasers.push(() => clearInterval(months));
    const listener = await listen(options.faults?.length ? withFaults(service, faults, clock) : service, {
      host,
      port: options.port,
      clock,
    });
    releasers.push(() => listener.close());
    return {
      url: listener.url,
      message: firstLine(listener.url, catalogue.size, accounts, options),
      service,
      close: () => releasers.releaseAll(),
    };
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
}

/**
 * What the accounts of a file owe for a month (`YYYY-MM`, default the current one), read beside a running service or
 * without one. Throws `NeverStartError` when the accounts file cannot be used.
 */
export function readStatements(options: {
  readonly accounts: string;
  readonly month?: string | undefined;
  readonly clock?: Clock | undefined;
}): Promise<Statement[]> {
  return readAccountStatements(options.accounts, options.month, options.clock ?? systemClock);
}

/** One free account that anybody on this machine may use. */
export function demoAccounts(): Accounts {
  const demo = { name: 'demo', token: DEMO_TOKEN, plan: 'free', quota: DEMO_QUOTA };
  return createAccounts(parseAccounts(JSON.stringify({ accounts: [demo] }), 'demo account').all);
}

function firstLine(url: string, brands: number, accounts: Accounts, options: ServeOptions): string {
  const who =
    options.accounts === undefined
      ? `account demo, token ${DEMO_TOKEN}, usage kept in memory`
      : `${countOf(accounts.all.length, 'account')} of ${options.accounts}`;
  const sample = options.catalogue === undefined ? ' sample' : '';
  const faulty = options.faults?.length ? `; faults: ${options.faults.join(' ')}` : '';
  return `serving ${brands}${sample} brands at ${url} (${who})${faulty}`;
}

/** The catalogue that comes with the package: found upwards, since this file runs from `src` and from `dist/src`. */
export function sampleCatalogue(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, 'fixtures', 'catalogue.jsonl');
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) break;
  }
  throw new FailFileError({
    code: 'input-missing',
    what: 'the sample catalogue is not there',
    subject: 'fixtures/catalogue.jsonl',
    todo: 'install the package again, or name a catalogue with --catalogue',
  });
}

/** Where the usage of an accounts file is kept: beside it. */
function usageFileOf(accountsPath: string): string {
  return `${accountsPath}.usage.jsonl`;
}

/** Where statements of closed months are kept: beside the accounts file. */
function statementFileOf(accountsPath: string): string {
  return `${accountsPath}.statements.jsonl`;
}

/**
 * One statement per account with a monthly quota, in the order of the accounts file: as it was closed, or from the
 * usage so far. `month` is `YYYY-MM`, by default the current one (UTC). A month that is over, and that no service has
 * closed yet, is closed here unless a service is running, which does it: what was stated as final does not move when
 * the terms are changed later. Throws `NeverStartError` when the accounts file cannot be used.
 */
async function readAccountStatements(
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

/** Runs the local service on files and an address, and states what accounts owe. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '../core/clock.js';
import { RunError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { orRelease, type Release } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { isErrorCode } from '../core/system-error.js';
import type { Settings } from '../settings/settings.js';
import { type Accounts, hashToken, loadAccounts, parseAccounts } from './accounts.js';
import { parseFaults, withFaults } from './faults.js';
import { listen } from './http-adapter.js';
import { loadCatalogue } from './load-catalogue.js';
import { LocalService } from './local-service.js';
import { monthOf, type Statement, StatementFile } from './meter.js';
import { readUsageCounts } from './usage-journal.js';

/** The service's own domain in the sample catalogue, free to ask for. */
export const DEFAULT_OWN_DOMAIN = 'brand-service.example';
/** The token without an accounts file. No secret: it opens sample data only. */
export const DEMO_TOKEN = 'demo-token';

const MONTH_CHECK_MS = 60_000;

/** The settings of `serve`; null or absent for the default, of accounts the demo account. */
export interface ServeOptions
  extends Partial<Pick<Settings, 'host' | 'catalogue' | 'accounts' | 'ownDomain' | 'journal' | 'faults'>> {
  /** 0 takes a free port. */
  readonly port: number;
  readonly log: Log;
  readonly clock?: Clock;
}

/** Serves a catalogue over HTTP until it is closed. Throws `ConfigError`, `RunError`. */
export async function serve(options: ServeOptions) {
  const { log, clock = systemClock, host = '127.0.0.1' } = options;
  const faults = parseFaults(options.faults ?? []);
  const accounts = options.accounts ? loadAccounts(options.accounts) : demoAccounts();
  for (const { name: account } of accounts.all.filter(({ isInClear }) => isInClear))
    log.warn({ account }, 'the accounts file holds this token in clear; write its SHA-256 as tokenSha256');
  const catalogue = await loadCatalogue(options.catalogue ?? sampleCatalogue());
  const { size } = catalogue;
  return orRelease(async (releasers) => {
    if (options.accounts) releasers.push(await lockUsage(options.accounts));
    const service = new LocalService({
      catalogue,
      accounts,
      ownDomain: options.ownDomain ?? DEFAULT_OWN_DOMAIN,
      clock,
      log,
      ...(options.accounts && filesBeside(options.accounts)),
      journalFile: options.journal ?? undefined,
    });
    releasers.push(() => service.close());
    const months = setInterval(() => service.closeMonths(), MONTH_CHECK_MS).unref();
    releasers.push(() => clearInterval(months));
    const served = options.faults?.length ? withFaults(service, faults, clock) : service;
    const listener = await listen(served, { host, port: options.port, clock });
    releasers.push(() => listener.close());
    return {
      /** Base URL, without a slash at its end. */
      url: listener.url,
      /** The first line for people: address, brands, account. */
      message: firstLine(listener.url, size, accounts, options),
      /** Finishes answers under way, and keeps all counts. Safe to call twice. */
      close: () => releasers.releaseAll(),
    };
  });
}

/**
 * States what accounts with a monthly quota owe. If no service runs, closes a past month, so that
 * its statement stays final. Throws `ConfigError` for an unusable accounts file.
 */
export async function readStatements(options: {
  readonly accounts: string;
  readonly month?: string | null | undefined;
  readonly clock?: Clock | undefined;
}): Promise<Statement[]> {
  const current = monthOf((options.clock ?? systemClock).now());
  const { accounts: path } = options;
  const month = options.month ?? current;
  const accounts = loadAccounts(path).all.filter(({ period }) => period === 'month');
  const unlock = await lockUsage(path).catch(() => null);
  try {
    const { usageFile, statementFile } = filesBeside(path);
    const closed = new StatementFile(statementFile);
    const usage = readUsageCounts(usageFile).filter(({ period }) => period === month);
    return accounts.map((account) => {
      const count = usage.find((candidate) => candidate.account === account.name);
      const statement = closed.of(account, month, count?.requests ?? 0, current);
      try {
        if (statement.isFinal && count !== undefined && unlock !== null) closed.close(statement);
      } catch {
        // Reading needs no right to write: the next service closes the month.
      }
      return statement;
    });
  } finally {
    await unlock?.();
  }
}

function filesBeside(accounts: string) {
  return { usageFile: `${accounts}.usage.jsonl`, statementFile: `${accounts}.statements.jsonl` };
}

/** Returns one free account for everyone on this machine. */
export function demoAccounts(): Accounts {
  const demo = { name: 'demo', tokenSha256: hashToken(DEMO_TOKEN).toString('hex'), quota: 100_000 };
  return parseAccounts(JSON.stringify({ accounts: [demo] }), 'demo account');
}

function firstLine(url: string, brands: number, accounts: Accounts, options: ServeOptions): string {
  const who = options.accounts
    ? `${countOf(accounts.all.length, 'account')} of ${options.accounts}`
    : `account demo, token ${DEMO_TOKEN}, usage kept in memory`;
  const sample = options.catalogue ? '' : ' sample';
  const faulty = options.faults?.length ? `; faults: ${options.faults.join(' ')}` : '';
  return `serving ${brands}${sample} brands at ${url} (${who})${faulty}`;
}

/** Returns the package's catalogue; this file runs from `src` and from `dist/src`. */
export function sampleCatalogue(): string {
  for (const root of ['../../', '../../../']) {
    const path = fileURLToPath(new URL(`${root}fixtures/catalogue.jsonl`, import.meta.url));
    if (existsSync(path)) return path;
  }
  const what = 'the sample catalogue is missing';
  const todo = 'reinstall the package, or use --catalogue';
  throw new RunError({ code: 'input-missing', what, subject: 'fixtures/catalogue.jsonl', todo });
}

/**
 * Locks an accounts file, since two services would grant its quota twice. The lock is a socket
 * named after the file, which the kernel frees. Throws `RunError` while another process has it.
 */
async function lockUsage(accountsPath: string): Promise<Release> {
  const name = socketName(await realpath(accountsPath));
  const server = (await tryListen(name)) ?? ((await removeIfDead(name)) ? await tryListen(name) : null);
  if (server === null) {
    const what = 'another service counts the usage of these accounts';
    const todo = 'stop it, or use a copy of the accounts file';
    throw new RunError({ code: 'engine-held', what, subject: accountsPath, todo });
  }
  return () => new Promise<void>((resolve) => server.close(() => resolve()));
}

/** Returns the name: a file only outside Linux and Windows, which a killed owner leaves behind. */
function socketName(path: string): string {
  const name = `brand-enrich-usage-${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

/** Returns null if the name is taken. */
async function tryListen(name: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy()).listen(name);
  try {
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    if (isErrorCode(error, 'EADDRINUSE')) return null;
    throw error;
  }
}

/** Removes a name that is a file without a listener; true if it did. */
async function removeIfDead(name: string): Promise<boolean> {
  const socket = connect(name);
  const isDead = await once(socket, 'connect').then(
    () => false,
    (error: unknown) => isErrorCode(error, 'ECONNREFUSED'),
  );
  socket.destroy();
  if (isDead) await rm(name, { force: true });
  return isDead;
}

/** A PostgreSQL server: its connection, and whether it is new enough and durable. */
import type { ClientBase, ClientConfig } from 'pg';
import { decodedPart, trusting } from '../../core/connector.js';
import { ConfigError, type RunError, usageProblem } from '../../core/errors.js';
import type { Phrase } from '../../core/phrase.js';
import { readPlainFileSync } from '../../core/plain-file.js';
import { systemWords } from '../../core/system-error.js';
import type { EngineWarning } from '../engine.js';
import { unfit } from '../stores/store-calls.js';

export interface PostgresServer {
  readonly connection: ClientConfig;
  /** For people, without credentials. */
  readonly address: string;
  /** The remedy if the server does not answer. */
  readonly todo: Phrase;
  /** Most sessions of one process. Each worker keeps one to listen on. */
  readonly sessions: number;
  /** Removes the password from a message of the driver. */
  redact(text: string): string;
  /** Returns why the server can never work again, or null. */
  readonly loss?: () => RunError | null;
}

/** Sent once in each session, because a pooler refuses these as options of the connection. */
export const BEGIN_SESSION =
  "SET search_path = bullmq, public; SET default_transaction_isolation = 'read committed'";

export const CONNECT_TIMEOUT_MS = 5_000;

/** Returns the address without user, password and parameters: `postgres://host:port/database`. */
export function shownAddress(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** Returns the options for `pg`, with TLS, as `pg` knows no `extraCa`. Throws `ConfigError`. */
export function connectionOf(url: string, extraCa: string | null): ClientConfig {
  const address = new URL(url);
  const take = (part: string) => {
    const value = address.searchParams.get(part) ?? undefined;
    address.searchParams.delete(part);
    return part === 'sslmode' || value === undefined ? value : readPart(part, value);
  };
  const [mode, root, cert, key] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].map(take);
  const connectionString = address.href;
  if (mode === 'disable') return { connectionString, ssl: false };
  if ((mode ?? root ?? cert) === undefined) return { connectionString };
  const trust = root === undefined ? trusting(extraCa) : { ca: `${root}\n${extraCa ?? ''}` };
  return { connectionString, ssl: { ...trust, cert, key, rejectUnauthorized: mode !== 'no-verify' } };
}

function readPart(part: string, path: string): string {
  try {
    return readPlainFileSync(path);
  } catch (error) {
    const what = `the file of ${part} in the address of the engine cannot be read`;
    throw new ConfigError(usageProblem(what, `${path} (${systemWords(error)})`, 'name a readable file'));
  }
}

/** Removes the password from a text that may quote the address. */
export function withoutPassword(text: string, url: string): string {
  const { password } = new URL(url);
  if (password === '') return text;
  return text.replaceAll(password, '[removed]').replaceAll(decodedPart(password), '[removed]');
}

/** The oldest server for BullMQ's Postgres backend (`MINIMUM_POSTGRES_VERSION` of bullmq 6.7). */
export const OLDEST_MAJOR = 13;

export interface ServerFacts {
  /** `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  /** Also `on` for a standby. */
  readonly readOnly: string;
}

export async function readServerFacts(session: ClientBase): Promise<ServerFacts> {
  const { rows } = await session.query(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
            current_setting('synchronous_commit') AS "synchronousCommit",
            current_setting('full_page_writes') AS "fullPageWrites",
            current_setting('transaction_read_only') AS "readOnly"`,
  );
  return rows[0];
}

/** Throws {@link RunError} `engine-unfit` for a server that is too old or read-only. */
export function requireFit({ version, readOnly }: ServerFacts, address: string): void {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_MAJOR)
    throw unfit(`the server is PostgreSQL ${major}`, address, `use PostgreSQL ${OLDEST_MAJOR} or later`);
  if (readOnly === 'on')
    throw unfit('this PostgreSQL is read-only', address, 'use the address of the primary, then run again');
}

/** Returns a warning for each setting that can lose acknowledged answers and permits. */
export function durabilityWarnings(facts: ServerFacts): EngineWarning[] {
  const { fsync, synchronousCommit, fullPageWrites } = facts;
  const runs = 'The PostgreSQL server runs with';
  const warnings = [
    fsync !== 'on' && {
      code: 'fsync-off',
      text: `${runs} fsync off: a power loss can cost stored answers, permits, or the whole database.`,
    },
    synchronousCommit === 'off' && {
      code: 'synchronous-commit-off',
      text: `${runs} synchronous_commit off: a server crash can cost answers and permits of the last second.`,
    },
    fullPageWrites !== 'on' && {
      code: 'full-page-writes-off',
      text:
        `${runs} full_page_writes off: a power loss can damage the data, unless the file system ` +
        'prevents torn pages.',
    },
  ];
  return warnings.filter((warning) => warning !== false);
}

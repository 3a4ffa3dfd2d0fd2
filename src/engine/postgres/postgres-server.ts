/** A PostgreSQL server: its address, whether it is new enough, and keeps what it acknowledged. */
import type { ClientBase, ClientConfig } from 'pg';
import { decodedPart, trusting } from '../../core/connector.js';
import { FailFileError } from '../../core/errors.js';
import type { EngineWarning } from '../engine.js';
import { unfit } from '../store-calls.js';

export interface PostgresServer {
  /** What `pg` connects with, our session options included. */
  readonly connection: ClientConfig;
  /** Where it is, for people; never with credentials. */
  readonly address: string;
  /** The advice when it does not answer. */
  readonly todo: string;
  /** Sessions of one process at most. Each worker keeps one to listen on. */
  readonly sessions: number;
  /** Cuts a password out of a message of the driver. */
  redact(text: string): string;
  /** Asked after a failure: why the server can never work again; null or absent: it may. */
  readonly loss?: () => FailFileError | null;
}

/** For our SQL and BullMQ's: BullMQ's names need no schema, and statements see earlier commits. */
export const SESSION_OPTIONS =
  '-c search_path=bullmq,public -c default_transaction_isolation=read\\ committed';

export const CONNECT_TIMEOUT_MS = 5_000;

/** The address without user, password and parameters: `postgres://host:port/database`. */
export function shownAddress(url: string): string {
  const parsed = parseUrl(url);
  return `postgres://${parsed.host}${parsed.pathname}`;
}

/** The address with our session options added to those that it brings. */
function sessionAddress(url: string): string {
  const parsed = parseUrl(url);
  const own = parsed.searchParams.get('options');
  parsed.searchParams.set('options', own === null ? SESSION_OPTIONS : `${own} ${SESSION_OPTIONS}`);
  return parsed.href;
}

/** `pg` treats each of these as the last. */
const VERIFYING = ['prefer', 'require', 'verify-ca', 'verify-full'];
/** An address with one of these states what to trust. */
const OWN_TRUST = ['sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'];

/** The options for `pg`. `extraCa`: trusted besides Node's own if `sslmode` requires TLS. */
export function connectionOf(url: string, extraCa: string | null): ClientConfig {
  const address = new URL(sessionAddress(url));
  const { searchParams } = address;
  const isVerifying = VERIFYING.includes(searchParams.get('sslmode') ?? '');
  if (extraCa === null || !isVerifying || OWN_TRUST.some((name) => searchParams.has(name)))
    return { connectionString: address.href };
  // If both are given, the address wins over `ssl`.
  searchParams.delete('sslmode');
  return { connectionString: address.href, ssl: trusting(extraCa) };
}

/** Cuts the password out of a text that may quote the address. */
export function withoutPassword(text: string, url: string): string {
  const { password } = parseUrl(url);
  if (password === '') return text;
  return text.replaceAll(password, '[removed]').replaceAll(decodedPart(password), '[removed]');
}

function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  const what = 'the address of the engine cannot be read';
  const todo = 'use the form postgres://user:password@host:port/database';
  // The text is not quoted: it may hold a password.
  throw new FailFileError({ code: 'engine-unreachable', what, subject: 'postgres://…', todo });
}

/** The oldest server for BullMQ's Postgres backend (`MINIMUM_POSTGRES_VERSION` of bullmq 6.7). */
export const OLDEST_MAJOR = 13;

export interface ServerFacts {
  /** `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  /** `on` for a standby too. */
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

/** Throws {@link FailFileError} `engine-unfit` for a server that is too old or read-only. */
export function requireFit({ version, readOnly }: ServerFacts, address: string): void {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_MAJOR)
    throw unfit(`the server is PostgreSQL ${major}`, address, `use PostgreSQL ${OLDEST_MAJOR} or later`);
  if (readOnly === 'on')
    throw unfit('this PostgreSQL is read-only', address, 'use the address of the primary, then run again');
}

/** One for each setting that lets acknowledged answers and permits be lost. */
export function durabilityWarnings({
  fsync,
  synchronousCommit,
  fullPageWrites,
}: ServerFacts): EngineWarning[] {
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
      text: `${runs} full_page_writes off: a power loss can damage the data, unless the file system prevents torn pages.`,
    },
  ];
  return warnings.filter((warning) => warning !== false);
}

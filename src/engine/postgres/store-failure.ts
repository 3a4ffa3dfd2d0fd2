/** Turns errors of the PostgreSQL client into ours, with the server's words but no passwords. */
import { RunError } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';
import { FIND_WRITER, unfit } from '../stores/store-calls.js';
import type { PostgresServer } from './postgres-server.js';

/** Class of codes: ended by an administrator, restarting, cancelled. */
const ENDED = '57';

/** Codes (SQLSTATE) and classes, their first two characters, of errors that pass with time. */
const PASSING: readonly string[] = [
  '08', // connection exceptions
  '40', // rolled back: deadlock, serialisation
  '53300', // too many connections
  '55P03', // a lock was not available
  ENDED,
  '25P03', // idle for too long
  '25006', // read-only: a failover, or an administrator's switch
];

const WHEN_FULL =
  'end other sessions of PostgreSQL, or allow more (max_connections, or the limit of the user), ' +
  'then run again';

const SEE_LOG = 'see the log of PostgreSQL, then run again';
const DAMAGED = 'see the log of PostgreSQL, repair its files or restore them from a backup, then run again';

/** Remedies by code or class, for faults that a person must fix. */
const TODO: readonly (readonly [code: string, todo: string])[] = [
  ['53100', 'free space on the disk of PostgreSQL, then run again'],
  ['53', 'give PostgreSQL more memory, then run again'],
  ['28', 'correct user and password in the address, then run again'],
  ['3D', 'use an existing database in the address, then run again'],
  ['58P01', DAMAGED], // a file is missing
  ['58', SEE_LOG], // other system errors, such as of the disk
  ['XX001', DAMAGED], // data corrupted
  ['XX002', DAMAGED], // an index corrupted
  ['XX', SEE_LOG],
  ['42501', 'grant this user all rights in the schemas bullmq and brand_enrich, then run again'],
];

/**
 * Returns `engine-unreachable` if the session failed or the error passes with time, `engine-unfit`
 * if the server refused. Any other error is a bug and is returned unchanged.
 */
export function storeFailure(server: FailingServer, error: unknown): unknown {
  if (error instanceof RunError) return error;
  const lost = server.loss?.() ?? null;
  if (lost !== null) return lost;
  const state = sqlState(error);
  if (state === null ? isOfConnection(error) : PASSING.some((code) => state.startsWith(code)))
    return unreachable(state === '53300' ? { ...server, todo: WHEN_FULL } : server, error);
  // The database of an embedded engine is always there, if its files are.
  const isRemoved = server.loss !== undefined && state?.startsWith('3D') === true;
  const todo = isRemoved ? DAMAGED : TODO.find(([code]) => state?.startsWith(code))?.[1];
  if (todo === undefined && state === null) return error;
  // One of our functions may be missing, or fail on data of another program.
  return unfit('the engine refuses to work', subjectOf(server, error), todo ?? FIND_WRITER, error);
}

type FailingServer = Pick<PostgresServer, 'address' | 'todo' | 'redact' | 'loss'>;

/** Returns the error `engine-unreachable` for a session that was lost or refused. */
export function unreachable(server: FailingServer, error: unknown): RunError {
  const subject = subjectOf(server, error);
  return new RunError({ code: 'engine-unreachable', subject, todo: server.todo, cause: error });
}

const subjectOf = ({ address, redact }: FailingServer, error: unknown) =>
  `${address} (${redact(systemWords(error))})`;

/** True if the server ended this session or restarts, or is a standby that accepts no sessions. */
export const isEndedByServer = (error: unknown) => sqlState(error)?.startsWith(ENDED) === true;

/** True if the user lacks a right. */
export const isDenied = (error: unknown) => sqlState(error) === '42501';

/** Returns the code of a server's error; null for an error of the client or the network. */
function sqlState(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : null;
}

const NETWORK =
  /^(?:ECONN|EPIPE|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|ENOTFOUND|EAI_AGAIN|ENOENT|EADDRNOTAVAIL)/;
/** Messages of `pg` and its pool, which have no codes. */
const SESSION = new RegExp(
  'connection terminated|connection error|not queryable|query read timeout|timeout exceeded|' +
    'after calling end|client was closed|socket',
  'i',
);

function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return NETWORK.test(code) || error instanceof AggregateError || SESSION.test(error.message);
}

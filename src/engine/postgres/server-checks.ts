/**
 * What is asked of a PostgreSQL server before it is used: new enough, and told to keep what it acknowledged.
 */
import { FailFileError } from '../../core/errors.js';
import type { SqlSession } from './database.js';

/** The oldest server that BullMQ's Postgres backend runs on (`MINIMUM_POSTGRES_VERSION` of bullmq 6.7). */
const OLDEST_MAJOR = 13;

export interface ServerFacts {
  /** `server_version_num`: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
}

export async function readServerFacts(session: SqlSession): Promise<ServerFacts> {
  const { rows } = await session.query(
    `SELECT current_setting('server_version_num') AS version, current_setting('fsync') AS fsync,
            current_setting('synchronous_commit') AS synchronous_commit,
            current_setting('full_page_writes') AS full_page_writes`,
  );
  const row = rows[0] ?? {};
  return {
    versionNumber: Number(row.version),
    fsync: String(row.fsync),
    synchronousCommit: String(row.synchronous_commit),
    fullPageWrites: String(row.full_page_writes),
  };
}

/** Throws {@link FailFileError} `engine-unfit` for a server that is too old. */
export function requireVersion(facts: ServerFacts, address: string): void {
  if (Math.floor(facts.versionNumber / 10_000) >= OLDEST_MAJOR) return;
  throw new FailFileError({
    code: 'engine-unfit',
    what: `the server is PostgreSQL ${Math.floor(facts.versionNumber / 10_000)}`,
    subject: address,
    todo: `use PostgreSQL ${OLDEST_MAJOR} or later`,
  });
}

/** One sentence for each setting that lets acknowledged answers and permits be lost. */
export function durabilityWarnings(facts: ServerFacts): string[] {
  const warnings: string[] = [];
  if (facts.fsync !== 'on') {
    warnings.push(
      'The PostgreSQL server runs with fsync off: a loss of power can cost stored answers, permits, or the whole database.',
    );
  }
  if (facts.synchronousCommit === 'off') {
    warnings.push(
      'The PostgreSQL server runs with synchronous_commit off: a crash of the server can cost answers and permits of up to the last second.',
    );
  }
  if (facts.fullPageWrites !== 'on') {
    warnings.push(
      'The PostgreSQL server runs with full_page_writes off: a loss of power can damage what is stored, unless its file system cannot tear pages.',
    );
  }
  return warnings;
}

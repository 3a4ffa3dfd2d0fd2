/**
 * What a PostgreSQL server does in the background and PGlite does not: it has no background processes. Without
 * checkpoints the log of writes grows until the close (about 2 kB for each lookup) and is replayed whole after a kill;
 * without vacuum the tables of claims, permits and jobs, whose rows live for a moment, and that of answers grow for ever.
 */
import type { PGlite } from '@electric-sql/pglite';

/** Statements between two looks at the log. */
const LOOK_EVERY = 500;
const LOG_BYTES_ALLOWED = 64 * 1024 * 1024;
/** Tables whose rows live for a moment. The others grow with what they keep. */
const SHORT_LIVED = [
  'brand_enrich.account',
  'brand_enrich.claim',
  'brand_enrich.permit',
  'brand_enrich.doubt',
  'brand_enrich.run',
  'brand_enrich.run_key',
  'brand_enrich.worker',
  'brand_enrich.note',
  'bullmq.job',
  'bullmq.event',
  'bullmq.meta',
];

/** Added to PGlite's own start parameters: old log files are deleted early instead of kept up to a gigabyte. */
export const UPKEEP_PARAMS = ['-c', 'max_wal_size=128MB', '-c', 'min_wal_size=32MB'];

export interface Upkeep {
  /** At the start: what the last process left, after a kill perhaps much. */
  begin(): Promise<void>;
  /** After each statement; mostly does nothing. */
  afterStatement(): Promise<void>;
}

export function createUpkeep(database: Pick<PGlite, 'query' | 'exec'>): Upkeep {
  let statements = 0;
  let checkpointAt = '0/0';
  const whereLog = async () =>
    (await database.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn()::text AS lsn')).rows[0]?.lsn ??
    '0/0';
  return {
    async begin() {
      await database.exec('VACUUM');
      await database.exec('CHECKPOINT');
      checkpointAt = await whereLog();
    },
    async afterStatement() {
      statements += 1;
      if (statements % LOOK_EVERY !== 0) return;
      const lsn = await whereLog();
      if (logPosition(lsn) - logPosition(checkpointAt) < LOG_BYTES_ALLOWED) return;
      checkpointAt = lsn;
      await database.exec(`VACUUM (INDEX_CLEANUP ON) ${SHORT_LIVED.join(', ')}`);
      // Rows that were bought anew, and those of answers that were purged. Only where it is worth it are its indexes read.
      await database.exec('VACUUM brand_enrich.outcome');
      await database.exec('CHECKPOINT');
    },
  };
}

/** Bytes from the beginning of the log; `16/B374D848` is two hexadecimal halves. */
export function logPosition(lsn: string): number {
  const [high = '0', low = '0'] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

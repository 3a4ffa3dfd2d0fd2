/**
 * The schema `brand_enrich` and how it is brought up to date: numbered steps, each run once, all in one
 * transaction under an advisory lock, so that many processes may start at the same moment. BullMQ's own schema
 * is brought up to date by BullMQ's `runMigrations`; the engines call both.
 */
import { FailFileError } from '../../core/errors.js';
import type { SqlSession } from './database.js';
import { EXCHANGE_FUNCTION } from './exchange-function.js';
import { LEDGER_PARTS } from './ledger-parts.js';
import { LEDGER_STATE } from './ledger-state.js';
import { LEDGER_TABLES, OVERAGE_COLUMNS } from './ledger-tables.js';
import { NOTE_FUNCTIONS, NOTE_TABLE } from './note-functions.js';
import { OUTCOME_FUNCTIONS, OUTCOME_TABLES } from './outcome-functions.js';
import { DEFERRED_COLUMN, RUN_FUNCTIONS, RUN_TABLES, SPENT_COLUMN, TALLY_TABLE } from './run-functions.js';

/**
 * What the tables are made of, step by step; the position from 1 is the version. A step that was released is never
 * changed: add one. An empty step is for functions alone.
 */
const STEPS: readonly string[] = [
  [LEDGER_TABLES, OUTCOME_TABLES, RUN_TABLES].join('\n'),
  NOTE_TABLE,
  // Nothing is granted for a halted run.
  '',
  // A run whose process lives on goes on when another one opens the embedded engine.
  '',
  // What was taken for each run is counted.
  SPENT_COLUMN,
  // Recording tells its date; what a function gives cannot be replaced.
  'DROP FUNCTION IF EXISTS brand_enrich.record_outcomes',
  // What is given back for a run of a key that was completed meanwhile leaves the next one's count at nothing.
  '',
  OVERAGE_COLUMNS,
  // A process that stays forgets old answers once a day.
  '',
  // Failures are counted where they are kept.
  '',
  DEFERRED_COLUMN,
  TALLY_TABLE,
  // Answers that waited on disk are dated when they were fetched; whoever waits for permits of a killed worker waits as long as a
  // heartbeat.
  '',
  // Answers and spending can be walked over, and taken from another engine.
  '',
];

/** What a function takes and gives cannot be replaced, so that all of them go before they are made anew. */
const DROP_FUNCTIONS = `
DO $$
DECLARE v_function text;
BEGIN
  FOR v_function IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'brand_enrich'::regnamespace LOOP
    EXECUTE 'DROP FUNCTION IF EXISTS ' || v_function || ' CASCADE';
  END LOOP;
END $$;
`;

/** All functions, made anew whenever a step was taken: they need no history. */
const FUNCTIONS = [
  DROP_FUNCTIONS,
  LEDGER_PARTS,
  LEDGER_STATE,
  EXCHANGE_FUNCTION,
  OUTCOME_FUNCTIONS,
  RUN_FUNCTIONS,
  NOTE_FUNCTIONS,
].join('\n');

const MIGRATION_LOCK = 0x62656e6d;

/**
 * Brings the schema up to date. Throws {@link FailFileError} `engine-unfit` when a later release made it.
 *
 * @param subject Where the schema is, for the message.
 */
export async function migrate(session: SqlSession, subject: string): Promise<void> {
  await session.query('BEGIN');
  try {
    await session.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await session.query('CREATE SCHEMA IF NOT EXISTS brand_enrich');
    await session.query(
      'CREATE TABLE IF NOT EXISTS brand_enrich.migration (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await session.query(
      'SELECT coalesce(max(version), 0) AS version FROM brand_enrich.migration',
    );
    const version = Number(rows[0]?.version);
    if (version > STEPS.length) {
      throw new FailFileError({
        code: 'engine-unfit',
        what: `the schema brand_enrich was made by a later release (version ${version}, this one knows ${STEPS.length})`,
        subject,
        todo: 'upgrade brand-enrich on this machine',
      });
    }
    for (const [index, step] of STEPS.entries()) {
      if (index < version) continue;
      if (step !== '') await session.query(step);
      await session.query('INSERT INTO brand_enrich.migration (version) VALUES ($1)', [index + 1]);
    }
    if (version < STEPS.length) await session.query(FUNCTIONS);
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

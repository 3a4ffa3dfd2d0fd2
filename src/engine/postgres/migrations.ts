/**
 * The schema `brand_enrich` and how it is brought up to date: numbered steps, each run once, all in
 * one transaction under a lock, so that many processes may start at the same moment.
 * BullMQ brings up its own schema, under the same lock.
 */
import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { RULES } from '../../ledger/rules.js';
import { unfit } from '../store-calls.js';

const readSql = (name: string) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');

/** What the tables are made of, step by step; the position from 1 is the version. */
const STEPS: readonly string[] = readSql('schema')
  .split(/^(?=-- step \d+:)/m)
  .slice(1);

/** The ledger's constants as functions, which the planner inlines as values: `probe_every_ms()`. */
const RULE_FUNCTIONS = Object.entries(RULES).map(([rule, value]) => {
  const name = rule.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `CREATE FUNCTION brand_enrich.${name}() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ${value}::bigint';`;
});

/** The signature of a function cannot be replaced, so all are dropped before they are made anew. */
const DROP_FUNCTIONS = `
DO $$
DECLARE v_function text;
BEGIN
  FOR v_function IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'brand_enrich'::regnamespace LOOP
    EXECUTE 'DROP FUNCTION IF EXISTS ' || v_function || ' CASCADE';
  END LOOP;
END $$;
DROP TYPE IF EXISTS brand_enrich.billed;
`;

/** All functions, made anew whenever a step was taken: they need no history. */
const FUNCTIONS = [
  DROP_FUNCTIONS,
  ...RULE_FUNCTIONS,
  ...['account', 'reading', 'permits', 'ledger', 'outcomes', 'runs', 'key-values'].map(readSql),
].join('\n');

const MIGRATION_LOCK = 0x62656e6d;

/**
 * One process at a time changes schemas. A session learns what others committed when a transaction
 * begins, but not when it gets a lock within one: it would create a schema that is there by then.
 * So the lock comes first and belongs to the session, which a caller ends when `change` throws.
 */
export async function underMigrationLock(session: ClientBase, change: () => Promise<unknown>): Promise<void> {
  await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
  await change();
  await session.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
}

/** Throws {@link unfit} for a later schema, which is at `subject`. */
export async function migrate(session: ClientBase, subject: string): Promise<void> {
  if ((await readVersion(session)) === STEPS.length) return;
  await underMigrationLock(session, () => takeSteps(session, subject));
}

async function takeSteps(session: ClientBase, subject: string): Promise<void> {
  await session.query('BEGIN');
  try {
    await session.query('CREATE SCHEMA IF NOT EXISTS brand_enrich');
    await session.query(
      'CREATE TABLE IF NOT EXISTS brand_enrich.migration (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const version = await readVersion(session);
    if (version > STEPS.length) {
      const what = `a later release created the schema brand_enrich (version ${version}; this release knows ${STEPS.length})`;
      throw unfit(what, subject, 'upgrade brand-enrich on this machine');
    }
    for (const [index, step] of STEPS.entries()) {
      if (index < version) continue;
      await session.query(step);
      await session.query('INSERT INTO brand_enrich.migration (version) VALUES ($1)', [index + 1]);
    }
    if (version < STEPS.length) await session.query(FUNCTIONS);
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** 0: there are no tables yet. */
async function readVersion(session: ClientBase): Promise<number> {
  const { rows } = await session.query("SELECT to_regclass('brand_enrich.migration') IS NULL AS is_new");
  if (rows[0]?.is_new) return 0;
  const { rows: versions } = await session.query(
    'SELECT coalesce(max(version), 0) AS version FROM brand_enrich.migration',
  );
  return Number(versions[0]?.version);
}

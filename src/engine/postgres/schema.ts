/** Creates the schema `brand_enrich`. Tables never change; those of another build are refused. */
import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { RULES } from '../../ledger/rules.js';
import { ForeignSchemaError } from '../stores/store-calls.js';

/** Raise it when a table changes, or the parameters, answer or meaning of a function. */
export const VERSION = 12;
/** Raise it when a function changes otherwise. An earlier build leaves later functions alone. */
export const FUNCTIONS_VERSION = 3;

const readSql = (name: string) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');

export const TABLES = readSql('schema');

/** The ledger's constants as functions like `probe_every_ms()`, which the planner inlines. */
const RULE_FUNCTIONS = Object.entries(RULES).map(([rule, value]) => {
  const name = rule.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return (
    `CREATE FUNCTION brand_enrich.${name}() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ` +
    `${value}::bigint';`
  );
});

/** `CREATE OR REPLACE` cannot change a signature, so all functions are dropped first. */
const DROP_FUNCTIONS = `
DO $$
DECLARE v_function text;
BEGIN
  FOR v_function IN
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'brand_enrich'::regnamespace
  LOOP
    EXECUTE 'DROP FUNCTION IF EXISTS ' || v_function || ' CASCADE';
  END LOOP;
END $$;
DROP TYPE IF EXISTS brand_enrich.billed;
`;

export const FUNCTIONS = [
  DROP_FUNCTIONS,
  ...RULE_FUNCTIONS,
  ...['account', 'reading', 'permits', 'take', 'ledger', 'outcomes', 'runs', 'key-values'].map(readSql),
].join('\n');

const NOTE_STATE = `
INSERT INTO brand_enrich.engine_state (version, functions) VALUES (${VERSION}, ${FUNCTIONS_VERSION})
ON CONFLICT (only_row) DO UPDATE SET functions = excluded.functions`;

const SCHEMA_LOCK = 0x62656e6d;

/**
 * Changes schemas, one process at a time. The lock belongs to the session and is taken before the
 * transaction, which only sees what others committed before it began. If `change` throws, the
 * caller must end the session.
 */
export async function underSchemaLock(session: ClientBase, change: () => Promise<unknown>): Promise<void> {
  await session.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
  await change();
  await session.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]);
}

/** Creates missing tables, and replaces functions of an earlier build unless `isReadOnly`. */
export async function prepareSchema(session: ClientBase, address: string, isReadOnly = false): Promise<void> {
  const look = () => missingIn(session, address, isReadOnly);
  if ((await look()) === '') return;
  await underSchemaLock(session, async () => {
    const missing = await look();
    // Statements in one query are one transaction.
    if (missing !== '') await session.query(missing + NOTE_STATE);
  });
}

async function missingIn(session: ClientBase, address: string, isReadOnly: boolean): Promise<string> {
  const { rows: tables } = await session.query("SELECT to_regclass('brand_enrich.engine_state') AS state");
  if (tables[0]?.state === null) return TABLES + FUNCTIONS;
  // As JSON, because the table of another build may lack these columns.
  const { rows } = await session.query('SELECT to_jsonb(s) AS state FROM brand_enrich.engine_state s');
  const { version, functions } = rows[0]?.state ?? {};
  if (version !== VERSION) throw new ForeignSchemaError(version, VERSION, address);
  return isReadOnly || functions >= FUNCTIONS_VERSION ? '' : FUNCTIONS;
}

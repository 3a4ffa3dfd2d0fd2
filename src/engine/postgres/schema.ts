/** The schema `brand_enrich`: made whole, and never changed; one of another build is refused. */
import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { RULES } from '../../ledger/rules.js';
import { ForeignSchemaError } from '../stores/store-calls.js';

/** Raise it with a change of a table, or of what a function takes, answers or means. */
export const VERSION = 12;
/** Raise it with any other change of a function. Of two builds the later one's functions stay. */
export const FUNCTIONS_VERSION = 3;

const readSql = (name: string) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');

export const TABLES = readSql('schema');

/** The ledger's constants as functions, which the planner inlines as values: `probe_every_ms()`. */
const RULE_FUNCTIONS = Object.entries(RULES).map(([rule, value]) => {
  const name = rule.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return (
    `CREATE FUNCTION brand_enrich.${name}() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ` +
    `${value}::bigint';`
  );
});

/** The signature of a function cannot be replaced, so all are dropped before they are made anew. */
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
 * One process at a time changes schemas. A session learns what others committed when a transaction
 * begins, but not when it gets a lock within one: it would create a schema that is there by then.
 * So the lock comes first and belongs to the session, which a caller ends when `change` throws.
 */
export async function underSchemaLock(session: ClientBase, change: () => Promise<unknown>): Promise<void> {
  await session.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
  await change();
  await session.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]);
}

/** Makes what is missing, and replaces functions of an earlier build unless `isReadOnly`. */
export async function prepareSchema(session: ClientBase, address: string, isReadOnly = false): Promise<void> {
  const look = () => missingIn(session, address, isReadOnly);
  if ((await look()) === '') return;
  await underSchemaLock(session, async () => {
    const missing = await look();
    // Statements that are sent together are one transaction.
    if (missing !== '') await session.query(missing + NOTE_STATE);
  });
}

async function missingIn(session: ClientBase, address: string, isReadOnly: boolean): Promise<string> {
  const { rows: tables } = await session.query("SELECT to_regclass('brand_enrich.engine_state') AS state");
  if (tables[0]?.state === null) return TABLES + FUNCTIONS;
  // As JSON, since the table of another build may lack these columns.
  const { rows } = await session.query('SELECT to_jsonb(s) AS state FROM brand_enrich.engine_state s');
  const { version, functions } = rows[0]?.state ?? {};
  if (version !== VERSION) throw new ForeignSchemaError(version, VERSION, address);
  return isReadOnly || functions >= FUNCTIONS_VERSION ? '' : FUNCTIONS;
}

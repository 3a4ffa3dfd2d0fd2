/**
 * The tables of the ledger: one row for each account, one for each permit that is out, and what runs may still
 * spend. Meanings are told in `src/ledger/ledger.ts`; the columns are those of the reference model.
 */

/** Columns of an account as the table was first made, without its name. */
const FIRST_COLUMNS = [
  ['epoch', 'text NOT NULL'],
  ['version', 'bigint NOT NULL DEFAULT 0'],
  ['period', 'text'],
  ['pending_period', 'text'],
  ['pending_since', 'bigint NOT NULL DEFAULT 0'],
  ['pending_fell', 'boolean NOT NULL DEFAULT false'],
  ['pending_sent', 'bigint NOT NULL DEFAULT 0'],
  ['sent', 'bigint NOT NULL DEFAULT 0'],
  ['held', 'bigint NOT NULL DEFAULT 0'],
  ['probes', 'bigint NOT NULL DEFAULT 0'],
  ['others', 'bigint NOT NULL DEFAULT 0'],
  ['quota', 'bigint'],
  ['usage', 'bigint'],
  ['heard_at', 'bigint NOT NULL DEFAULT 0'],
  ['closed_at', 'bigint'],
  ['next_probe_at', 'bigint NOT NULL DEFAULT 0'],
  ['rests_until', 'bigint NOT NULL DEFAULT 0'],
  ['serves_overage', 'boolean NOT NULL DEFAULT false'],
  ['suspect_since', 'bigint NOT NULL DEFAULT 0'],
  ['minute', 'bigint NOT NULL DEFAULT 0'],
  ['minute_sent', 'bigint NOT NULL DEFAULT 0'],
  ['minute_before', 'bigint NOT NULL DEFAULT 0'],
  ['second', 'bigint NOT NULL DEFAULT 0'],
  ['second_sent', 'bigint NOT NULL DEFAULT 0'],
  ['second_before', 'bigint NOT NULL DEFAULT 0'],
  ['pace_version', 'bigint NOT NULL DEFAULT 0'],
  ['rate', 'float8'],
  ['burst', 'float8 NOT NULL DEFAULT 1'],
  ['tat', 'float8 NOT NULL DEFAULT 0'],
  ['floor_until', 'bigint NOT NULL DEFAULT 0'],
  ['sweep_at', 'bigint'],
  // The permit that was last granted while the account was opening.
  ['alone', 'text'],
] as const;

/** How a new billing period is told from one answer that lies about it. */
const TURN_COLUMNS = [
  ['pending_seen_at', 'bigint NOT NULL DEFAULT 0'],
  ['pending_falls', 'bigint NOT NULL DEFAULT 0'],
  ['pending_asked', 'text'],
  ['pending_dated', 'bigint NOT NULL DEFAULT 0'],
] as const;

/** The store's clock at the last change, to notice that it was set back. */
const CLOCK_COLUMNS = [['changed_at', 'bigint NOT NULL DEFAULT 0']] as const;

/** Dates that are not to be believed at once. */
const DATE_COLUMNS = [
  ['first_period', 'text'],
  ['pending_kept_at', 'bigint NOT NULL DEFAULT 0'],
] as const;

/** What an account that nobody has asked for yet looks like, as JSON. */
export const NEW_ACCOUNT = JSON.stringify(
  Object.fromEntries(
    [...FIRST_COLUMNS, ...TURN_COLUMNS, ...CLOCK_COLUMNS, ...DATE_COLUMNS]
      .filter(([, type]) => type.includes('NOT NULL'))
      .map(([name, type]) => [name, emptyValue(type)]),
  ),
);

function emptyValue(type: string): string | number | boolean {
  if (type.startsWith('text')) return '';
  return type.startsWith('boolean') ? false : Number(/DEFAULT (\d+)/.exec(type)?.[1]);
}

/** Columns of an account, without its name. */
export const ACCOUNT_COLUMNS: readonly string[] = [
  ...FIRST_COLUMNS,
  ...TURN_COLUMNS,
  ...CLOCK_COLUMNS,
  ...DATE_COLUMNS,
]
  .map(([name]) => name)
  .filter((name) => name !== 'pending_fell');

const columns = FIRST_COLUMNS.map(([name, type]) => `  ${name} ${type}`).join(',\n');

/** Overage is counted when a request is settled, and caps begin anew with each generation of a run key. */
export const OVERAGE_COLUMNS = `
ALTER TABLE brand_enrich.account DROP COLUMN pending_fell,
${[...TURN_COLUMNS, ...CLOCK_COLUMNS, ...DATE_COLUMNS].map(([name, type]) => `  ADD COLUMN ${name} ${type}`).join(',\n')};
ALTER TABLE brand_enrich.permit DROP COLUMN overage, ADD COLUMN generation text NOT NULL DEFAULT '';
ALTER TABLE brand_enrich.run_key ADD COLUMN generation text NOT NULL DEFAULT '';
ALTER TABLE brand_enrich.run ADD COLUMN overage_billed bigint NOT NULL DEFAULT 0;
`;

export const LEDGER_TABLES = `
-- Rows that are written all the time leave room on their page, so that a new version needs no new index entry.
CREATE TABLE brand_enrich.account (
  name text PRIMARY KEY,
${columns}
) WITH (fillfactor = 20);

CREATE TABLE brand_enrich.permit (
  id text PRIMARY KEY,
  account text NOT NULL,
  -- Whose claim the permit was granted under; empty once the claim was taken over.
  worker text NOT NULL,
  run text NOT NULL,
  run_key text NOT NULL,
  key text NOT NULL,
  deadline bigint NOT NULL,
  period text,
  overage boolean NOT NULL,
  probe boolean NOT NULL
);

-- Answers billed or perhaps billed that were of no use, by run and outcome key.
CREATE TABLE brand_enrich.doubt (
  run text NOT NULL,
  key text NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (run, key)
);

-- What is kept under the key of a run until a run of that key completes.
CREATE TABLE brand_enrich.run_key (
  key text PRIMARY KEY,
  started_at bigint NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  overage_requests bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);

CREATE TABLE brand_enrich.engine_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  is_paused boolean NOT NULL DEFAULT false
);
INSERT INTO brand_enrich.engine_state DEFAULT VALUES;
`;

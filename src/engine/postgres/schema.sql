-- The tables of the schema `brand_enrich`, step by step; the number is the version. A step that was
-- released is never changed: add one. A step without statements is for functions alone: they are
-- made anew whenever a step was taken. What the columns of an account mean: `src/ledger/ledger.ts`
-- and `test/model/ledger-model.ts`.

-- step 1: the tables
-- Rows that are written all the time leave room on their page, so that a new version needs no new
-- index entry.
CREATE TABLE brand_enrich.account (
  name text PRIMARY KEY,
  epoch text NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  period text,
  pending_period text,
  pending_since bigint NOT NULL DEFAULT 0,
  pending_fell boolean NOT NULL DEFAULT false,
  pending_sent bigint NOT NULL DEFAULT 0,
  sent bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  probes bigint NOT NULL DEFAULT 0,
  others bigint NOT NULL DEFAULT 0,
  quota bigint,
  usage bigint,
  heard_at bigint NOT NULL DEFAULT 0,
  closed_at bigint,
  next_probe_at bigint NOT NULL DEFAULT 0,
  rests_until bigint NOT NULL DEFAULT 0,
  serves_overage boolean NOT NULL DEFAULT false,
  suspect_since bigint NOT NULL DEFAULT 0,
  minute bigint NOT NULL DEFAULT 0,
  minute_sent bigint NOT NULL DEFAULT 0,
  minute_before bigint NOT NULL DEFAULT 0,
  second bigint NOT NULL DEFAULT 0,
  second_sent bigint NOT NULL DEFAULT 0,
  second_before bigint NOT NULL DEFAULT 0,
  pace_version bigint NOT NULL DEFAULT 0,
  rate float8,
  burst float8 NOT NULL DEFAULT 1,
  tat float8 NOT NULL DEFAULT 0,
  floor_until bigint NOT NULL DEFAULT 0,
  sweep_at bigint,
  alone text
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

CREATE TABLE brand_enrich.outcome (
  key text PRIMARY KEY,
  is_matched boolean NOT NULL,
  billed boolean NOT NULL,
  fetched_at bigint NOT NULL,
  fresh_until bigint,
  packed bytea
);
-- The bytes are compressed when they come.
ALTER TABLE brand_enrich.outcome ALTER COLUMN packed SET STORAGE EXTERNAL;
CREATE INDEX outcome_fetched_at ON brand_enrich.outcome (fetched_at);

CREATE TABLE brand_enrich.claim (
  key text PRIMARY KEY,
  worker text NOT NULL
);

CREATE TABLE brand_enrich.worker (
  id text PRIMARY KEY,
  beat_at bigint NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE brand_enrich.run (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  key text NOT NULL,
  label text NOT NULL,
  settings jsonb NOT NULL,
  -- Taken out of the settings: what the ledger asks of a run.
  account text NOT NULL,
  plan text NOT NULL,
  quota_cap bigint,
  overage bigint NOT NULL,
  max_requests bigint,
  max_overage_requests bigint,
  as_of bigint NOT NULL,
  key_started_at bigint NOT NULL,
  beat_at bigint NOT NULL,
  status text NOT NULL DEFAULT 'running',
  reason text,
  row_count bigint,
  identifiers bigint,
  chunks bigint NOT NULL DEFAULT 0,
  matched bigint NOT NULL DEFAULT 0,
  not_found bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  stored bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  billed bigint NOT NULL DEFAULT 0,
  halt_why text,
  halt_sentence text
) WITH (fillfactor = 30);
CREATE INDEX run_live ON brand_enrich.run (account) WHERE status = 'running';
CREATE INDEX run_newest ON brand_enrich.run (as_of, seq);

CREATE TABLE brand_enrich.run_chunk (
  run text NOT NULL,
  chunk int NOT NULL,
  PRIMARY KEY (run, chunk)
);

CREATE TABLE brand_enrich.failure (
  run text NOT NULL,
  key text NOT NULL,
  reason text NOT NULL,
  billed boolean NOT NULL,
  PRIMARY KEY (run, key)
);

-- step 2: small texts by scope and name
CREATE TABLE brand_enrich.note (
  scope text NOT NULL,
  name text NOT NULL,
  note text NOT NULL,
  written_at bigint NOT NULL,
  PRIMARY KEY (scope, name)
) WITH (fillfactor = 50);

-- step 3: nothing is granted for a halted run
-- step 4: a run whose process lives goes on when another one opens the engine
-- step 5: permits taken for a run and not given back
ALTER TABLE brand_enrich.run ADD COLUMN spent bigint NOT NULL DEFAULT 0;

-- step 6: recording gives its date
DROP FUNCTION IF EXISTS brand_enrich.record_outcomes;

-- step 7: what is given back for a run of a key that was completed meanwhile is not counted for the next one
-- step 8: overage is counted when a request is settled, and caps begin anew with each generation of a run key;
-- a new billing period is known from one answer that lies about it, and a clock that was set back
-- is noticed
ALTER TABLE brand_enrich.account DROP COLUMN pending_fell,
  ADD COLUMN pending_seen_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN pending_falls bigint NOT NULL DEFAULT 0,
  ADD COLUMN pending_asked text,
  ADD COLUMN pending_dated bigint NOT NULL DEFAULT 0,
  ADD COLUMN changed_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN first_period text,
  ADD COLUMN pending_kept_at bigint NOT NULL DEFAULT 0;
ALTER TABLE brand_enrich.permit DROP COLUMN overage, ADD COLUMN generation text NOT NULL DEFAULT '';
ALTER TABLE brand_enrich.run_key ADD COLUMN generation text NOT NULL DEFAULT '';
ALTER TABLE brand_enrich.run ADD COLUMN overage_billed bigint NOT NULL DEFAULT 0;

-- step 9: a process that stays forgets old answers once a day
-- step 10: failures are counted where they are kept
-- step 11: lookups that are left to the next run
ALTER TABLE brand_enrich.failure ADD COLUMN is_deferred boolean NOT NULL DEFAULT false;

-- step 12: what each who reports counted for a run so far
CREATE TABLE brand_enrich.run_tally (
  run text NOT NULL,
  part text NOT NULL,
  matched bigint NOT NULL DEFAULT 0,
  not_found bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  stored bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  billed bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (run, part)
) WITH (fillfactor = 50);

-- step 13: answers that waited on disk are dated when they were fetched, and permits of a killed worker end with its heartbeat
-- step 14: answers and spending can be walked over, and taken from another engine
-- step 15: constants are functions
-- step 16: the request that went alone at the limit may be followed by one that confirms the new period
-- step 17: answers that overtake each other hide no new period
-- step 18: both engines take and answer the same
-- step 19: failures that were paid for and cannot change hold for later starts of the same command
ALTER TABLE brand_enrich.failure ADD COLUMN is_final boolean NOT NULL DEFAULT false;
ALTER TABLE brand_enrich.run ADD COLUMN has_earlier_failures boolean NOT NULL DEFAULT false;
CREATE INDEX run_of_key ON brand_enrich.run (key, key_started_at);
-- step 20: stopped starts of one command are one entry of the list
-- step 21: a run is paused alone; an account knows its use by days, and when it was last answered
ALTER TABLE brand_enrich.run ADD COLUMN is_paused boolean NOT NULL DEFAULT false;
ALTER TABLE brand_enrich.account ADD COLUMN days text NOT NULL DEFAULT '', ADD COLUMN answered_at bigint;
-- step 22: what exchanges count for a run has a row of its own: they keep it until they are on disk, and nobody else
-- writes it
LOCK TABLE brand_enrich.run IN ACCESS EXCLUSIVE MODE;
CREATE TABLE brand_enrich.run_spending (
  run text PRIMARY KEY REFERENCES brand_enrich.run ON DELETE CASCADE,
  spent bigint NOT NULL DEFAULT 0,
  overage_billed bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
INSERT INTO brand_enrich.run_spending SELECT id, spent, overage_billed FROM brand_enrich.run;
ALTER TABLE brand_enrich.run DROP COLUMN spent, DROP COLUMN overage_billed;

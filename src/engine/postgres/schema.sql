-- The tables of the schema `brand_enrich`. `src/ledger/ledger.ts` and `test/model/ledger-model.ts`
-- explain the columns of an account. Tables whose rows change often keep room on their pages
-- (`fillfactor`), so that a new version of a row needs no new index entry.

CREATE SCHEMA IF NOT EXISTS brand_enrich;

CREATE TABLE brand_enrich.engine_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The versions of this schema and of the functions (`schema.ts`).
  version int NOT NULL,
  functions int NOT NULL
);

CREATE TABLE brand_enrich.account (
  name text PRIMARY KEY,
  epoch text NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  changed_at bigint NOT NULL DEFAULT 0,
  behind_ms bigint NOT NULL DEFAULT 0,
  period text,
  period_end bigint,
  next_period text,
  next_since bigint NOT NULL DEFAULT 0,
  has_next_fallen boolean NOT NULL DEFAULT false,
  next_asked text,
  next_sent bigint NOT NULL DEFAULT 0,
  next_dated bigint NOT NULL DEFAULT 0,
  reset_awaited_at bigint,
  turn_asked_at bigint NOT NULL DEFAULT 0,
  sent bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  probes bigint NOT NULL DEFAULT 0,
  free bigint NOT NULL DEFAULT 0,
  others bigint NOT NULL DEFAULT 0,
  early bigint NOT NULL DEFAULT 0,
  serves_overage boolean NOT NULL DEFAULT false,
  quota bigint,
  usage bigint,
  last_usage bigint,
  confirmed_at bigint NOT NULL DEFAULT 0,
  answered_at bigint,
  spent_at bigint NOT NULL DEFAULT 0,
  checked_at bigint NOT NULL DEFAULT 0,
  closed_at bigint,
  next_probe_at bigint NOT NULL DEFAULT 0,
  rests_until bigint NOT NULL DEFAULT 0,
  sweep_at bigint,
  alone text,
  look_of text,
  look_proven boolean NOT NULL DEFAULT false,
  look_booked bigint NOT NULL DEFAULT 0,
  look_rises bigint NOT NULL DEFAULT 0,
  look_tries bigint NOT NULL DEFAULT 0,
  look_tries_since bigint NOT NULL DEFAULT 0,
  look_base bigint,
  look_since boolean NOT NULL DEFAULT false,
  look_recent bigint NOT NULL DEFAULT 0,
  look_earlier bigint NOT NULL DEFAULT 0,
  look_mark_at bigint NOT NULL DEFAULT 0,
  look_out text,
  look_out_at bigint NOT NULL DEFAULT 0,
  second bigint NOT NULL DEFAULT 0,
  second_sent bigint NOT NULL DEFAULT 0,
  second_before bigint NOT NULL DEFAULT 0,
  pace_version bigint NOT NULL DEFAULT 0,
  rate float8,
  burst float8 NOT NULL DEFAULT 1,
  tat float8 NOT NULL DEFAULT 0,
  floor_until bigint NOT NULL DEFAULT 0,
  days text NOT NULL DEFAULT ''
) WITH (fillfactor = 20);

CREATE TABLE brand_enrich.permit (
  id text PRIMARY KEY,
  account text NOT NULL,
  -- The owner of the key's claim; empty once another worker took the claim over.
  worker text NOT NULL,
  run text NOT NULL,
  -- Empty if no run pays.
  generation text NOT NULL,
  key text NOT NULL,
  deadline bigint NOT NULL,
  probe boolean NOT NULL,
  own text,
  free boolean NOT NULL
);

-- Unusable answers that were or may have been billed, by run and outcome key.
CREATE TABLE brand_enrich.unusable_answer (
  run text NOT NULL,
  key text NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (run, key)
);

CREATE TABLE brand_enrich.outcome (
  key text PRIMARY KEY,
  is_matched boolean NOT NULL,
  billed boolean NOT NULL,
  fetched_at bigint NOT NULL,
  fresh_until bigint,
  packed bytea
);
-- The bytes are compressed already (src/engine/stores/profile-codec.ts).
ALTER TABLE brand_enrich.outcome ALTER COLUMN packed SET STORAGE EXTERNAL;
CREATE INDEX outcome_fetched_at ON brand_enrich.outcome (fetched_at);

CREATE TABLE brand_enrich.claim (
  key text PRIMARY KEY,
  worker text NOT NULL
);

CREATE TABLE brand_enrich.worker (
  id text PRIMARY KEY,
  heartbeat_at bigint NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE brand_enrich.run (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  key text NOT NULL,
  generation text NOT NULL,
  label text NOT NULL,
  job text NOT NULL,
  owner text NOT NULL,
  settings jsonb NOT NULL,
  -- Copied from the settings for the ledger.
  account text NOT NULL,
  plan text NOT NULL,
  quota_cap bigint,
  overage bigint NOT NULL,
  max_requests bigint,
  max_overage_requests bigint,
  as_of bigint NOT NULL,
  key_started_at bigint NOT NULL,
  has_earlier_failures boolean NOT NULL,
  heartbeat_at bigint NOT NULL,
  status text NOT NULL,
  stop text,
  halt text,
  cancelled_by text,
  cancelled_at bigint,
  ended_at bigint,
  row_count bigint,
  identifiers bigint,
  chunks bigint NOT NULL DEFAULT 0,
  -- As `Tally`.
  tally jsonb NOT NULL
    DEFAULT '{"matched": 0, "notFound": 0, "failed": 0, "stored": 0, "requests": 0, "billed": 0}'
) WITH (fillfactor = 30);
CREATE INDEX run_live ON brand_enrich.run (account) WHERE status = 'running';
CREATE INDEX run_newest ON brand_enrich.run (as_of, seq);
CREATE INDEX run_of_generation ON brand_enrich.run (generation);
CREATE INDEX run_of_owner ON brand_enrich.run (owner, seq);

-- Counts of a run in a table of their own, since an exchange locks the row until it is on disk.
CREATE TABLE brand_enrich.run_spending (
  run text PRIMARY KEY REFERENCES brand_enrich.run ON DELETE CASCADE,
  spent bigint NOT NULL DEFAULT 0,
  overage_billed bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);

-- A generation: the runs of a key until one completes, which share caps, the start of a refresh and
-- final failures.
CREATE TABLE brand_enrich.generation (
  id text PRIMARY KEY,
  started_at bigint NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  overage_requests bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
-- The generation that the next run of a key joins. Without a row the run begins a new one.
CREATE TABLE brand_enrich.run_key (
  key text PRIMARY KEY,
  generation text NOT NULL
);

CREATE TABLE brand_enrich.run_chunk (
  run text NOT NULL,
  chunk int NOT NULL,
  PRIMARY KEY (run, chunk)
);

-- Counts so far of each process that reports for a run.
CREATE TABLE brand_enrich.run_tally (
  run text NOT NULL,
  part text NOT NULL,
  tally jsonb NOT NULL,
  PRIMARY KEY (run, part)
) WITH (fillfactor = 50);

-- Lookups that failed or are left to the next run. Final ones were paid for and cannot change, so
-- they hold for later starts of the same command.
CREATE TABLE brand_enrich.failure (
  run text NOT NULL,
  key text NOT NULL,
  reason text NOT NULL,
  billed boolean NOT NULL,
  is_deferred boolean NOT NULL,
  is_final boolean NOT NULL,
  PRIMARY KEY (run, key)
);

-- A pause holds the runs of an owner, or all spending (owner `*`). A cancel ends the runs of a job.
CREATE TABLE brand_enrich.pause (
  owner text PRIMARY KEY,
  label text NOT NULL,
  ordered_by text NOT NULL,
  ordered_at bigint NOT NULL,
  run text
);
CREATE TABLE brand_enrich.cancellation (
  job text PRIMARY KEY,
  ordered_by text NOT NULL,
  ordered_at bigint NOT NULL
);

-- Short texts by scope and name.
CREATE TABLE brand_enrich.key_value (
  scope text NOT NULL,
  name text NOT NULL,
  value text NOT NULL,
  written_at bigint NOT NULL,
  PRIMARY KEY (scope, name)
) WITH (fillfactor = 50);

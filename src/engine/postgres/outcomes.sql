-- Outcomes and claims. `synchronous_commit` is off for claims and heartbeats, which a crash may
-- lose: `exchange`, which is durable, checks the claim again. To avoid deadlocks, rows are locked
-- in the order of their keys, which a bitmap scan does not keep, or skipped while they are locked.

-- A lock that exchanges share and a take-over of claims holds alone.
CREATE FUNCTION brand_enrich.takeover_lock() RETURNS bigint
  LANGUAGE sql IMMUTABLE AS $$ SELECT 1650814578::bigint $$;

-- Returns the milliseconds by which all heartbeats move before a worker's own is noted.
CREATE FUNCTION brand_enrich.heartbeat_shift(p_worker text, p_now bigint) RETURNS bigint LANGUAGE sql AS $$
  SELECT coalesce((SELECT CASE
      WHEN latest - p_now > brand_enrich.clock_back_ms() THEN p_now - latest
      WHEN p_now - latest >= brand_enrich.worker_dead_after_ms()
        AND p_now - latest < brand_enrich.worker_kept_ms()
        AND latest - own < brand_enrich.worker_dead_after_ms() THEN
          p_now - latest - brand_enrich.worker_heartbeat_ms()
      ELSE 0 END
    FROM (SELECT max(heartbeat_at) AS latest, max(heartbeat_at) FILTER (WHERE id = p_worker) AS own
            FROM brand_enrich.worker) seen), 0)
$$;

-- Renews a heartbeat older than p_older_ms, so that most calls write nothing and do not wait.
CREATE FUNCTION brand_enrich.note_heartbeat(p_offset bigint, p_worker text, p_older_ms bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset); v_heartbeat_at bigint;
BEGIN
  SELECT heartbeat_at INTO v_heartbeat_at FROM brand_enrich.worker WHERE id = p_worker;
  IF v_heartbeat_at <= v_now AND v_now - v_heartbeat_at < p_older_ms THEN RETURN; END IF;
  IF brand_enrich.heartbeat_shift(p_worker, v_now) <> 0 THEN
    PERFORM FROM brand_enrich.worker ORDER BY id FOR UPDATE;
    -- Another worker may have moved the heartbeats meanwhile.
    v_now := brand_enrich.now_ms(p_offset);
    UPDATE brand_enrich.worker w SET heartbeat_at = w.heartbeat_at + s.shift
      FROM brand_enrich.heartbeat_shift(p_worker, v_now) s(shift) WHERE s.shift <> 0;
  END IF;
  INSERT INTO brand_enrich.worker AS w (id, heartbeat_at) VALUES (p_worker, v_now)
  ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at;
END $$;

CREATE FUNCTION brand_enrich.heartbeat_worker(p_offset bigint, p_worker text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM brand_enrich.note_heartbeat(p_offset, p_worker, 0);
END $$;

CREATE FUNCTION brand_enrich.deregister_worker(p_offset bigint, p_worker text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  DELETE FROM brand_enrich.worker WHERE id = p_worker;
END $$;

CREATE FUNCTION brand_enrich.is_worker_alive(p_worker text, p_now bigint) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM brand_enrich.worker w
                  WHERE w.id = p_worker AND p_now - w.heartbeat_at < brand_enrich.worker_dead_after_ms())
$$;

-- Matched answers are fresh from p_matched on, others from p_missing on.
CREATE FUNCTION brand_enrich.fresh_keys(p_keys text[], p_matched bigint, p_missing bigint, p_as_of bigint)
RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(SELECT o.key FROM brand_enrich.outcome o
   WHERE o.key = ANY (p_keys) AND o.fetched_at >= CASE WHEN o.is_matched THEN p_matched ELSE p_missing END
     AND (o.fresh_until IS NULL OR o.fresh_until > p_as_of));
END $$;

-- Takes over the claims of dead workers on these keys, and returns the keys. A permit that is held
-- under such a claim counts as an unusable answer. No exchange runs meanwhile.
CREATE FUNCTION brand_enrich.take_over(p_keys text[], p_worker text, p_now bigint) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE v_taken text[];
BEGIN
  PERFORM pg_advisory_xact_lock(brand_enrich.takeover_lock());
  WITH dead AS (
    SELECT c.key, c.worker FROM brand_enrich.claim c
     WHERE c.key = ANY (p_keys) AND c.worker <> p_worker AND NOT brand_enrich.is_worker_alive(c.worker, p_now)
     ORDER BY c.key FOR UPDATE
  ), moved AS (
    UPDATE brand_enrich.claim c SET worker = p_worker FROM dead WHERE c.key = dead.key RETURNING c.key
  ), unsettled AS (
    UPDATE brand_enrich.permit p SET worker = '' FROM dead WHERE p.key = dead.key AND p.worker = dead.worker
    RETURNING p.run, p.key
  ), counted AS (
    INSERT INTO brand_enrich.unusable_answer AS d (run, key, count)
    SELECT DISTINCT run, key, 1 FROM unsettled WHERE run <> '' ORDER BY run, key
    ON CONFLICT (run, key) DO UPDATE SET count = d.count + 1
  )
  SELECT array_agg(key) INTO v_taken FROM moved;
  RETURN coalesce(v_taken, '{}');
END $$;

-- Claims before it reads the answers, so that it sees an answer of the same moment.
CREATE FUNCTION brand_enrich.claim_keys(
  p_offset bigint, p_worker text, p_keys jsonb, p_matched bigint, p_missing bigint, p_as_of bigint
) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  v_keys text[] := ARRAY(SELECT DISTINCT k FROM jsonb_array_elements_text(p_keys) k ORDER BY k);
  v_ours text[]; v_fresh text[]; v_back text[]; v_dead text[]; v_now bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM brand_enrich.note_heartbeat(p_offset, p_worker, 1000);
  WITH new AS (
    INSERT INTO brand_enrich.claim (key, worker) SELECT k, p_worker FROM unnest(v_keys) k
    ON CONFLICT DO NOTHING RETURNING key
  ) SELECT coalesce(array_agg(key), '{}') INTO v_ours FROM new;
  v_fresh := brand_enrich.fresh_keys(v_keys, p_matched, p_missing, p_as_of);
  IF v_fresh <> '{}' THEN
    v_back := ARRAY(SELECT unnest(v_ours) INTERSECT SELECT unnest(v_fresh));
    DELETE FROM brand_enrich.claim WHERE key = ANY (v_back) AND worker = p_worker;
  END IF;
  IF cardinality(v_ours) < cardinality(v_keys) THEN
    v_now := brand_enrich.now_ms(p_offset);
    SELECT v_ours || coalesce(array_agg(c.key) FILTER (WHERE c.worker = p_worker), '{}'),
           array_agg(c.key) FILTER (WHERE c.worker <> p_worker AND c.key <> ALL (v_fresh)
                                      AND NOT brand_enrich.is_worker_alive(c.worker, v_now))
      INTO v_ours, v_dead FROM brand_enrich.claim c WHERE c.key = ANY (v_keys) AND c.key <> ALL (v_ours);
    IF v_dead IS NOT NULL THEN
      v_dead := brand_enrich.take_over(v_dead, p_worker, v_now);
      v_ours := v_ours || v_dead;
      v_fresh := v_fresh || brand_enrich.fresh_keys(v_dead, p_matched, p_missing, p_as_of);
    END IF;
  END IF;
  RETURN (SELECT string_agg(CASE WHEN k = ANY (v_fresh) THEN 'f' WHEN k = ANY (v_ours) THEN 'o' ELSE 'b' END,
    '' ORDER BY ord) FROM jsonb_array_elements_text(p_keys) WITH ORDINALITY e(k, ord));
END $$;

-- p_meta: [key, is matched, billed, first byte (from 1), length or null, milliseconds fresh or
-- null, age in milliseconds]; p_bytes: all answers in a row.
CREATE FUNCTION brand_enrich.record_outcomes(p_offset bigint, p_meta jsonb, p_bytes bytea) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  INSERT INTO brand_enrich.outcome (key, is_matched, billed, fetched_at, fresh_until, packed)
  SELECT DISTINCT ON (m->>0) m->>0, (m->>1)::boolean, (m->>2)::boolean, v_now - (m->>6)::bigint,
         v_now - (m->>6)::bigint + (m->>5)::float8,
         substring(p_bytes FROM (m->>3)::int FOR (m->>4)::int)
    FROM jsonb_array_elements(p_meta) WITH ORDINALITY e(m, ord) ORDER BY m->>0, ord DESC
  ON CONFLICT (key) DO UPDATE SET is_matched = excluded.is_matched, billed = excluded.billed,
    fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until, packed = excluded.packed
    WHERE excluded.fetched_at = v_now OR outcome.fetched_at <= excluded.fetched_at;
  DELETE FROM brand_enrich.claim WHERE key = ANY (ARRAY(SELECT m->>0 FROM jsonb_array_elements(p_meta) m
    ORDER BY 1));
  RETURN v_now;
END $$;

CREATE FUNCTION brand_enrich.release_keys(p_offset bigint, p_worker text, p_keys jsonb) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  DELETE FROM brand_enrich.claim
   WHERE key = ANY (ARRAY(SELECT k FROM jsonb_array_elements_text(p_keys) k ORDER BY k))
     AND worker = p_worker;
END $$;

-- meta: [position from 1, is matched, billed, fetched at, fresh until, length or null].
CREATE FUNCTION brand_enrich.read_outcomes(
  p_offset bigint, p_keys jsonb, p_matched bigint, p_missing bigint, p_as_of bigint,
  OUT meta jsonb, OUT bytes bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  SELECT jsonb_agg(jsonb_build_array(e.ord, o.is_matched, o.billed, o.fetched_at, o.fresh_until,
    length(o.packed)) ORDER BY e.ord),
         string_agg(o.packed, ''::bytea ORDER BY e.ord) INTO meta, bytes
    FROM jsonb_array_elements_text(p_keys) WITH ORDINALITY e(k, ord)
      JOIN brand_enrich.outcome o ON o.key = e.k
   WHERE o.fetched_at >= CASE WHEN o.is_matched THEN p_matched ELSE p_missing END
     AND (o.fresh_until IS NULL OR o.fresh_until > p_as_of);
END $$;

-- Answers all in one page.
CREATE FUNCTION brand_enrich.outcome_stats(p_offset bigint, p_cursor text, p_page int) RETURNS jsonb
  LANGUAGE sql AS $$
  SELECT jsonb_build_array('0', jsonb_build_object('matched', count(*) FILTER (WHERE is_matched),
    'notFound', count(*) FILTER (WHERE NOT is_matched),
    'oldestFetchedAt', min(fetched_at), 'newestFetchedAt', max(fetched_at))) FROM brand_enrich.outcome
$$;

CREATE FUNCTION brand_enrich.forget_outcomes(p_offset bigint, p_keys jsonb) RETURNS int
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
DECLARE v_count int;
BEGIN
  DELETE FROM brand_enrich.outcome
   WHERE key = ANY (ARRAY(SELECT k FROM jsonb_array_elements_text(p_keys) k ORDER BY k));
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Purges one page (`StoreCalls.walk`). Answers the next cursor and the number of deleted answers.
CREATE FUNCTION brand_enrich.purge_outcomes(p_offset bigint, p_cursor text, p_page int, p_older_ms bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_before bigint := brand_enrich.now_ms(p_offset) - p_older_ms; v_count int; v_last text;
BEGIN
  WITH page AS (
    SELECT key FROM brand_enrich.outcome
     WHERE key > CASE p_cursor WHEN '0' THEN '' ELSE p_cursor END AND fetched_at < v_before
     ORDER BY key LIMIT p_page FOR UPDATE
  ), gone AS (
    DELETE FROM brand_enrich.outcome o USING page WHERE o.key = page.key RETURNING o.key
  ) SELECT count(*), max(key) INTO v_count, v_last FROM gone;
  RETURN jsonb_build_array(coalesce(v_last, '0'), v_count);
END $$;

-- Like `read_outcomes`, with keys instead of positions. next: null on the last page.
CREATE FUNCTION brand_enrich.page_outcomes(
  p_offset bigint, p_after text, p_limit int, OUT meta jsonb, OUT bytes bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  SELECT jsonb_build_object('next', CASE WHEN count(*) = p_limit THEN max(o.key) END, 'answers', jsonb_agg(
           jsonb_build_array(o.key, o.is_matched, o.billed, o.fetched_at, o.fresh_until, length(o.packed))
             ORDER BY o.key)),
         string_agg(o.packed, ''::bytea ORDER BY o.key) INTO meta, bytes
    FROM (SELECT * FROM brand_enrich.outcome WHERE key > p_after ORDER BY key LIMIT p_limit) o;
END $$;

-- p_meta: as for `record_outcomes`, with fresh until and fetched at as the last two.
CREATE FUNCTION brand_enrich.restore_outcomes(p_offset bigint, p_meta jsonb, p_bytes bytea, OUT taken int,
  OUT expired int)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
  v_oldest bigint := v_now - brand_enrich.answers_kept_ms();
BEGIN
  expired := (SELECT count(*) FROM jsonb_array_elements(p_meta) m WHERE (m->>6)::bigint <= v_oldest);
  WITH given AS (
    SELECT m->>0 AS key, m, least((m->>6)::bigint, v_now) AS fetched_at,
      greatest(0, (m->>6)::bigint - v_now) AS ahead
      FROM jsonb_array_elements(p_meta) m WHERE (m->>6)::bigint > v_oldest
  ), kept AS (
    INSERT INTO brand_enrich.outcome (key, is_matched, billed, fetched_at, fresh_until, packed)
    SELECT DISTINCT ON (key) key, (m->>1)::boolean, (m->>2)::boolean, fetched_at, (m->>5)::bigint - ahead,
           substring(p_bytes FROM (m->>3)::int FOR (m->>4)::int)
      FROM given ORDER BY key, fetched_at DESC
    ON CONFLICT (key) DO UPDATE SET is_matched = excluded.is_matched, billed = excluded.billed,
      fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until, packed = excluded.packed
      WHERE outcome.fetched_at < excluded.fetched_at
    RETURNING 1
  ) SELECT count(*) INTO taken FROM kept;
END $$;

-- Deletes answers that were too old when the oldest live run began, and leftovers of old runs and
-- workers: at most a page of each table, without locked rows. Returns whether there may be more.
CREATE FUNCTION brand_enrich.tidy(p_offset bigint, p_page int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset); v_table text; v_most int := 0;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  v_most := greatest(v_most, brand_enrich.delete_unlocked('outcome', 't.fetched_at < $1', least(v_now, (
    SELECT min(as_of) FROM brand_enrich.run
     WHERE status = 'running' AND v_now - heartbeat_at < brand_enrich.run_dead_after_ms()))
      - brand_enrich.answers_kept_ms(), p_page));
  v_most := greatest(v_most, brand_enrich.delete_unlocked('claim',
    'NOT EXISTS (SELECT FROM brand_enrich.worker w WHERE w.id = t.worker AND w.heartbeat_at > $1)
     AND NOT EXISTS (SELECT FROM brand_enrich.permit p
       WHERE p.key = t.key)', v_now - brand_enrich.worker_kept_ms(), p_page));
  v_most := greatest(v_most, brand_enrich.delete_unlocked('worker', 't.heartbeat_at < $1',
    v_now - brand_enrich.worker_kept_ms(), p_page));
  FOREACH v_table IN ARRAY ARRAY['failure', 'unusable_answer', 'run_chunk', 'run_tally'] LOOP
    v_most := greatest(v_most, brand_enrich.delete_unlocked(v_table,
      'EXISTS (SELECT FROM brand_enrich.run r WHERE r.id = t.run AND r.heartbeat_at < $1)',
      v_now - brand_enrich.run_kept_ms(), p_page));
  END LOOP;
  IF v_most >= p_page THEN RETURN true; END IF;
  -- Runs go last, because their leftovers are found by their rows.
  v_most := greatest(
    brand_enrich.delete_unlocked('run', 't.heartbeat_at < $1',
      v_now - brand_enrich.run_key_kept_ms(), p_page),
    brand_enrich.delete_unlocked('cancellation', 't.ordered_at < $1',
      v_now - brand_enrich.run_key_kept_ms(), p_page),
    brand_enrich.delete_unlocked('generation',
      't.started_at < $1 AND NOT EXISTS (SELECT FROM brand_enrich.run r
      WHERE r.generation = t.id)', v_now - brand_enrich.run_key_kept_ms(), p_page),
    brand_enrich.delete_unlocked('run_key', 'NOT EXISTS (SELECT FROM brand_enrich.generation g
      WHERE g.id = t.generation)', v_now, p_page));
  RETURN v_most >= p_page;
END $$;

CREATE FUNCTION brand_enrich.delete_unlocked(p_table text, p_where text, p_before bigint, p_page int)
  RETURNS int LANGUAGE plpgsql AS $$
DECLARE v_count int;
BEGIN
  EXECUTE format('DELETE FROM brand_enrich.%1$I WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM brand_enrich.%1$I t WHERE %2$s
      LIMIT %3$s FOR UPDATE OF t SKIP LOCKED))', p_table, p_where, p_page)
    USING p_before;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Returns true to one process a day. No caller lists that scope.
CREATE FUNCTION brand_enrich.is_tidy_due(p_offset bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  INSERT INTO brand_enrich.key_value AS k (scope, name, value, written_at)
    VALUES ('retention', 'tidied', '', v_now)
  ON CONFLICT (scope, name) DO UPDATE SET written_at = excluded.written_at
   WHERE abs(v_now - k.written_at) >= 86400000;
  RETURN FOUND;
END $$;

-- Runs: what `src/stores/run-store.ts` asks for, one function for each operation.

CREATE FUNCTION brand_enrich.tally_of(r brand_enrich.run) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('matched', r.matched, 'notFound', r.not_found, 'failed', r.failed, 'stored', r.stored,
    'requests', r.requests, 'billed', r.billed)
$$;

CREATE FUNCTION brand_enrich.run_record(r brand_enrich.run) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('id', r.id, 'key', r.key, 'label', r.label, 'settings', r.settings::text, 'asOf', r.as_of,
    'keyStartedAt', r.key_started_at, 'beatAt', r.beat_at, 'status', r.status, 'reason', r.reason,
    'rows', r.row_count, 'identifiers', r.identifiers, 'tally', brand_enrich.tally_of(r), 'spent', coalesce(s.spent, 0),
    'overageBilled', coalesce(s.overage_billed, 0), 'hasEarlierFailures', r.has_earlier_failures, 'isPaused', r.is_paused)
    FROM (SELECT) one LEFT JOIN brand_enrich.run_spending s ON s.run = r.id
$$;

CREATE FUNCTION brand_enrich.start_run(p_offset bigint, p_id text, p_key text, p_label text, p_settings jsonb)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset); v_started_at bigint; r brand_enrich.run;
BEGIN
  INSERT INTO brand_enrich.run_key AS k (key, started_at, generation) VALUES (p_key, v_now, p_id)
  ON CONFLICT (key) DO UPDATE SET key = k.key RETURNING started_at INTO v_started_at;
  -- A start that is sent twice is one start, and changes nothing.
  INSERT INTO brand_enrich.run AS t (id, key, label, settings, account, plan, quota_cap, overage, max_requests,
    max_overage_requests, as_of, key_started_at, beat_at, has_earlier_failures)
  VALUES (p_id, p_key, p_label, p_settings, p_settings->>'account', p_settings->>'plan',
    (p_settings->>'quotaCap')::bigint, (p_settings->>'overage')::bigint, (p_settings->>'maxRequests')::bigint,
    (p_settings->>'maxOverageRequests')::bigint, v_now, v_started_at, v_now,
    EXISTS (SELECT FROM brand_enrich.run e JOIN brand_enrich.failure f ON f.run = e.id AND f.is_final
             WHERE e.key = p_key AND e.key_started_at = v_started_at))
  ON CONFLICT (id) DO UPDATE SET id = t.id
  RETURNING * INTO r;
  RETURN brand_enrich.run_record(r);
END $$;

CREATE FUNCTION brand_enrich.get_run(p_offset bigint, p_id text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT brand_enrich.run_record(r) FROM brand_enrich.run r WHERE r.id = p_id
$$;

-- A later start of the same file continues one that stopped, and represents both.
CREATE FUNCTION brand_enrich.list_runs(p_offset bigint, p_limit int) RETURNS jsonb LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(brand_enrich.run_record(r) || jsonb_build_object('earlier',
      (SELECT jsonb_build_object('starts', count(*), 'billed', coalesce(sum(e.billed), 0),
          'unreported', coalesce(sum(greatest(0, s.spent - e.billed)), 0), 'overage', coalesce(sum(s.overage_billed), 0))
         FROM brand_enrich.run e LEFT JOIN brand_enrich.run_spending s ON s.run = e.id
        WHERE e.key = r.key AND e.key_started_at = r.key_started_at AND e.label = r.label
          AND e.seq < r.seq AND e.status = 'stopped')) ORDER BY r.as_of DESC, r.seq DESC), '[]')
    FROM (SELECT * FROM brand_enrich.run s
           WHERE s.status <> 'stopped' OR NOT EXISTS (SELECT FROM brand_enrich.run n
             WHERE n.key = s.key AND n.key_started_at = s.key_started_at AND n.label = s.label AND n.seq > s.seq)
           ORDER BY as_of DESC, seq DESC LIMIT p_limit) r
$$;

-- How far the workers are; null when there is no such run.
CREATE FUNCTION brand_enrich.beat_run(p_offset bigint, p_id text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE brand_enrich.run SET beat_at = brand_enrich.now_ms(p_offset) WHERE id = p_id
  RETURNING * INTO r;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN jsonb_build_object('chunks', r.chunks, 'tally', brand_enrich.tally_of(r),
    'halt', CASE WHEN r.halt_why IS NOT NULL
                 THEN jsonb_build_object('why', r.halt_why, 'sentence', r.halt_sentence) END,
    'isCancelled', r.status = 'cancelled',
    'isPausedAlone', r.is_paused,
    'isPaused', r.is_paused OR (SELECT is_paused FROM brand_enrich.engine_state));
END $$;

CREATE FUNCTION brand_enrich.set_run_size(p_offset bigint, p_id text, p_rows bigint, p_identifiers bigint)
RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET row_count = p_rows, identifiers = p_identifiers WHERE id = p_id
$$;

-- Sums so far of one who reports. What was reported before is not counted again.
CREATE FUNCTION brand_enrich.add_tally(p_offset bigint, p_id text, p_part text, p jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE known brand_enrich.run_tally; s brand_enrich.run_tally;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Two reports of one name go one after the other.
  PERFORM FROM brand_enrich.run WHERE id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO brand_enrich.run_tally (run, part) VALUES (p_id, p_part) ON CONFLICT DO NOTHING;
  SELECT * INTO known FROM brand_enrich.run_tally WHERE run = p_id AND part = p_part;
  UPDATE brand_enrich.run_tally t SET matched = greatest(t.matched, (p->>'matched')::bigint),
    not_found = greatest(t.not_found, (p->>'notFound')::bigint), failed = greatest(t.failed, (p->>'failed')::bigint),
    stored = greatest(t.stored, (p->>'stored')::bigint), requests = greatest(t.requests, (p->>'requests')::bigint),
    billed = greatest(t.billed, (p->>'billed')::bigint)
   WHERE t.run = p_id AND t.part = p_part RETURNING * INTO s;
  UPDATE brand_enrich.run SET matched = matched + s.matched - known.matched,
    not_found = not_found + s.not_found - known.not_found, failed = failed + s.failed - known.failed,
    stored = stored + s.stored - known.stored, requests = requests + s.requests - known.requests,
    billed = billed + s.billed - known.billed WHERE id = p_id;
END $$;

CREATE FUNCTION brand_enrich.finish_chunk(p_offset bigint, p_id text, p_chunk int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO brand_enrich.run_chunk (run, chunk) VALUES (p_id, p_chunk) ON CONFLICT DO NOTHING;
  IF FOUND THEN UPDATE brand_enrich.run SET chunks = chunks + 1 WHERE id = p_id; END IF;
END $$;

CREATE FUNCTION brand_enrich.add_failures(p_offset bigint, p_id text, p_failures jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_new bigint;
BEGIN
  -- Each key is counted once, however often it is reported: a row that was there before has been
  -- locked or changed (xmax).
  WITH known AS (
    INSERT INTO brand_enrich.failure (run, key, reason, billed, is_deferred, is_final)
    SELECT DISTINCT ON (f->>'key') p_id, f->>'key', f->>'reason', (f->>'billed')::boolean,
           coalesce((f->>'isDeferred')::boolean, false), coalesce((f->>'isFinal')::boolean, false)
      FROM jsonb_array_elements(p_failures) WITH ORDINALITY e(f, ord) ORDER BY f->>'key', ord DESC
    ON CONFLICT (run, key) DO UPDATE SET reason = excluded.reason, billed = excluded.billed,
      is_deferred = excluded.is_deferred, is_final = failure.is_final OR excluded.is_final
    RETURNING xmax = 0 AND NOT is_deferred AS is_new
  ) SELECT count(*) FILTER (WHERE is_new) INTO v_new FROM known;
  UPDATE brand_enrich.run SET failed = failed + v_new WHERE id = p_id AND v_new > 0;
END $$;

CREATE FUNCTION brand_enrich.get_failures(p_offset bigint, p_id text, p_keys jsonb) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE v_runs text[] := ARRAY[p_id];
BEGIN
  -- Final ones of earlier starts of the same command hold too.
  v_runs := v_runs || ARRAY(SELECT e.id FROM brand_enrich.run r JOIN brand_enrich.run e USING (key, key_started_at)
    WHERE r.id = p_id AND r.has_earlier_failures AND e.id <> p_id);
  RETURN (SELECT jsonb_agg(jsonb_build_object('position', found.ord, 'reason', found.reason, 'billed', found.billed,
      'isDeferred', found.is_deferred))
    FROM (SELECT DISTINCT ON (e.ord) e.ord, f.reason, f.billed, f.is_deferred
            FROM jsonb_array_elements_text(p_keys) WITH ORDINALITY e(k, ord)
            JOIN brand_enrich.failure f ON f.run = ANY (v_runs) AND f.key = e.k AND (f.run = p_id OR f.is_final)
           ORDER BY e.ord, f.run <> p_id) found);
END $$;

-- The first report stays.
CREATE FUNCTION brand_enrich.halt_run(p_offset bigint, p_id text, p_why text, p_sentence text) RETURNS void
LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET halt_why = p_why, halt_sentence = p_sentence WHERE id = p_id AND halt_why IS NULL
$$;

CREATE FUNCTION brand_enrich.clear_halt(p_offset bigint, p_id text) RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET halt_why = NULL, halt_sentence = NULL WHERE id = p_id
$$;

-- Only a running run ends; a cancelled one stays cancelled and learns why it stopped. The account
-- comes first: an exchange counts on key and run.
CREATE FUNCTION brand_enrich.end_run(p_offset bigint, p_id text, p_status text, p_reason text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_status text; v_key text;
BEGIN
  SELECT status, key INTO v_status, v_key FROM brand_enrich.run WHERE id = p_id;
  PERFORM FROM brand_enrich.account WHERE name = (SELECT account FROM brand_enrich.run WHERE id = p_id) FOR UPDATE;
  IF p_status = 'completed' AND v_status = 'running' THEN
    DELETE FROM brand_enrich.run_key WHERE key = v_key;
  END IF;
  UPDATE brand_enrich.run SET reason = p_reason, is_paused = false,
    status = CASE WHEN status = 'running' THEN p_status ELSE status END
   WHERE id = p_id AND status IN ('running', 'cancelled');
  IF NOT FOUND THEN RETURN; END IF;
  DELETE FROM brand_enrich.run_chunk WHERE run = p_id;
  DELETE FROM brand_enrich.doubt WHERE run = p_id;
END $$;

CREATE FUNCTION brand_enrich.cancel_run(p_offset bigint, p_id text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE brand_enrich.run SET is_paused = false,
    status = CASE WHEN status = 'running' THEN 'cancelled' ELSE status END
   WHERE id = p_id;
  RETURN FOUND;
END $$;

CREATE FUNCTION brand_enrich.set_run_paused(p_offset bigint, p_id text, p_is_paused boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE brand_enrich.run SET is_paused = p_is_paused WHERE id = p_id AND status = 'running';
  RETURN FOUND;
END $$;

CREATE FUNCTION brand_enrich.order_of(p_by text, p_at bigint) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_by IS NOT NULL THEN jsonb_build_object('by', p_by, 'at', p_at) END
$$;

CREATE FUNCTION brand_enrich.pause_of(p_owner text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT brand_enrich.order_of(p.ordered_by, p.ordered_at) FROM brand_enrich.pause p WHERE p.owner = p_owner
$$;

CREATE FUNCTION brand_enrich.record_of(r brand_enrich.run) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('id', r.id, 'key', r.key, 'label', r.label, 'settings', r.settings::text,
    'asOf', r.as_of, 'keyStartedAt', r.key_started_at, 'heartbeatAt', r.heartbeat_at,
    'status', r.status, 'stop', r.stop, 'rows', r.row_count, 'identifiers', r.identifiers,
    'tally', r.tally, 'spent', coalesce(s.spent, 0),
    'overageBilled', coalesce(s.overage_billed, 0), 'hasEarlierFailures', r.has_earlier_failures,
    'job', r.job, 'owner', r.owner, 'endedAt', r.ended_at,
    'paused', CASE WHEN r.status IN ('running', 'stopped') THEN brand_enrich.pause_of(r.owner) END,
    'cancelled', brand_enrich.order_of(r.cancelled_by, r.cancelled_at))
    FROM (SELECT) one LEFT JOIN brand_enrich.run_spending s ON s.run = r.id
$$;

CREATE FUNCTION brand_enrich.start_run(p_offset bigint, p_id text, p_key text, p_label text, p_settings jsonb,
  p_job text, p_owner text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := brand_enrich.now_ms(p_offset);
  g brand_enrich.generation; r brand_enrich.run; c brand_enrich.cancellation;
BEGIN
  SELECT * INTO r FROM brand_enrich.run WHERE id = p_id;
  IF FOUND THEN RETURN brand_enrich.record_of(r); END IF;
  INSERT INTO brand_enrich.run_key AS k (key, generation) VALUES (p_key, p_id)
  ON CONFLICT (key) DO UPDATE SET key = k.key RETURNING generation INTO g.id;
  INSERT INTO brand_enrich.generation AS t (id, started_at) VALUES (g.id, v_now)
  ON CONFLICT (id) DO UPDATE SET id = t.id RETURNING * INTO g;
  -- A cancel of the job commits before this start, or sees it.
  PERFORM pg_advisory_xact_lock(hashtextextended(p_job, 0));
  SELECT * INTO c FROM brand_enrich.cancellation WHERE job = p_job;
  INSERT INTO brand_enrich.run AS t (id, key, generation, label, settings, account, plan, quota_cap,
    overage, max_requests, max_overage_requests, as_of, key_started_at, heartbeat_at, job, owner, status,
    cancelled_by, cancelled_at, ended_at, has_earlier_failures)
  VALUES (p_id, p_key, g.id, p_label, p_settings, p_settings->>'account', p_settings->>'plan',
    (p_settings->>'quotaCap')::bigint, (p_settings->>'overage')::bigint, (p_settings->>'maxRequests')::bigint,
    (p_settings->>'maxOverageRequests')::bigint, v_now, g.started_at, v_now, p_job, p_owner,
    CASE WHEN c.job IS NULL THEN 'running' ELSE 'cancelled' END, c.ordered_by, c.ordered_at,
    CASE WHEN c.job IS NOT NULL THEN v_now END,
    EXISTS (SELECT FROM brand_enrich.run e JOIN brand_enrich.failure f ON f.run = e.id AND f.is_final
             WHERE e.generation = g.id))
  ON CONFLICT (id) DO UPDATE SET id = t.id
  RETURNING * INTO r;
  RETURN brand_enrich.record_of(r);
END $$;

CREATE FUNCTION brand_enrich.get_run(p_offset bigint, p_id text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT brand_enrich.record_of(r) FROM brand_enrich.run r WHERE r.id = p_id
$$;

CREATE FUNCTION brand_enrich.list_runs(p_offset bigint, p_limit int) RETURNS jsonb LANGUAGE sql AS $$
  WITH alive AS (
    SELECT s AS r FROM brand_enrich.run s
     WHERE s.status = 'running' AND brand_enrich.has_heartbeat(s.heartbeat_at, brand_enrich.now_ms(p_offset))
  ), others AS (
    SELECT s AS r FROM brand_enrich.run s
     WHERE NOT (s.status = 'running'
       AND brand_enrich.has_heartbeat(s.heartbeat_at, brand_enrich.now_ms(p_offset)))
       AND (s.status NOT IN ('stopped', 'cancelled') OR NOT EXISTS (SELECT FROM brand_enrich.run n
             WHERE n.generation = s.generation AND n.label = s.label AND n.seq > s.seq))
     ORDER BY s.as_of DESC, s.seq DESC LIMIT greatest(0, p_limit - (SELECT count(*) FROM alive))
  )
  SELECT coalesce(jsonb_agg(brand_enrich.record_of(l.r) || jsonb_build_object('earlier',
      (SELECT jsonb_build_object('starts', count(*), 'matched', coalesce(sum(t.matched), 0),
          'notFound', coalesce(sum(t."notFound"), 0), 'billed', coalesce(sum(t.billed), 0),
          'unreported', coalesce(sum(greatest(0, s.spent - t.billed)), 0),
          'overage', coalesce(sum(s.overage_billed), 0),
          'tookMs', coalesce(sum(greatest(0, e.ended_at - e.as_of)), 0))
         FROM brand_enrich.run e LEFT JOIN brand_enrich.run_spending s ON s.run = e.id
         CROSS JOIN jsonb_to_record(e.tally) t(matched bigint, "notFound" bigint, billed bigint)
        WHERE e.generation = (l.r).generation AND e.label = (l.r).label
          AND e.seq < (l.r).seq AND e.status IN ('stopped', 'cancelled')))
      ORDER BY l.is_alive DESC, (l.r).as_of DESC, (l.r).seq DESC), '[]')
    FROM (SELECT r, true AS is_alive FROM alive UNION ALL SELECT r, false FROM others) l
$$;

CREATE FUNCTION brand_enrich.rejoin(r brand_enrich.run) RETURNS void LANGUAGE sql AS $$
  INSERT INTO brand_enrich.run_key (key, generation) VALUES (r.key, r.generation) ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION brand_enrich.heartbeat_run(p_offset bigint, p_id text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run; v_is_paused boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE brand_enrich.run SET heartbeat_at = brand_enrich.now_ms(p_offset) WHERE id = p_id
  RETURNING * INTO r;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF r.status = 'running' THEN PERFORM brand_enrich.rejoin(r); END IF;
  v_is_paused := r.status = 'running' AND brand_enrich.is_paused(r.owner);
  RETURN jsonb_build_object('chunks', r.chunks, 'tally', r.tally, 'halt', r.halt,
    'isCancelled', r.status = 'cancelled', 'isPausedAlone', v_is_paused,
    'isPaused', v_is_paused OR brand_enrich.is_paused('*'));
END $$;

CREATE FUNCTION brand_enrich.set_run_size(p_offset bigint, p_id text, p_rows bigint, p_identifiers bigint)
RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET row_count = p_rows, identifiers = p_identifiers WHERE id = p_id
$$;

CREATE FUNCTION brand_enrich.add_tally(p_offset bigint, p_id text, p_part text, p jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_known jsonb;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Reports for a run wait for each other.
  PERFORM FROM brand_enrich.run WHERE id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT tally INTO v_known FROM brand_enrich.run_tally WHERE run = p_id AND part = p_part;
  SELECT jsonb_object_agg(name, greatest(sum::bigint, (v_known->>name)::bigint)) INTO p
    FROM jsonb_each_text(p) e(name, sum);
  INSERT INTO brand_enrich.run_tally AS t (run, part, tally) VALUES (p_id, p_part, p)
  ON CONFLICT (run, part) DO UPDATE SET tally = excluded.tally;
  UPDATE brand_enrich.run SET tally = (SELECT jsonb_object_agg(name,
      sum::bigint + coalesce((p->>name)::bigint - coalesce((v_known->>name)::bigint, 0), 0))
    FROM jsonb_each_text(tally) e(name, sum)) WHERE id = p_id;
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
  -- Counts each key once: only a new row has no xmax.
  WITH known AS (
    INSERT INTO brand_enrich.failure (run, key, reason, billed, is_deferred, is_final)
    SELECT DISTINCT ON (f->>'key') p_id, f->>'key', f->>'reason', (f->>'billed')::boolean,
           coalesce((f->>'isDeferred')::boolean, false), coalesce((f->>'isFinal')::boolean, false)
      FROM jsonb_array_elements(p_failures) WITH ORDINALITY e(f, ord) ORDER BY f->>'key', ord DESC
    ON CONFLICT (run, key) DO UPDATE SET reason = excluded.reason, billed = excluded.billed,
      is_deferred = excluded.is_deferred, is_final = failure.is_final OR excluded.is_final
    RETURNING xmax = 0 AND NOT is_deferred AS is_new
  ) SELECT count(*) FILTER (WHERE is_new) INTO v_new FROM known;
  UPDATE brand_enrich.run SET
    tally = jsonb_set(tally, '{failed}', to_jsonb((tally->>'failed')::bigint + v_new))
   WHERE id = p_id AND v_new > 0;
END $$;

CREATE FUNCTION brand_enrich.get_failures(p_offset bigint, p_id text, p_keys jsonb) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE v_runs text[] := ARRAY[p_id];
BEGIN
  -- Final failures of earlier starts of the command hold, too.
  v_runs := v_runs || ARRAY(SELECT e.id FROM brand_enrich.run r JOIN brand_enrich.run e USING (generation)
    WHERE r.id = p_id AND r.has_earlier_failures AND e.id <> p_id);
  RETURN (SELECT jsonb_agg(jsonb_build_object('position', found.ord, 'reason', found.reason, 'billed',
    found.billed, 'isDeferred', found.is_deferred))
    FROM (SELECT e.ord, f.reason, f.billed, f.is_deferred
            FROM jsonb_array_elements_text(p_keys) WITH ORDINALITY e(k, ord)
            -- A join would compare all failures of the run with each key.
            CROSS JOIN LATERAL (SELECT * FROM brand_enrich.failure f
              WHERE f.run = ANY (v_runs) AND f.key = e.k AND (f.run = p_id OR f.is_final)
              ORDER BY f.run <> p_id LIMIT 1) f
           ORDER BY e.ord) found);
END $$;

CREATE FUNCTION brand_enrich.halt_run(p_offset bigint, p_id text, p_halt text) RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET halt = p_halt WHERE id = p_id AND halt IS NULL
$$;

CREATE FUNCTION brand_enrich.clear_halt(p_offset bigint, p_id text) RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.run SET halt = NULL WHERE id = p_id
$$;

-- Locks the account first, as an exchange does, which changes generation and run.
CREATE FUNCTION brand_enrich.end_run(p_offset bigint, p_id text, p_status text, p_stop text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run;
BEGIN
  PERFORM FROM brand_enrich.account
    WHERE name = (SELECT account FROM brand_enrich.run WHERE id = p_id) FOR UPDATE;
  SELECT * INTO r FROM brand_enrich.run WHERE id = p_id AND status IN ('running', 'cancelled') FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF p_status = 'completed' AND r.status = 'running' THEN
    DELETE FROM brand_enrich.run_key
     WHERE key = r.key AND generation = r.generation AND r.key NOT LIKE 'day:%';
    DELETE FROM brand_enrich.pause WHERE owner = r.owner AND r.owner = r.job;
  ELSIF r.status = 'running' AND p_stop::jsonb->>'type' <> 'killed' THEN PERFORM brand_enrich.rejoin(r);
  END IF;
  UPDATE brand_enrich.run SET stop = p_stop, ended_at = coalesce(ended_at, brand_enrich.now_ms(p_offset)),
    status = CASE WHEN r.status = 'running' THEN p_status ELSE r.status END
   WHERE id = p_id;
  DELETE FROM brand_enrich.run_chunk WHERE run = p_id;
  -- Locked in the same order as by others, who add to these rows.
  PERFORM FROM brand_enrich.unusable_answer WHERE run = p_id ORDER BY key FOR UPDATE;
  DELETE FROM brand_enrich.unusable_answer WHERE run = p_id;
END $$;

CREATE FUNCTION brand_enrich.ordered_run(p_offset bigint, p_id text) RETURNS brand_enrich.run
  LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run;
BEGIN
  SELECT * INTO r FROM brand_enrich.run WHERE id = p_id;
  IF r.status = 'stopped'
     OR r.status = 'running'
        AND NOT brand_enrich.has_heartbeat(r.heartbeat_at, brand_enrich.now_ms(p_offset)) THEN
    SELECT * INTO r FROM brand_enrich.run WHERE owner = r.owner ORDER BY seq DESC LIMIT 1;
  END IF;
  -- No start of the job can overtake the order.
  IF r.id IS NOT NULL THEN PERFORM pg_advisory_xact_lock(hashtextextended(r.job, 0)); END IF;
  SELECT * INTO r FROM brand_enrich.run WHERE id = r.id FOR UPDATE;
  RETURN r;
END $$;

CREATE FUNCTION brand_enrich.cancel_run(p_offset bigint, p_id text, p_by text) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run := brand_enrich.ordered_run(p_offset, p_id);
  v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  IF r.id IS NULL THEN RETURN '"unknown"'; END IF;
  IF r.status = 'completed' THEN RETURN '"ended"'; END IF;
  IF r.status <> 'cancelled' THEN
    INSERT INTO brand_enrich.cancellation (job, ordered_by, ordered_at) VALUES (r.job, p_by, v_now)
    ON CONFLICT DO NOTHING;
    -- Other starts of the job may be running.
    UPDATE brand_enrich.run SET status = 'cancelled', cancelled_by = p_by, cancelled_at = v_now,
      ended_at = coalesce(ended_at, v_now)
     WHERE id = r.id OR owner = r.owner AND job = r.job AND status = 'running';
    DELETE FROM brand_enrich.pause WHERE owner = r.owner AND r.owner IN (r.job, r.key);
  END IF;
  RETURN '"done"';
END $$;

CREATE FUNCTION brand_enrich.cancel_job(p_offset bigint, p_job text, p_by text, p_at bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  IF p_at <= v_now - brand_enrich.run_key_kept_ms() THEN RETURN; END IF;
  -- No start of the job can overtake the order.
  PERFORM pg_advisory_xact_lock(hashtextextended(p_job, 0));
  INSERT INTO brand_enrich.cancellation (job, ordered_by, ordered_at)
    VALUES (p_job, p_by, coalesce(p_at, v_now)) ON CONFLICT DO NOTHING;
  UPDATE brand_enrich.run SET status = 'cancelled', cancelled_by = p_by, cancelled_at = coalesce(p_at, v_now),
    ended_at = coalesce(ended_at, v_now)
   WHERE owner = p_job AND job = p_job AND status = 'running';
  DELETE FROM brand_enrich.pause WHERE owner = p_job;
END $$;

CREATE FUNCTION brand_enrich.uncancel_job(p_offset bigint, p_job text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM brand_enrich.cancellation WHERE job = p_job
$$;

CREATE FUNCTION brand_enrich.list_cancels(p_offset bigint) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_agg(jsonb_build_object('job', job, 'by', ordered_by, 'at', ordered_at))
    FROM brand_enrich.cancellation
$$;

CREATE FUNCTION brand_enrich.pause_run(p_offset bigint, p_id text, p_by text) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE r brand_enrich.run := brand_enrich.ordered_run(p_offset, p_id);
BEGIN
  IF r.id IS NULL THEN RETURN '"unknown"'; END IF;
  IF r.status NOT IN ('running', 'stopped') THEN RETURN '"ended"'; END IF;
  PERFORM brand_enrich.pause_owner(p_offset, r.owner, r.label, p_by, r.id, NULL);
  RETURN '"done"';
END $$;

CREATE FUNCTION brand_enrich.pause_owner(p_offset bigint, p_owner text, p_label text, p_by text, p_run text,
  p_at bigint)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO brand_enrich.pause (owner, label, ordered_by, ordered_at, run)
  VALUES (p_owner, p_label, p_by, coalesce(p_at, brand_enrich.now_ms(p_offset)), p_run) ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION brand_enrich.resume_owner(p_offset bigint, p_owner text) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM brand_enrich.pause WHERE owner = p_owner;
  RETURN FOUND;
END $$;

CREATE FUNCTION brand_enrich.list_pauses(p_offset bigint) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_agg(jsonb_build_object('owner', owner, 'label', label, 'by', ordered_by, 'at', ordered_at,
    'run', run)) FROM brand_enrich.pause
$$;

CREATE FUNCTION brand_enrich.get_orders(p_offset bigint, p_jobs jsonb) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_agg(jsonb_build_object('paused', brand_enrich.pause_of(j->>'owner'),
      'cancelled', brand_enrich.order_of(c.ordered_by, c.ordered_at)) ORDER BY ord)
    FROM jsonb_array_elements(p_jobs) WITH ORDINALITY e(j, ord)
    LEFT JOIN brand_enrich.cancellation c ON c.job = j->>'job'
$$;

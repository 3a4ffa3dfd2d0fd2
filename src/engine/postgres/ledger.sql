-- The operations of the ledger. `exchange`: settle these, apply this reading, give me up to these.
--
-- Locks are taken in one order by every function: worker, take-over, account, then rows, the key of
-- a run before the run. Taking over the claims of a dead worker excludes every exchange, so that a
-- claim cannot change hands between its check and the permit.
--
-- Plans of functions are made once and kept, on a server that may never have looked at the tables:
-- without the settings of `exchange` an empty table would be read from end to end for ever. Before
-- PostgreSQL 18 they are kept by adding to the cost of a plan, which would have every small
-- statement compiled: hence no `jit`.

-- Answers by position: the wait of a granted permit in milliseconds, else why there is none.
CREATE FUNCTION brand_enrich.exchange(p_offset bigint, p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  a brand_enrich.account;
  v_now bigint;
  v_worker text := p->>'worker';
  v_run_id text := p->>'run';
  v_run brand_enrich.run;
  v_policy record; r record; v_billed brand_enrich.billed[];
  v_before brand_enrich.account; v_key brand_enrich.run_key;
  v_limit bigint;
  v_has_probe_billed boolean; v_is_probe_within boolean; v_has_confirmed boolean;
  v_may_spend boolean; v_is_barred boolean; v_is_opening boolean; v_is_turn boolean;
  v_held bigint := 0; v_beyond bigint; v_others_room bigint;
  v_spent bigint; v_out bigint; v_has_room boolean; v_is_probe boolean;
  v_slot float8; v_interval float8;
  v_take int := jsonb_array_length(p->'take');
  v_answers text[] := '{}';
  v_ids text[] := '{}'; v_keys text[] := '{}'; v_probes boolean[] := '{}';
BEGIN
  PERFORM brand_enrich.note_beat(p_offset, v_worker, 1000);
  PERFORM pg_advisory_xact_lock_shared(brand_enrich.takeover_lock());
  a := brand_enrich.lock_account(p->>'account');
  v_now := brand_enrich.now_ms(p_offset);
  a := brand_enrich.follow_clock(a, v_now);
  IF a.pending_period IS NULL THEN a.pending_sent := 0; a.pending_dated := 0; END IF;
  IF p->'seen' <> 'null' THEN
    a := brand_enrich.restore_seen(a, p->'seen', (p->>'usageLagMs')::float8, v_now);
  END IF;
  SELECT * INTO r FROM brand_enrich.due_permits(a, v_now);
  SELECT * INTO r FROM brand_enrich.close_permits(r.a, r.due || (p->'settle'), v_now);
  a := r.a;
  v_billed := r.billed;
  v_has_probe_billed := r.has_probe_billed;
  -- A reading that cost nothing is as good as one of the request that went alone.
  v_has_confirmed := r.has_confirmed OR p->'settle' = '[]' AND a.held = 0 AND a.probes = 0;
  v_before := a;
  IF p->'reading' <> 'null' THEN
    a := brand_enrich.apply_reading(a, p->'reading', v_has_confirmed, v_now);
  ELSIF a.pending_period IS NOT NULL THEN
    SELECT * INTO r FROM brand_enrich.open_due_period(a, v_now);
    a := r.a;
  END IF;
  IF v_has_confirmed AND jsonb_array_length(p->'settle') > 0
    AND (p->'reading'->>'period' IS NULL OR a.pending_falls = 0) THEN a.pending_asked := NULL; END IF;
  IF (p->>'heard')::boolean THEN a.heard_at := v_now; END IF;
  -- A useful answer, one with usage headers or a date, or a refusal.
  IF (p->>'heard')::boolean OR p->'reading' <> 'null' OR (p->>'refusedForQuota')::boolean
    OR jsonb_path_exists(p->'settle', '$[*].period ? (@ != null)') THEN a.answered_at := v_now; END IF;
  IF (p->>'refusedForQuota')::boolean THEN
    a.closed_at := v_now;
    a.next_probe_at := v_now + brand_enrich.probe_every_ms();
  ELSIF v_has_probe_billed THEN
    a.closed_at := NULL;
  END IF;
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, v_now);
  v_limit := least(a.quota, v_policy.quota_cap) + v_policy.overage;
  -- Permits of workers that died count as sent as soon as somebody waits for their end: unknown is
  -- spent.
  v_out := a.held + a.probes;
  IF v_take > 0 AND v_out > 0 AND (coalesce(brand_enrich.spent_of(a) >= v_limit, v_out >= brand_enrich.unknown_quota_held())
      OR a.closed_at IS NOT NULL OR a.heard_at <= v_now - brand_enrich.alone_after_ms()
      OR brand_enrich.is_period_due(a, v_now) OR brand_enrich.is_turn_unconfirmed(a, v_now)) THEN
    SELECT * INTO r FROM brand_enrich.close_permits(a, (
      SELECT coalesce(jsonb_agg(jsonb_build_object('permit', h.id, 'as', 'lost') ORDER BY h.deadline, h.id COLLATE "C"), '[]')
        FROM brand_enrich.permit h WHERE h.account = a.name AND NOT brand_enrich.is_alive(h.worker, v_now)), v_now);
    a := r.a;
    v_billed := v_billed || r.billed;
  END IF;
  -- It went alone, a minute after all others: what its header shows has hardly lagged.
  v_is_probe_within := v_has_probe_billed AND jsonb_array_length(p->'settle') = 1
    AND coalesce((p->'reading'->>'usage')::bigint < coalesce(a.quota, v_policy.quota_cap), false);
  a := brand_enrich.book_overage(a, v_before, coalesce(a.quota, v_policy.quota_cap), v_billed, v_is_probe_within, v_now);
  IF v_has_probe_billed AND NOT v_is_probe_within AND a.sent + a.others > v_limit THEN a.serves_overage := true; END IF;
  IF (p->'pace'->>'ifVersion')::bigint = a.pace_version THEN
    a.pace_version := a.pace_version + 1;
    a.rate := (p->'pace'->>'rate')::float8;
    a.burst := (p->'pace'->>'burst')::float8;
    IF (p->'pace'->>'floorMs')::float8 > 0 THEN
      a.floor_until := greatest(a.floor_until, v_now + (p->'pace'->>'floorMs')::float8);
    END IF;
  END IF;
  SELECT * INTO v_run FROM brand_enrich.run WHERE id = v_run_id;

  IF v_take > 0 THEN
    v_may_spend := v_run.id IS NOT NULL AND NOT (SELECT is_paused FROM brand_enrich.engine_state)
      AND v_run.status = 'running' AND v_run.halt_why IS NULL AND NOT v_run.is_paused
      AND brand_enrich.is_run_beating(v_run.beat_at, v_now);
    v_is_barred := v_now < a.rests_until OR brand_enrich.is_period_due(a, v_now);
    v_is_turn := brand_enrich.is_turn_unconfirmed(a, v_now);
    SELECT * INTO v_key FROM brand_enrich.run_key k WHERE k.key = v_run.key;
    IF NOT FOUND THEN v_key.requests := 0; v_key.overage_requests := 0; END IF;
    IF v_run.max_overage_requests IS NOT NULL AND v_key.key IS NOT NULL THEN
      v_held := brand_enrich.held_of(v_key.key, v_key.generation, a.name, v_now);
    END IF;
    IF brand_enrich.beyond_quota(a, v_policy.quota_cap, v_take) > 0 THEN
      v_others_room := brand_enrich.overage_room_of_others(a.name, v_run.key);
    END IF;
    FOR r IN
      SELECT t.ord::int AS ord, t.permit, t.key, c.worker AS owner, h.id AS held, d.count AS doubts
        FROM (SELECT x->>'permit' AS permit, x->>'key' AS key, ord
                FROM jsonb_array_elements(p->'take') WITH ORDINALITY e(x, ord)) t
        LEFT JOIN brand_enrich.claim c ON c.key = t.key
        LEFT JOIN brand_enrich.permit h ON h.id = t.permit
        LEFT JOIN brand_enrich.doubt d ON d.run = v_run_id AND d.key = t.key
       ORDER BY t.ord
    LOOP
      -- Held already, or named twice in this call: one permit.
      IF r.held IS NOT NULL OR r.permit = ANY (v_ids) THEN v_answers[r.ord] := 0; CONTINUE; END IF;
      IF r.owner IS DISTINCT FROM v_worker THEN v_answers[r.ord] := 'lost'; CONTINUE; END IF;
      v_answers[r.ord] := 'denied';
      CONTINUE WHEN NOT v_may_spend;
      IF r.doubts >= brand_enrich.doubts_allowed() THEN v_answers[r.ord] := 'spent'; CONTINUE; END IF;
      CONTINUE WHEN v_is_barred;
      v_out := a.held + a.probes;
      CONTINUE WHEN v_is_turn AND v_out > 0;
      -- What a dead process left behind does not count: it may take a minute to run out.
      v_is_opening := a.heard_at <= v_now - brand_enrich.alone_after_ms();
      CONTINUE WHEN v_is_opening AND (a.alone = ANY (v_ids)
        OR EXISTS (SELECT FROM brand_enrich.permit WHERE id = a.alone));
      CONTINUE WHEN v_limit IS NULL AND v_out >= brand_enrich.unknown_quota_held();
      v_spent := brand_enrich.spent_of(a);
      v_has_room := v_limit IS NULL OR v_spent < v_limit;
      v_is_probe := a.closed_at IS NOT NULL OR NOT v_has_room;
      IF v_is_probe THEN
        CONTINUE WHEN NOT (v_has_room OR brand_enrich.may_find_out(a, v_policy.quota_cap, v_run.plan)
          OR coalesce((p->>'mayHaveTurned')::boolean, false));
        CONTINUE WHEN v_out > 0 OR NOT (v_now >= a.next_probe_at
            AND (a.closed_at IS NOT NULL OR v_now - a.heard_at >= brand_enrich.probe_every_ms())
          OR v_is_turn AND brand_enrich.may_confirm_turn(a, v_policy.quota_cap, v_run.plan));
      END IF;
      CONTINUE WHEN v_key.requests >= v_run.max_requests;
      v_beyond := brand_enrich.beyond_quota(a, v_policy.quota_cap, 1);
      CONTINUE WHEN v_beyond > 0
        AND v_key.overage_requests + least(v_held + 1, v_beyond) > v_run.max_overage_requests;
      CONTINUE WHEN v_beyond > v_others_room;
      v_slot := greatest(v_now, a.floor_until);
      IF a.rate IS NULL THEN
        CONTINUE WHEN v_slot - v_now > brand_enrich.pace_horizon_ms();
      ELSE
        v_interval := 1000 / a.rate;
        v_slot := greatest(v_slot, a.tat - (a.burst - 1) * v_interval);
        CONTINUE WHEN v_slot - v_now > brand_enrich.pace_horizon_ms();
        a.tat := greatest(a.tat, v_slot) + v_interval;
      END IF;
      IF v_is_probe THEN
        a.probes := a.probes + 1;
        a.next_probe_at := v_now + brand_enrich.probe_every_ms();
      ELSE
        a.held := a.held + 1;
      END IF;
      v_key.requests := v_key.requests + 1;
      v_held := v_held + 1;
      IF v_is_opening THEN a.alone := r.permit; END IF;
      IF v_is_turn OR v_is_probe THEN a.pending_asked := r.permit; END IF;
      v_ids := v_ids || r.permit;
      v_keys := v_keys || r.key;
      v_probes := v_probes || v_is_probe;
      v_answers[r.ord] := v_slot - v_now;
    END LOOP;
    IF v_ids <> '{}' THEN
      INSERT INTO brand_enrich.run_key AS k (key, started_at, generation, requests)
      VALUES (v_run.key, v_run.key_started_at, v_ids[1], v_key.requests)
      ON CONFLICT (key) DO UPDATE SET requests = excluded.requests
      RETURNING * INTO v_key;
      INSERT INTO brand_enrich.run_spending AS s (run, spent) VALUES (v_run_id, cardinality(v_ids))
      ON CONFLICT (run) DO UPDATE SET spent = s.spent + excluded.spent;
      INSERT INTO brand_enrich.permit (id, account, worker, run, run_key, generation, key, deadline, period, probe)
      SELECT u.id, a.name, v_worker, v_run_id, v_run.key, v_key.generation, u.key, v_now + (p->>'permitMs')::float8,
             a.period, u.probe
        FROM unnest(v_ids, v_keys, v_probes) u(id, key, probe);
      a.sweep_at := least(a.sweep_at, v_now + (p->>'permitMs')::float8);
    END IF;
  END IF;
  a.version := a.version + 1;
  a := brand_enrich.turn(a, v_now);
  PERFORM brand_enrich.save_account(a);
  RETURN jsonb_build_object('answers', v_answers,
    'state', brand_enrich.state_of(a, v_run, v_now));
END $$;

-- The account as numbers after an operation.
CREATE FUNCTION brand_enrich.state_of(a brand_enrich.account, p_run brand_enrich.run, p_now bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_policy record; v_key brand_enrich.run_key; v_run jsonb; v_in_flight bigint := 0; v_overage_billed bigint;
  v_limit bigint; v_has_room boolean;
  v_is_turn boolean := brand_enrich.is_turn_unconfirmed(a, p_now);
BEGIN
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, p_now);
  v_limit := least(a.quota, v_policy.quota_cap) + v_policy.overage;
  v_has_room := v_limit IS NULL OR brand_enrich.spent_of(a) < v_limit;
  IF p_run.id IS NOT NULL THEN
    SELECT * INTO v_key FROM brand_enrich.run_key k WHERE k.key = p_run.key;
    IF p_run.max_overage_requests IS NOT NULL THEN
      v_in_flight := least(brand_enrich.beyond_quota(a, v_policy.quota_cap, 0),
        CASE WHEN v_key.key IS NULL THEN 0 ELSE brand_enrich.held_of(v_key.key, v_key.generation, a.name, p_now) END);
    END IF;
    v_overage_billed := coalesce((SELECT s.overage_billed FROM brand_enrich.run_spending s WHERE s.run = p_run.id), 0);
    v_run := jsonb_build_object(
      'status', CASE WHEN p_run.status = 'cancelled' THEN 'cancelled'
                     WHEN p_run.status <> 'running' OR NOT brand_enrich.is_run_beating(p_run.beat_at, p_now) THEN 'dead'
                     WHEN p_run.halt_why IS NOT NULL THEN 'halted'
                     WHEN p_run.is_paused THEN 'paused'
                     ELSE 'alive' END,
      'requests', coalesce(v_key.requests, 0), 'overageRequests', coalesce(v_key.overage_requests, 0),
      'overageInFlight', v_in_flight, 'overageBilled', v_overage_billed,
      'maxRequests', p_run.max_requests, 'maxOverageRequests', p_run.max_overage_requests);
  END IF;
  RETURN jsonb_build_object(
    'now', p_now, 'epoch', a.epoch, 'version', a.version, 'period', a.period,
    'isDraining', brand_enrich.is_period_due(a, p_now) OR (v_is_turn AND a.held + a.probes > 0),
    'isTurnUnconfirmed', v_is_turn AND (v_has_room OR brand_enrich.may_confirm_turn(a, v_policy.quota_cap, p_run.plan)),
    'sent', a.sent, 'held', a.held, 'probes', a.probes, 'others', a.others,
    'quota', a.quota, 'usage', a.usage, 'heardAt', a.heard_at,
    'answeredAt', a.answered_at,
    -- With the current day; none for an account that is not there.
    'days', CASE WHEN a.changed_at = 0 THEN ''
      ELSE a.days || CASE WHEN a.days = '' THEN '' ELSE ' ' END || p_now / 86400000 || ':' || a.sent + a.others END,
    'closedAt', a.closed_at,
    'nextProbeAt', a.next_probe_at,
    'restsUntil', CASE WHEN a.rests_until > p_now THEN a.rests_until ELSE 0 END,
    'servesOverage', a.serves_overage, 'isPaused', (SELECT is_paused FROM brand_enrich.engine_state),
    'quotaCap', v_policy.quota_cap, 'overage', v_policy.overage,
    'pace', jsonb_build_object(
      'version', a.pace_version, 'rate', a.rate, 'burst', a.burst,
      'floorMs', greatest(0, a.floor_until - p_now),
      'acceptedLastSecond', a.second_before, 'acceptedThisSecond', a.second_sent),
    'run', v_run);
END $$;

-- What open, observe and raise begin with: what ran out is closed. `changed_at` of the account is
-- the store's time from here on.
CREATE FUNCTION brand_enrich.begin_account(p_offset bigint, p_account text) RETURNS brand_enrich.account LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.lock_account(p_account); r record; v_policy record;
BEGIN
  a := brand_enrich.follow_clock(a, brand_enrich.now_ms(p_offset));
  SELECT * INTO r FROM brand_enrich.due_permits(a, a.changed_at);
  SELECT * INTO r FROM brand_enrich.close_permits(r.a, r.due, a.changed_at);
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, a.changed_at);
  RETURN brand_enrich.book_overage(r.a, r.a, coalesce((r.a).quota, v_policy.quota_cap), r.billed, false, a.changed_at);
END $$;

-- What they end with.
CREATE FUNCTION brand_enrich.finish_account(a brand_enrich.account) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_run brand_enrich.run;
BEGIN
  a.version := a.version + 1;
  a := brand_enrich.turn(a, a.changed_at);
  PERFORM brand_enrich.save_account(a);
  RETURN brand_enrich.state_of(a, v_run, a.changed_at);
END $$;

-- Changes nothing: what ran out is counted as sent for the answer alone. An account that is not
-- there has no epoch.
CREATE FUNCTION brand_enrich.show_account(p_offset bigint, p_account text, p_run text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  a brand_enrich.account; v_run brand_enrich.run; r record;
  v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  SELECT * INTO a FROM brand_enrich.account WHERE name = p_account;
  IF NOT FOUND THEN
    a := brand_enrich.new_account(p_account);
  END IF;
  IF a.changed_at / 86400000 <> v_now / 86400000 THEN a := brand_enrich.turn_day(a, v_now); END IF;
  SELECT count(*) FILTER (WHERE probe) AS probes, count(*) FILTER (WHERE NOT probe) AS held, count(*) AS spent,
         count(*) FILTER (WHERE period IS NULL OR period IS NOT DISTINCT FROM a.period) AS sent
    INTO r FROM brand_enrich.permit WHERE account = p_account AND deadline <= v_now;
  a.probes := a.probes - r.probes;
  a.held := a.held - r.held;
  a.sent := a.sent + r.sent;
  a := brand_enrich.turn(a, v_now);
  a.second_sent := a.second_sent + r.spent;
  SELECT * INTO v_run FROM brand_enrich.run WHERE id = p_run;
  RETURN brand_enrich.state_of(a, v_run, v_now);
END $$;

CREATE FUNCTION brand_enrich.open_account(
  p_offset bigint, p_account text, p_has_pace boolean, p_rate float8, p_burst float8
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
BEGIN
  a.heard_at := 0;
  a.next_probe_at := a.changed_at;
  IF p_has_pace THEN
    a.pace_version := a.pace_version + 1;
    a.rate := p_rate;
    a.burst := p_burst;
  END IF;
  RETURN brand_enrich.finish_account(a);
END $$;

CREATE FUNCTION brand_enrich.observe_account(
  p_offset bigint, p_account text, p_usage bigint, p_quota bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
BEGIN
  IF p_quota IS NOT NULL THEN a.quota := p_quota; END IF;
  IF p_usage IS NOT NULL THEN
    a.usage := p_usage;
    a.sent := least(a.sent, p_usage);
    a.serves_overage := false;
    a.others := greatest(0, p_usage - a.sent - a.held - a.probes);
  END IF;
  a.closed_at := NULL;
  a.suspect_since := 0;
  a.next_probe_at := a.changed_at;
  RETURN brand_enrich.finish_account(a);
END $$;

-- What another ledger knows of the account: the larger sum holds. A later period opens once nothing
-- is in flight.
CREATE FUNCTION brand_enrich.raise_account(
  p_offset bigint, p_account text, p_period text, p_sent bigint, p_others bigint, p_quota bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
        v_missing bigint; v_ours bigint; r record;
BEGIN
  IF brand_enrich.is_later(p_period, a.period) THEN
    IF a.pending_period IS NULL THEN a.pending_sent := 0; a.pending_dated := 0; END IF;
    a.pending_period := p_period;
    a.pending_falls := 2;
    SELECT * INTO r FROM brand_enrich.open_due_period(a, a.changed_at);
    a := r.a;
  END IF;
  a.period := coalesce(a.period, p_period);
  IF p_period IS NULL OR a.period = p_period OR 'none' IN (a.period, p_period) THEN
    v_missing := greatest(0, p_sent + p_others - brand_enrich.spent_of(a) - a.probes);
    v_ours := least(v_missing, greatest(0, p_sent - a.sent - a.held - a.probes));
    a.sent := a.sent + v_ours;
    a.others := a.others + v_missing - v_ours;
    a.quota := coalesce(a.quota, p_quota);
  END IF;
  RETURN brand_enrich.finish_account(a);
END $$;

CREATE FUNCTION brand_enrich.account_names(p_offset bigint) RETURNS jsonb LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(name), '[]') FROM brand_enrich.account
$$;

CREATE FUNCTION brand_enrich.reset_account(p_offset bigint, p_account text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- The account's row first: an exchange that is under way ends before its permits are forgotten.
  DELETE FROM brand_enrich.account WHERE name = p_account;
  DELETE FROM brand_enrich.permit WHERE account = p_account;
END $$;

CREATE FUNCTION brand_enrich.set_paused(p_offset bigint, p_is_paused boolean) RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.engine_state SET is_paused = p_is_paused
$$;

-- All functions take locks in one order: worker, take-over, answers with their claims, account,
-- then rows, a run before its key. No exchange runs while a dead worker's claims are taken over, so
-- a claim cannot change hands between its check and the permit. Answers come before the account,
-- because all processes of an account wait for its lock.
--
-- PostgreSQL keeps the plans of functions, perhaps made while the tables were empty. The settings
-- of `exchange` stop such plans from reading whole tables later. Before PostgreSQL 18 they raise
-- the estimated cost, which would make `jit` compile small statements.

CREATE FUNCTION brand_enrich.exchange(p_offset bigint, p jsonb, p_meta jsonb, p_bytes bytea) RETURNS json
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  v_recorded_at bigint; a brand_enrich.account; v_was brand_enrich.account; v_before brand_enrich.account;
  v_now bigint; v_spent_at bigint; v_others bigint; v_quota bigint; v_limit bigint;
  v_is_probe_within boolean; v_reading jsonb := nullif(p->'reading', 'null');
  v_lag_ms float8 := (p->>'usageLagMs')::float8; v_policy record; v_run brand_enrich.run; s record;
  r record; v_billed brand_enrich.billed[]; v_answers text[]; v_look text; v_is_free boolean;
BEGIN
  PERFORM brand_enrich.note_heartbeat(p_offset, p->>'worker', 1000);
  PERFORM pg_advisory_xact_lock_shared(brand_enrich.takeover_lock());
  IF p_meta IS NOT NULL THEN v_recorded_at := brand_enrich.record_outcomes(p_offset, p_meta, p_bytes); END IF;
  a := brand_enrich.load_account(p->>'account');
  v_now := brand_enrich.now_ms(p_offset);
  a := brand_enrich.follow_clock(a, v_now);
  IF p->'turn'->>'period' = a.period THEN a.period_end := (p->'turn'->>'endsAt')::bigint; END IF;
  IF p->'seen' <> 'null' THEN a := brand_enrich.restore_seen(a, p->'seen', v_lag_ms, v_now); END IF;
  v_spent_at := a.spent_at;
  SELECT * INTO r FROM brand_enrich.sweep(a, v_now);
  a := r.a;
  IF NOT r.has_swept AND jsonb_array_length(p->'settle') = 1 AND p->'settle'->0->>'permit' = a.look_out
    AND EXISTS (SELECT FROM brand_enrich.permit WHERE id = a.look_out AND account = a.name) THEN
      v_was := a; END IF;
  v_others := greatest(0, a.held + a.probes - 1);
  v_is_free := p->'settle' = '[]' OR a.look_out IS NOT NULL AND NOT EXISTS (
    SELECT FROM jsonb_array_elements(p->'settle') x LEFT JOIN brand_enrich.permit h ON h.id = x->>'permit'
     WHERE h.free IS NOT TRUE);
  SELECT * INTO s FROM brand_enrich.close_permits(a, p->'settle', v_now);
  a := s.a;
  v_billed := r.billed || s.billed;
  v_before := a;
  IF v_reading IS NOT NULL THEN
    a := brand_enrich.apply_reading(
      a, v_reading, p->'turn'->>'today', s.is_asked_settled OR v_is_free AND brand_enrich.is_drained(a),
      v_others, v_was, v_lag_ms, v_now);
  END IF;
  IF s.is_asked_settled AND NOT (v_reading->>'period' IS NOT NULL AND a.has_next_fallen) THEN
    a.next_asked := NULL; END IF;
  a := brand_enrich.note_answer(a, p, s.probed_until IS NOT NULL, v_now);
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, v_now);
  v_quota := coalesce(a.quota, v_policy.quota_cap);
  v_limit := brand_enrich.limit_of(a, v_policy.quota_cap, v_policy.overage);
  SELECT * INTO v_run FROM brand_enrich.run WHERE id = p->>'run';
  IF p->'take' <> '[]' AND brand_enrich.waits_for_others(
    a, brand_enrich.in_flight_allowed(a, v_policy.quota_cap, v_limit, v_run), v_now) THEN
    SELECT * INTO r FROM brand_enrich.close_dead(a, v_now);
    a := r.a;
    v_billed := v_billed || r.billed;
  END IF;
  v_is_probe_within := s.probed_until IS NOT NULL AND jsonb_array_length(p->'settle') = 1
    AND least(s.probed_until - (p->>'permitMs')::float8, v_now) - v_spent_at
      >= greatest(brand_enrich.probe_every_ms(), v_lag_ms)
    AND coalesce((v_reading->>'usage')::bigint < v_quota, false);
  PERFORM brand_enrich.book_overage(a, v_before, v_quota, v_billed, v_is_probe_within);
  IF s.probed_until IS NOT NULL AND a.sent + a.others > v_limit
    AND NOT (v_is_probe_within AND NOT brand_enrich.is_later(a.period, v_reading->>'period')) THEN
      a.serves_overage := true; END IF;
  IF (p->'pace'->>'ifVersion')::bigint = a.pace_version THEN
    a := brand_enrich.change_pace(a, (p->'pace'->>'rate')::float8, (p->'pace'->>'burst')::float8,
      (p->'pace'->>'floorMs')::float8, v_now); END IF;
  IF p->'take' <> '[]' THEN
    SELECT * INTO r FROM brand_enrich.take(a, v_policy.quota_cap, v_limit, p, v_run, v_now);
    a := r.a;
    v_answers := r.answers;
  END IF;
  IF p->'look' <> 'null' THEN
    SELECT * INTO r FROM brand_enrich.grant_look(a, v_policy.quota_cap, v_limit, p, v_now);
    a := r.a;
    v_look := r.answer;
  END IF;
  RETURN json_build_array(coalesce(v_answers, '{}'), v_look, v_recorded_at,
    brand_enrich.finish_account(a, v_run, v_policy.quota_cap, v_policy.overage));
END $$;

CREATE FUNCTION brand_enrich.note_answer(INOUT a brand_enrich.account, p jsonb, p_has_probe_billed boolean,
  p_now bigint)
LANGUAGE plpgsql AS $$
BEGIN
  IF (p->>'isConfirmed')::boolean THEN a.confirmed_at := p_now; END IF;
  IF (p->>'isConfirmed')::boolean OR p->'reading' <> 'null' OR (p->>'refusedForQuota')::boolean
    OR jsonb_path_exists(p->'settle', '$[*].period ? (@ != null)') THEN a.answered_at := p_now; END IF;
  IF (p->>'refusedForQuota')::boolean THEN
    a.closed_at := p_now;
    a.next_probe_at := p_now + brand_enrich.probe_every_ms();
  ELSIF p_has_probe_billed THEN
    a.closed_at := NULL;
  END IF;
END $$;

CREATE FUNCTION brand_enrich.change_pace(
  INOUT a brand_enrich.account, p_rate float8, p_burst float8, p_floor_ms float8, p_now bigint
) LANGUAGE plpgsql AS $$
BEGIN
  a.pace_version := a.pace_version + 1; a.rate := p_rate; a.burst := p_burst;
  IF p_floor_ms > 0 THEN a.floor_until := greatest(a.floor_until, p_now + p_floor_ms); END IF;
END $$;

CREATE FUNCTION brand_enrich.state_of(
  a brand_enrich.account, p_run brand_enrich.run, p_quota_cap bigint, p_overage bigint, p_now bigint
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  g brand_enrich.generation; v_run json;
  v_held bigint := 0; v_in_flight bigint := 0; v_free_out bigint := 0;
BEGIN
  IF a.look_out IS NOT NULL THEN
    SELECT count(*) INTO v_free_out FROM brand_enrich.permit
     WHERE id = a.look_out AND free AND deadline > p_now;
  END IF;
  IF p_run.id IS NOT NULL THEN
    SELECT * INTO g FROM brand_enrich.generation WHERE id = p_run.generation;
    IF coalesce(p_run.max_requests, p_run.max_overage_requests) IS NOT NULL THEN
      v_held := brand_enrich.held_of(p_run.generation, a.name, p_now);
    END IF;
    IF p_run.max_overage_requests IS NOT NULL THEN
      v_in_flight := least(brand_enrich.beyond_quota(a, p_quota_cap, 0), v_held);
    END IF;
    v_run := json_build_array(
      brand_enrich.run_status(p_run, p_now), g.requests, g.overage_requests, v_held, v_in_flight,
      coalesce((SELECT s.overage_billed FROM brand_enrich.run_spending s WHERE s.run = p_run.id), 0),
      p_run.max_requests, p_run.max_overage_requests);
  END IF;
  RETURN json_build_array(
    p_now, a.epoch, a.version, a.period, a.behind_ms,
    a.has_next_fallen AND (brand_enrich.has_room(a, brand_enrich.limit_of(a, p_quota_cap, p_overage))
      OR brand_enrich.may_confirm_turn(a, p_quota_cap, p_run.plan)),
    brand_enrich.asks_at(a),
    a.sent, a.held, a.probes, v_free_out, a.others, a.free,
    json_build_array(a.look_of, a.look_proven, a.look_booked, a.look_rises),
    a.checked_at, a.quota, a.usage, a.last_usage, a.confirmed_at, a.answered_at,
      brand_enrich.days_of(a, p_now), a.closed_at, a.next_probe_at,
    CASE WHEN a.rests_until > p_now THEN a.rests_until ELSE 0 END, a.serves_overage,
    brand_enrich.is_paused('*'), p_quota_cap, p_overage,
    json_build_array(a.pace_version, a.rate, a.burst, greatest(0, a.floor_until - p_now), a.second_before,
      a.second_sent),
    v_run);
END $$;

-- From here on `changed_at` of the account is the store's time.
CREATE FUNCTION brand_enrich.begin_account(p_offset bigint, p_account text) RETURNS brand_enrich.account
  LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.load_account(p_account); r record; v_policy record;
BEGIN
  a := brand_enrich.follow_clock(a, brand_enrich.now_ms(p_offset));
  SELECT * INTO r FROM brand_enrich.sweep(a, a.changed_at);
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, a.changed_at);
  PERFORM brand_enrich.book_overage(
    r.a, r.a, coalesce((r.a).quota, v_policy.quota_cap), r.billed, false);
  RETURN r.a;
END $$;

CREATE FUNCTION brand_enrich.finish_account(
  a brand_enrich.account, p_run brand_enrich.run, p_quota_cap bigint, p_overage bigint
) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  a.version := a.version + 1;
  a := brand_enrich.turn(a, a.changed_at);
  PERFORM brand_enrich.save_account(a);
  RETURN brand_enrich.state_of(a, p_run, p_quota_cap, p_overage, a.changed_at);
END $$;

CREATE FUNCTION brand_enrich.finish_account(a brand_enrich.account) RETURNS json LANGUAGE plpgsql AS $$
DECLARE v_policy record;
BEGIN
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, a.changed_at);
  RETURN brand_enrich.finish_account(a, NULL, v_policy.quota_cap, v_policy.overage);
END $$;

CREATE FUNCTION brand_enrich.show_account(p_offset bigint, p_account text, p_run text) RETURNS json
LANGUAGE plpgsql STABLE AS $$
DECLARE
  a brand_enrich.account; v_run brand_enrich.run; r record; v_policy record;
  v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  SELECT * INTO a FROM brand_enrich.account WHERE name = p_account;
  IF NOT FOUND THEN a := brand_enrich.new_account(p_account); END IF;
  IF a.changed_at / 86400000 <> v_now / 86400000 THEN a := brand_enrich.turn_day(a, v_now); END IF;
  SELECT count(*) FILTER (WHERE probe) AS probes, count(*) FILTER (WHERE NOT probe AND NOT free) AS held,
         count(*) FILTER (WHERE NOT free) AS spent,
         count(*) FILTER (WHERE NOT free AND own = a.look_of) AS own,
         count(*) FILTER (WHERE free) AS free
    INTO r FROM brand_enrich.permit WHERE account = p_account AND deadline <= v_now;
  IF a.look_proven THEN
    a.free := a.free + r.free;
  ELSE
    a.sent := a.sent + r.free;
  END IF;
  a.look_booked := a.look_booked + r.own;
  a.probes := a.probes - r.probes;
  a.held := a.held - r.held;
  a.sent := a.sent + r.spent;
  a := brand_enrich.turn(a, v_now);
  a.second_sent := a.second_sent + r.spent;
  SELECT * INTO v_run FROM brand_enrich.run WHERE id = p_run;
  SELECT * INTO v_policy FROM brand_enrich.policy_of(p_account, v_now);
  RETURN brand_enrich.state_of(a, v_run, v_policy.quota_cap, v_policy.overage, v_now);
END $$;

CREATE FUNCTION brand_enrich.open_account(
  p_offset bigint, p_account text, p_has_pace boolean, p_rate float8, p_burst float8
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
BEGIN
  a.confirmed_at := 0;
  a.next_probe_at := a.changed_at;
  IF p_has_pace THEN a := brand_enrich.change_pace(a, p_rate, p_burst, 0, a.changed_at); END IF;
  RETURN brand_enrich.finish_account(a);
END $$;

CREATE FUNCTION brand_enrich.observe_account(
  p_offset bigint, p_account text, p_usage bigint, p_quota bigint
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
BEGIN
  IF p_quota IS NOT NULL THEN a.quota := p_quota; END IF;
  IF p_usage IS NOT NULL THEN
    a.usage := p_usage; a.last_usage := p_usage; a.early := 0;
    a.sent := least(a.sent, p_usage);
    a.serves_overage := false;
    a.others := greatest(0, p_usage - a.sent - a.held - a.probes);
    a := brand_enrich.end_looks(a);
  END IF;
  a.closed_at := NULL;
  a.next_probe_at := a.changed_at;
  RETURN brand_enrich.finish_account(a);
END $$;

CREATE FUNCTION brand_enrich.raise_account(
  p_offset bigint, p_account text, p_period text, p_sent bigint, p_others bigint, p_quota bigint
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.begin_account(p_offset, p_account);
        v_missing bigint; v_ours bigint;
BEGIN
  IF brand_enrich.is_later(p_period, a.period) THEN
    a := brand_enrich.open_period(a, p_period, NULL, NULL); END IF;
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

-- Answers all in one page.
CREATE FUNCTION brand_enrich.account_names(p_offset bigint, p_cursor text, p_page int) RETURNS jsonb
  LANGUAGE sql AS $$
  SELECT jsonb_build_array('0', coalesce(jsonb_agg(name), '[]')) FROM brand_enrich.account
$$;

CREATE FUNCTION brand_enrich.reset_account(p_offset bigint, p_account text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  -- The account first, so that a running exchange ends before its permits are deleted.
  DELETE FROM brand_enrich.account WHERE name = p_account;
  DELETE FROM brand_enrich.permit WHERE account = p_account;
END $$;

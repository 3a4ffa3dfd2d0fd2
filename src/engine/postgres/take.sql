CREATE FUNCTION brand_enrich.in_flight_allowed(
  a brand_enrich.account, p_quota_cap bigint, p_limit bigint, p_run brand_enrich.run
) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_used bigint := greatest(a.usage, a.sent + a.others);
  v_left bigint := coalesce(a.quota, p_quota_cap) - v_used;
BEGIN
  IF p_limit IS NULL THEN RETURN brand_enrich.unknown_quota_held(); END IF;
  IF v_left <= 0 THEN
    SELECT p_run.max_overage_requests - g.overage_requests INTO v_left
      FROM brand_enrich.generation g WHERE g.id = p_run.generation;
  END IF;
  RETURN greatest(1, least(v_left, p_limit - v_used) / brand_enrich.left_per_in_flight());
END $$;

CREATE FUNCTION brand_enrich.waits_for_others(a brand_enrich.account, p_allowed bigint, p_now bigint)
  RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT brand_enrich.is_drained(a) AND (
    a.held + a.probes >= p_allowed OR a.closed_at IS NOT NULL
    OR a.has_next_fallen OR a.confirmed_at <= p_now - brand_enrich.alone_after_ms())
$$;

CREATE FUNCTION brand_enrich.run_status(r brand_enrich.run, p_now bigint) RETURNS text
  LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN r.status = 'cancelled' THEN 'cancelled'
              WHEN r.status <> 'running' OR NOT brand_enrich.has_heartbeat(r.heartbeat_at, p_now) THEN 'dead'
              WHEN r.halt IS NOT NULL THEN 'halted'
              WHEN brand_enrich.is_paused(r.owner) THEN 'paused' ELSE 'alive' END
$$;

CREATE FUNCTION brand_enrich.may_find_out(a brand_enrich.account, p_quota_cap bigint, p_plan text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_plan <> 'paid' AND NOT a.serves_overage
    AND NOT (p_quota_cap IS NOT NULL AND (a.quota IS NULL OR p_quota_cap < a.quota)), false)
$$;

CREATE FUNCTION brand_enrich.may_confirm_turn(a brand_enrich.account, p_quota_cap bigint, p_plan text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_plan = 'free' OR a.next_asked IS NOT NULL, false)
    AND brand_enrich.may_find_out(a, p_quota_cap, p_plan)
$$;

CREATE FUNCTION brand_enrich.room_for(
  a brand_enrich.account, p_quota_cap bigint, p_limit bigint, p_plan text, p_now bigint
) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN a.closed_at IS NULL AND brand_enrich.has_room(a, p_limit) THEN false
    WHEN brand_enrich.is_drained(a)
      AND (brand_enrich.has_room(a, p_limit) OR brand_enrich.may_find_out(a, p_quota_cap, p_plan)
        OR coalesce(p_now >= brand_enrich.asks_at(a), false))
      AND (p_now >= a.next_probe_at AND (a.closed_at IS NOT NULL
        OR p_now - a.confirmed_at >= brand_enrich.probe_every_ms())
        OR a.has_next_fallen AND brand_enrich.may_confirm_turn(a, p_quota_cap, p_plan)) THEN true
  END
$$;

CREATE FUNCTION brand_enrich.slot_of(INOUT a brand_enrich.account, OUT slot float8, p_now bigint)
  LANGUAGE plpgsql AS $$
DECLARE v_interval float8 := 1000 / a.rate;
BEGIN
  slot := greatest(p_now, a.floor_until);
  IF a.rate IS NOT NULL THEN slot := greatest(slot, a.tat - (a.burst - 1) * v_interval); END IF;
  IF slot - p_now > brand_enrich.pace_horizon_ms() THEN
    slot := NULL;
  ELSIF a.rate IS NOT NULL THEN
    a.tat := greatest(a.tat, slot) + v_interval;
  END IF;
END $$;

CREATE FUNCTION brand_enrich.grant_free(INOUT a brand_enrich.account, OUT answer text, p_id text,
  p_now bigint)
LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  answer := 'queued';
  IF a.look_out IS NOT NULL THEN RETURN; END IF;
  SELECT * INTO r FROM brand_enrich.slot_of(a, p_now);
  a := r.a;
  IF r.slot IS NULL THEN RETURN; END IF;
  a.look_out := p_id; a.look_out_at := p_now;
  answer := (r.slot - p_now)::text || ' free';
END $$;

-- NULL if there is no such limit.
CREATE FUNCTION brand_enrich.overage_room_of_others(p_account text, p_own text) RETURNS bigint
  LANGUAGE sql STABLE AS $$
  SELECT min(greatest(0, h.cap - g.overage_requests))
    FROM (SELECT p.generation, count(*) AS held, min(r.max_overage_requests) AS cap
            FROM brand_enrich.permit p LEFT JOIN brand_enrich.run r ON r.id = p.run
           WHERE p.account = p_account AND p.generation IS DISTINCT FROM p_own
           GROUP BY p.generation) h
    JOIN brand_enrich.generation g ON g.id = h.generation
   WHERE h.held > h.cap - g.overage_requests
$$;

CREATE FUNCTION brand_enrich.take(
  INOUT a brand_enrich.account, OUT answers text[], p_quota_cap bigint, p_limit bigint, p jsonb,
  p_run brand_enrich.run, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_may_spend boolean := p_run.id IS NOT NULL AND NOT brand_enrich.is_paused('*')
    AND brand_enrich.run_status(p_run, p_now) = 'alive';
  v_worker text := p->>'worker';
  v_allowed bigint := brand_enrich.in_flight_allowed(a, p_quota_cap, p_limit, p_run);
  v_deadline bigint := p_now + (p->>'permitMs')::float8;
  v_granted brand_enrich.permit[] := '{}'; v_ids text[] := '{}';
  g brand_enrich.generation; v_spent bigint := 0; v_held bigint := 0; v_others_room bigint; v_beyond bigint;
  v_is_opening boolean; v_is_probe boolean; v_slot float8; r record; v_paced record;
BEGIN
  SELECT * INTO g FROM brand_enrich.generation WHERE id = p_run.generation;
  IF p_run.max_overage_requests IS NOT NULL THEN
    v_held := brand_enrich.held_of(p_run.generation, a.name, p_now);
  END IF;
  IF brand_enrich.beyond_quota(a, p_quota_cap, jsonb_array_length(p->'take')) > 0 THEN
    v_others_room := brand_enrich.overage_room_of_others(a.name, p_run.generation);
  END IF;
  FOR r IN
    SELECT t.ord::int AS ord, t.permit, t.key, t.own, c.worker AS owner, h.id AS held, h.free AS is_free,
           -- A subquery, because a join would compare all rows of the run with each key.
           (SELECT d.count FROM brand_enrich.unusable_answer d WHERE d.run = p_run.id
             AND d.key = t.key) AS unusable
      FROM (SELECT x->>'permit' AS permit, x->>'key' AS key, x->>'own' AS own, ord
              FROM jsonb_array_elements(p->'take') WITH ORDINALITY e(x, ord)) t
      LEFT JOIN brand_enrich.claim c ON c.key = t.key
      LEFT JOIN brand_enrich.permit h ON h.id = t.permit
     ORDER BY t.ord
  LOOP
    -- A permit that is held already or named twice in this call is one permit.
    IF r.held IS NOT NULL OR r.permit = ANY (v_ids) THEN
      answers[r.ord] := CASE WHEN r.is_free OR r.held IS NULL AND r.permit = a.look_out THEN
        '0 free' ELSE '0' END;
      CONTINUE;
    END IF;
    IF r.owner IS DISTINCT FROM v_worker THEN answers[r.ord] := 'lost'; CONTINUE; END IF;
    answers[r.ord] := 'denied';
    CONTINUE WHEN NOT v_may_spend;
    IF r.unusable >= brand_enrich.unusable_allowed() THEN
      answers[r.ord] := 'attempts_exhausted'; CONTINUE; END IF;
    IF a.look_proven AND r.own = a.look_of THEN
      SELECT * INTO v_paced FROM brand_enrich.grant_free(a, r.permit, p_now);
      a := v_paced.a;
      answers[r.ord] := v_paced.answer;
      CONTINUE WHEN v_paced.answer = 'queued';
      v_ids := v_ids || r.permit;
      v_granted := v_granted || ROW(r.permit, a.name, v_worker, p_run.id, '', r.key, v_deadline,
        false, r.own, true)::brand_enrich.permit;
      CONTINUE;
    END IF;
    CONTINUE WHEN p_now < a.rests_until OR a.has_next_fallen AND NOT brand_enrich.is_drained(a);
    v_is_opening := a.confirmed_at <= p_now - brand_enrich.alone_after_ms();
    -- Nested, because a condition with a query costs as much as the query even if it is not run.
    IF v_is_opening THEN
      CONTINUE WHEN a.alone = ANY (v_ids) OR EXISTS (SELECT FROM brand_enrich.permit WHERE id = a.alone);
    END IF;
    CONTINUE WHEN a.held + a.probes >= v_allowed;
    v_is_probe := brand_enrich.room_for(a, p_quota_cap, p_limit, p_run.plan, p_now);
    CONTINUE WHEN v_is_probe IS NULL OR g.requests >= p_run.max_requests;
    v_beyond := brand_enrich.beyond_quota(a, p_quota_cap, 1);
    CONTINUE WHEN v_beyond > 0
      AND g.overage_requests + least(v_held + 1, v_beyond) > p_run.max_overage_requests;
    CONTINUE WHEN v_beyond > v_others_room;
    IF a.rate IS NULL AND a.floor_until <= p_now THEN
      v_slot := p_now;
    ELSE
      SELECT * INTO v_paced FROM brand_enrich.slot_of(a, p_now);
      a := v_paced.a;
      v_slot := v_paced.slot;
      CONTINUE WHEN v_slot IS NULL;
    END IF;
    IF v_is_probe THEN
      IF p_now >= brand_enrich.asks_at(a) THEN a.turn_asked_at := p_now; END IF;
      a.probes := a.probes + 1;
      a.next_probe_at := p_now + brand_enrich.probe_every_ms();
    ELSE
      a.held := a.held + 1;
    END IF;
    g.requests := g.requests + 1;
    v_held := v_held + 1;
    v_spent := v_spent + 1;
    v_ids := v_ids || r.permit;
    v_granted := v_granted || ROW(r.permit, a.name, v_worker, p_run.id, p_run.generation, r.key, v_deadline,
      v_is_probe, r.own, false)::brand_enrich.permit;
    IF v_is_opening THEN a.alone := r.permit; END IF;
    IF a.has_next_fallen OR v_is_probe THEN a.next_asked := r.permit; END IF;
    answers[r.ord] := v_slot - p_now;
  END LOOP;
  IF v_spent > 0 THEN
    UPDATE brand_enrich.generation SET requests = requests + v_spent WHERE id = p_run.generation;
    INSERT INTO brand_enrich.run_spending AS s (run, spent) VALUES (p_run.id, v_spent)
    ON CONFLICT (run) DO UPDATE SET spent = s.spent + excluded.spent;
  END IF;
  IF v_granted <> '{}' THEN
    INSERT INTO brand_enrich.permit SELECT u.* FROM unnest(v_granted) u;
    a.sweep_at := least(a.sweep_at, v_deadline);
  END IF;
END $$;

CREATE FUNCTION brand_enrich.may_try_look(
  INOUT a brand_enrich.account, OUT may_try boolean, p_quota bigint, p_quiet_ms bigint, p_now bigint
) LANGUAGE plpgsql AS $$
BEGIN
  may_try := false;
  IF a.closed_at IS NOT NULL OR a.has_next_fallen OR NOT brand_enrich.is_drained(a)
    OR NOT brand_enrich.has_room(a, p_quota) OR p_now - a.spent_at < p_quiet_ms THEN RETURN; END IF;
  IF p_now - a.look_tries_since >= brand_enrich.look_day_ms() THEN
    a.look_tries_since := p_now; a.look_tries := 0;
  END IF;
  may_try := a.look_tries < brand_enrich.looks_a_day();
END $$;

CREATE FUNCTION brand_enrich.grant_look(
  INOUT a brand_enrich.account, OUT answer text, p_quota_cap bigint, p_limit bigint, p jsonb, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_id text := p->'look'->>'permit'; v_own text := p->'look'->>'own'; v_key text := p->'look'->>'key';
  v_quiet_ms bigint := brand_enrich.quiet_lags() * (p->>'usageLagMs')::float8;
  v_deadline bigint := p_now + (p->>'permitMs')::float8; v_is_free boolean; v_is_probe boolean := false;
  r record;
BEGIN
  SELECT CASE WHEN free THEN '0 free' ELSE '0' END INTO answer FROM brand_enrich.permit WHERE id = v_id;
  IF FOUND THEN RETURN; END IF;
  answer := 'denied';
  IF brand_enrich.is_paused('*') THEN RETURN; END IF;
  IF v_own IS NOT NULL THEN a := brand_enrich.meet_own_domain(a, v_own); END IF;
  v_is_free := v_own IS NOT NULL AND a.look_proven;
  IF v_is_free THEN
    SELECT * INTO r FROM brand_enrich.grant_free(a, v_id, p_now);
    a := r.a;
    answer := r.answer;
    IF answer = 'queued' THEN RETURN; END IF;
  ELSE
    IF p_now < a.rests_until THEN RETURN; END IF;
    IF v_own IS NOT NULL THEN
      SELECT * INTO r FROM brand_enrich.may_try_look(
        a, least(a.quota, p_quota_cap, (p->'look'->>'quotaCap')::bigint), v_quiet_ms, p_now);
      a := r.a;
      IF NOT r.may_try THEN RETURN; END IF;
    ELSE
      IF (SELECT c.worker FROM brand_enrich.claim c WHERE c.key = v_key) IS DISTINCT FROM p->>'worker' THEN
        answer := 'lost'; RETURN;
      END IF;
      IF a.checked_at > 0 AND p_now - a.checked_at < brand_enrich.check_every_ms() THEN RETURN; END IF;
      v_is_probe := a.closed_at IS NOT NULL OR NOT brand_enrich.has_room(a, p_limit);
    END IF;
    SELECT * INTO r FROM brand_enrich.slot_of(a, p_now);
    a := r.a;
    IF r.slot IS NULL THEN answer := 'queued'; RETURN; END IF;
    answer := (r.slot - p_now)::text;
    IF v_own IS NOT NULL THEN
      a.look_tries := a.look_tries + 1; a.look_out := v_id; a.look_out_at := p_now;
      IF a.confirmed_at <= p_now - brand_enrich.alone_after_ms() THEN a.alone := v_id; END IF;
    ELSE
      a.checked_at := p_now;
    END IF;
    IF v_is_probe THEN a.probes := a.probes + 1; ELSE a.held := a.held + 1; END IF;
  END IF;
  INSERT INTO brand_enrich.permit VALUES (v_id, a.name, p->>'worker', '', '', coalesce(v_key, ''), v_deadline,
    v_is_probe, v_own, v_is_free);
  a.sweep_at := least(a.sweep_at, v_deadline);
END $$;

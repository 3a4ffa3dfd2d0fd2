CREATE FUNCTION brand_enrich.is_drained(a brand_enrich.account) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT a.held = 0 AND a.probes = 0
$$;

CREATE FUNCTION brand_enrich.measure_looks_from(INOUT a brand_enrich.account, p_usage bigint)
  LANGUAGE plpgsql AS $$
BEGIN
  a.look_base := p_usage; a.look_since := false;
END $$;

CREATE FUNCTION brand_enrich.end_looks(INOUT a brand_enrich.account) LANGUAGE plpgsql AS $$
BEGIN
  a := brand_enrich.measure_looks_from(a, NULL);
  a.look_booked := 0; a.look_recent := 0; a.look_earlier := 0;
END $$;

CREATE FUNCTION brand_enrich.meet_own_domain(INOUT a brand_enrich.account, p_own text) LANGUAGE plpgsql AS $$
BEGIN
  IF a.look_of = p_own THEN RETURN; END IF;
  a := brand_enrich.end_looks(a);
  a.look_of := p_own; a.look_proven := false; a.look_rises := 0;
END $$;

-- p_was: the account before this call; NULL if no look brought the reading.
CREATE FUNCTION brand_enrich.judge_looks(
  INOUT a brand_enrich.account, p_usage bigint, p_was brand_enrich.account, p_lag_ms float8, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_quiet_ms bigint := brand_enrich.quiet_lags() * p_lag_ms;
  v_is_above boolean := coalesce(p_usage > a.look_base, false);
  v_looks bigint := a.look_recent + a.look_earlier;
BEGIN
  IF p_was IS NULL OR NOT brand_enrich.is_drained(a) OR a.look_out_at - p_was.spent_at < v_quiet_ms THEN
    RETURN; END IF;
  IF a.look_proven THEN
    IF v_is_above THEN
      a.look_proven := false; a.look_rises := a.look_rises + 1;
      a.sent := a.sent + v_looks; a.look_booked := a.look_booked + v_looks;
      a.others := greatest(0, a.others - v_looks);
      a.look_recent := 0; a.look_earlier := 0; a.spent_at := p_now;
    ELSIF a.look_out_at - a.look_mark_at >= v_quiet_ms THEN
      a.look_earlier := a.look_recent; a.look_recent := 0; a.look_mark_at := a.look_out_at;
    END IF;
  ELSIF v_is_above THEN
    a.look_rises := a.look_rises + 1;
  ELSIF p_usage = a.look_base THEN
    IF NOT p_was.look_since THEN RETURN; END IF;
    a.look_proven := true; a.look_rises := 0;
    a.sent := a.sent - least(a.look_booked, a.sent);
    a.look_booked := 0; a.look_mark_at := a.look_out_at;
  END IF;
  a := brand_enrich.measure_looks_from(a, p_usage);
END $$;

CREATE FUNCTION brand_enrich.forget_next(INOUT a brand_enrich.account) LANGUAGE plpgsql AS $$
BEGIN
  a.next_period := NULL; a.next_since := 0; a.has_next_fallen := false;
END $$;

CREATE FUNCTION brand_enrich.open_period(
  INOUT a brand_enrich.account, p_period text, p_usage bigint, p_reset_awaited_at bigint
) LANGUAGE plpgsql AS $$
BEGIN
  a := brand_enrich.forget_next(a);
  a.period := p_period; a.period_end := NULL; a.next_asked := NULL;
  a.sent := a.next_sent + a.next_dated;
  a.early := a.next_sent + CASE WHEN p_usage IS NULL THEN 0 ELSE a.next_dated END;
  a.next_sent := 0; a.next_dated := 0; a.reset_awaited_at := p_reset_awaited_at;
  a.others := 0; a.usage := NULL; a.last_usage := NULL; a.closed_at := NULL; a.days := ''; a.free := 0;
  a := brand_enrich.end_looks(a);
END $$;

CREATE FUNCTION brand_enrich.asks_at(a brand_enrich.account) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN greatest(a.reset_awaited_at, a.turn_asked_at + 86400000)
      <= a.reset_awaited_at + brand_enrich.date_agrees_ms()
      THEN greatest(a.reset_awaited_at, a.turn_asked_at + 86400000)
    WHEN a.period_end IS NOT NULL
      THEN greatest(a.period_end + brand_enrich.turn_margin_ms() + greatest(0, a.behind_ms),
        a.turn_asked_at + 86400000)
  END
$$;

CREATE FUNCTION brand_enrich.follow_period(
  INOUT a brand_enrich.account, OUT is_current boolean, p_period text, p_usage bigint, p_today text,
    p_has_confirmed boolean, p_others bigint, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_has_fallen boolean := coalesce(p_usage < a.usage - p_others OR 2 * p_usage < a.usage, false);
  v_is_in boolean := p_today IS NOT NULL AND NOT brand_enrich.is_later(p_period, p_today);
BEGIN
  is_current := true;
  a.period := coalesce(a.period, p_period);
  IF p_period IS NULL THEN
    IF v_has_fallen AND brand_enrich.is_later(p_today, a.period) THEN
      a := brand_enrich.open_period(a, p_today, p_usage, NULL); END IF;
  ELSIF brand_enrich.is_later(a.period, p_period) THEN
    is_current := false;
  ELSIF NOT brand_enrich.is_later(p_period, a.period) THEN
    a := brand_enrich.forget_next(a);
    IF v_has_fallen AND a.reset_awaited_at IS NOT NULL AND p_today = p_period THEN
      -- The service reset late. Its usage shows how many of our requests it has not billed.
      a.reset_awaited_at := NULL; a.others := 0; a.usage := NULL; a.early := a.sent + a.held + a.probes;
    END IF;
  ELSE
    IF a.next_period IS DISTINCT FROM p_period THEN
      a := brand_enrich.forget_next(a);
      a.next_period := p_period; a.next_since := p_now;
    END IF;
    is_current := CASE WHEN v_has_fallen THEN v_is_in OR a.has_next_fallen AND p_has_confirmed
      ELSE v_is_in AND p_now - a.next_since >= brand_enrich.period_grace_ms() END;
    a.has_next_fallen := v_has_fallen;
    IF is_current THEN
      a := brand_enrich.open_period(a, p_period, p_usage, CASE WHEN NOT v_has_fallen THEN p_now END);
    END IF;
  END IF;
END $$;

CREATE FUNCTION brand_enrich.apply_reading(
  INOUT a brand_enrich.account, p jsonb, p_today text, p_has_confirmed boolean, p_others bigint,
  p_was brand_enrich.account, p_lag_ms float8, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_quota bigint := (p->>'quota')::bigint; v_usage bigint := (p->>'usage')::bigint; r record;
BEGIN
  a.behind_ms := coalesce(p_now - (p->>'date')::bigint, a.behind_ms);
  SELECT * INTO r FROM brand_enrich.follow_period(
    a, p->>'period', v_usage, p_today, p_has_confirmed, p_others, p_now);
  a := r.a;
  IF NOT r.is_current THEN RETURN; END IF;
  IF v_quota IS NOT NULL THEN
    IF v_quota > a.quota THEN a.closed_at := NULL; END IF;
    a.quota := v_quota;
  END IF;
  IF v_usage IS NULL THEN RETURN; END IF;
  a := brand_enrich.judge_looks(a, v_usage, p_was, p_lag_ms, p_now);
  a.usage := greatest(a.usage, v_usage);
  a.last_usage := v_usage;
  a.others := greatest(a.others, v_usage - a.sent - a.held - a.probes);
  a.early := least(a.early, brand_enrich.spent_of(a) + a.probes - v_usage);
END $$;

CREATE FUNCTION brand_enrich.restore_seen(INOUT a brand_enrich.account, p jsonb, p_lag_ms float8,
  p_now bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_version bigint := (p->>'version')::bigint; v_is_same boolean := p->>'epoch' = a.epoch;
BEGIN
  IF v_is_same AND v_version <= a.version THEN RETURN; END IF;
  IF a.period IS NULL THEN a.period := p->>'period'; END IF;
  IF a.period IS NOT DISTINCT FROM p->>'period' THEN
    a.sent := greatest(a.sent, (p->>'spent')::bigint);
    a.others := greatest(a.others, (p->>'others')::bigint);
  END IF;
  IF v_is_same THEN a.version := v_version; END IF;
  a.rests_until := p_now + p_lag_ms;
  a.confirmed_at := 0;
  a := brand_enrich.end_looks(a);
  a.spent_at := p_now;
END $$;

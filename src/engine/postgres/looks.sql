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

-- p_was: the account before this call, whose look may not be visible yet; NULL: no look brought it.
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

-- What a reading of the usage headers does to the account (it only tightens), when a billing period
-- opens, and how a ledger that went back in time is brought up again.

CREATE FUNCTION brand_enrich.is_period_due(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT a.pending_period IS NOT NULL AND (
    a.pending_falls > 1 OR a.pending_seen_at - a.pending_since >= brand_enrich.period_grace_ms()
    OR p_now >= brand_enrich.start_of(a.pending_period)
       AND (a.pending_falls > 0 OR p_now - a.pending_since >= brand_enrich.period_grace_ms()))
$$;

CREATE FUNCTION brand_enrich.is_turn_unconfirmed(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT a.pending_period IS NOT NULL AND a.pending_falls > 0 AND NOT brand_enrich.is_period_due(a, p_now)
$$;

CREATE FUNCTION brand_enrich.is_pending_near(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT a.pending_period IS NOT NULL
    AND p_now >= brand_enrich.start_of(a.pending_period) - brand_enrich.turn_margin_ms()
$$;

CREATE FUNCTION brand_enrich.await_period(INOUT a brand_enrich.account, p_period text, p_now bigint)
  LANGUAGE plpgsql AS $$
BEGIN
  a.pending_period := p_period; a.pending_since := p_now; a.pending_kept_at := p_now; a.pending_falls := 0;
END $$;

CREATE FUNCTION brand_enrich.open_due_period(INOUT a brand_enrich.account, OUT has_opened boolean,
  p_now bigint)
LANGUAGE plpgsql AS $$
BEGIN
  has_opened := brand_enrich.is_period_due(a, p_now) AND brand_enrich.is_drained(a);
  IF NOT has_opened THEN RETURN; END IF;
  a.period := a.pending_period;
  a.pending_period := NULL; a.pending_since := 0; a.pending_seen_at := 0; a.pending_falls := 0;
  a.pending_asked := NULL;
  a.sent := a.pending_sent + a.pending_dated; a.early := a.pending_sent; a.pending_sent := 0;
    a.pending_dated := 0;
  a.others := 0; a.usage := NULL; a.last_usage := NULL; a.closed_at := NULL; a.days := ''; a.free := 0;
  a := brand_enrich.end_looks(a);
END $$;

-- A reading of a later period. p_has_confirmed: it came with the request that went alone to find out.
CREATE FUNCTION brand_enrich.note_pending(
  INOUT a brand_enrich.account, p_period text, p_usage bigint, p_has_confirmed boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  -- More than answers that overtake each other explain, or less than our own count where no answer
  -- is overtaken.
  v_has_fallen boolean := p_usage < a.usage - a.held - a.probes OR 2 * p_usage < a.usage
    OR p_has_confirmed AND p_usage < a.sent;
BEGIN
  -- Where this clock agrees with the one that is awaited, a date that is far off is wrong.
  IF brand_enrich.is_later(p_period, a.pending_period) AND brand_enrich.is_pending_near(a, p_now)
    AND p_now < brand_enrich.start_of(p_period) - brand_enrich.turn_margin_ms() THEN RETURN; END IF;
  IF a.pending_period IS DISTINCT FROM p_period THEN
    a := brand_enrich.await_period(a, p_period, p_now); END IF;
  a.pending_seen_at := p_now;
  IF p_usage IS NULL OR a.usage IS NULL THEN RETURN; END IF;
  IF v_has_fallen AND p_now >= brand_enrich.start_of(p_period) THEN a.pending_falls := 2;
  ELSIF a.pending_falls > 1 THEN RETURN;
  ELSIF NOT v_has_fallen THEN a.pending_falls := 0;
  ELSIF a.pending_falls = 0 OR p_has_confirmed THEN a.pending_falls := a.pending_falls + 1;
  END IF;
END $$;

-- The first answers name the period: one is enough where this clock is in it or near it, else two
-- in a row.
CREATE FUNCTION brand_enrich.name_first_period(INOUT a brand_enrich.account, p_period text, p_now bigint)
  LANGUAGE plpgsql AS $$
BEGIN
  IF a.first_period = p_period OR p_now - brand_enrich.start_of(p_period)
    BETWEEN -brand_enrich.period_ahead_ms() AND brand_enrich.longest_period_ms() THEN
    a.period := p_period; a.first_period := NULL;
  ELSE
    a.first_period := p_period;
  END IF;
END $$;

-- is_current: false when the reading belongs to another period than the ledger's.
CREATE FUNCTION brand_enrich.follow_period(
  INOUT a brand_enrich.account, OUT is_current boolean, p_period text, p_usage bigint,
    p_has_confirmed boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  is_current := true;
  IF p_period = 'none' THEN a.period := coalesce(a.period, 'none'); END IF;
  IF p_period IS NULL OR 'none' IN (p_period, a.period) THEN RETURN; END IF;
  IF a.period IS NULL THEN
    a := brand_enrich.name_first_period(a, p_period, p_now);
    IF a.period IS NULL THEN RETURN; END IF;
  ELSIF brand_enrich.is_later(a.period, p_period) THEN
    is_current := brand_enrich.start_of(a.period) - p_now > brand_enrich.period_ahead_ms()
      AND brand_enrich.start_of(p_period) <= p_now;
    IF NOT is_current THEN RETURN; END IF;
    -- It was named by a date that was not to come for long.
    a.period := p_period;
  END IF;
  IF brand_enrich.is_later(p_period, a.period) THEN
    a := brand_enrich.note_pending(a, p_period, p_usage, p_has_confirmed, p_now);
    SELECT * INTO r FROM brand_enrich.open_due_period(a, p_now);
    a := r.a;
    is_current := r.has_opened;
  ELSIF a.pending_falls < 2 THEN
    -- Not in a row: the service still is in this period, and soon what was dated otherwise is too.
    a.pending_falls := 0; a.pending_since := p_now; a.pending_seen_at := 0;
    IF p_now - a.pending_kept_at >= brand_enrich.pending_kept_ms() THEN
      -- What was dated in the next one is in doubt for as long again.
      a.pending_sent := CASE WHEN brand_enrich.is_pending_near(a, p_now) THEN 0 ELSE a.pending_dated END;
      a.pending_dated := a.pending_dated - a.pending_sent;
      a.pending_kept_at := p_now;
    END IF;
  END IF;
END $$;

CREATE FUNCTION brand_enrich.apply_reading(
  INOUT a brand_enrich.account, p jsonb, p_has_confirmed boolean,
  p_was brand_enrich.account, p_lag_ms float8, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_quota bigint := (p->>'quota')::bigint; v_usage bigint := (p->>'usage')::bigint; r record;
  v_behind_ms bigint := p_now - (p->>'date')::bigint;
BEGIN
  IF v_behind_ms IS NOT NULL THEN
    a.behind_ms := CASE WHEN v_behind_ms > brand_enrich.turn_margin_ms() THEN v_behind_ms ELSE 0 END;
  END IF;
  SELECT * INTO r FROM brand_enrich.follow_period(a, p->>'period', v_usage, p_has_confirmed, p_now);
  a := r.a;
  IF NOT r.is_current THEN RETURN; END IF;
  IF v_quota IS NOT NULL THEN
    IF v_quota > a.quota THEN a.closed_at := NULL; END IF;
    a.quota := v_quota;
  END IF;
  IF v_usage IS NULL THEN RETURN; END IF;
  a := brand_enrich.judge_looks(a, v_usage, p_was, p_lag_ms, p_now);
  -- Answers overtake each other, and within a period usage only grows.
  a.usage := greatest(a.usage, v_usage);
  a.last_usage := v_usage;
  a.others := greatest(a.others, v_usage - a.sent - a.held - a.probes);
  a.early := least(a.early, brand_enrich.spent_of(a) + a.probes - v_usage);
END $$;

-- The ledger went back in time: the highest state that the caller saw is written back, and spending
-- rests.
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
  -- What was measured and booked may be older than the count.
  a := brand_enrich.end_looks(a);
  a.spent_at := p_now;
END $$;

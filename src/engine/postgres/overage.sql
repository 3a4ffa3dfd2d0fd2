-- Which requests are overage: those beyond the quota in the period that they are billed in. What may
-- turn out otherwise is remembered by run, as `{run, generation, count, booked}`: the requests of a
-- next period that may not have begun, those of an account whose quota is not known yet, and those
-- without a date at the turn of a period.

CREATE FUNCTION brand_enrich.add_bill(p_bills jsonb, b brand_enrich.billed, p_over bigint, p_more bigint)
  RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE v_at text;
BEGIN
  SELECT ord - 1 INTO v_at FROM jsonb_array_elements(p_bills) WITH ORDINALITY e(x, ord)
   WHERE x->>'run' = b.run AND x->>'generation' = b.generation;
  IF v_at IS NOT NULL THEN
    p_bills := jsonb_set(p_bills, ARRAY[v_at, 'count'],
      to_jsonb((p_bills#>>ARRAY[v_at, 'count'])::bigint + p_more));
    RETURN jsonb_set(p_bills, ARRAY[v_at, 'booked'],
      to_jsonb((p_bills#>>ARRAY[v_at, 'booked'])::bigint + p_over));
  END IF;
  IF jsonb_array_length(p_bills) >= brand_enrich.bills_kept() THEN p_bills := p_bills - 0; END IF;
  RETURN p_bills || jsonb_build_object(
    'run', b.run, 'generation', b.generation, 'count', p_more, 'booked', p_over);
END $$;

CREATE FUNCTION brand_enrich.join_bills(p_bills jsonb, p_more jsonb, p_has_count boolean DEFAULT true)
  RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE x jsonb;
BEGIN
  FOR x IN SELECT * FROM jsonb_array_elements(p_more) LOOP
    p_bills := brand_enrich.add_bill(p_bills, ROW(x->>'run', x->>'generation', NULL,
      NULL, NULL)::brand_enrich.billed,
      (x->>'booked')::bigint, CASE WHEN p_has_count THEN (x->>'count')::bigint ELSE 0 END);
  END LOOP;
  RETURN p_bills;
END $$;

-- Those at the end are the last that were billed: the last of them stands at p_top.
CREATE FUNCTION brand_enrich.book_anew(INOUT p_bills jsonb, p_top bigint, p_quota bigint)
  LANGUAGE plpgsql AS $$
DECLARE v_bill jsonb; v_booked bigint; v_more bigint;
BEGIN
  FOR i IN REVERSE jsonb_array_length(p_bills) - 1 .. 0 LOOP
    v_bill := p_bills->i;
    v_booked := least((v_bill->>'count')::bigint, greatest(0, coalesce(p_top - p_quota, 0)));
    v_more := v_booked - (v_bill->>'booked')::bigint;
    p_top := p_top - (v_bill->>'count')::bigint;
    CONTINUE WHEN v_more = 0;
    p_bills := jsonb_set(p_bills, ARRAY[i::text, 'booked'], to_jsonb(v_booked));
    PERFORM brand_enrich.book_bill(v_bill, v_more);
  END LOOP;
END $$;

CREATE FUNCTION brand_enrich.book_bill(p_bill jsonb, p_more bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_more = 0 THEN RETURN; END IF;
  UPDATE brand_enrich.generation SET overage_requests = overage_requests + p_more
   WHERE id = p_bill->>'generation';
  UPDATE brand_enrich.run_spending SET overage_billed = overage_billed + p_more WHERE run = p_bill->>'run';
END $$;

-- Books which of the requests that were just closed are overage. p_before: the account after closing
-- them and before the reading. p_is_probe_within: a request beyond the limit was answered with a
-- usage below the quota.
CREATE FUNCTION brand_enrich.book_overage(
  INOUT a brand_enrich.account, p_before brand_enrich.account, p_quota bigint, p_billed brand_enrich.billed[],
  p_is_probe_within boolean
) LANGUAGE plpgsql AS $$
DECLARE
  v_this bigint := 0; v_next bigint := 0; v_last bigint := 0; v_position bigint; v_is_over boolean;
  v_over brand_enrich.billed[] := '{}'; b brand_enrich.billed; v_known jsonb; v_following jsonb;
  v_is_special boolean; v_is_quota_new boolean := p_before.quota IS NULL AND a.quota IS NOT NULL;
  v_has_opened boolean := brand_enrich.is_later(a.period, p_before.period);
  v_is_undated_kept boolean := v_has_opened OR a.pending_sent > 0;
  v_undated jsonb := CASE WHEN v_has_opened THEN a.early_bills ELSE a.undated_bills END;
BEGIN
  IF p_billed IS NULL AND NOT v_is_quota_new THEN RETURN; END IF;
  SELECT count(*) FILTER (WHERE u.period = 'this'), count(*) FILTER (WHERE u.period = 'next'),
         count(*) FILTER (WHERE u.period = 'last'), coalesce(bool_or(u.is_undated OR u.is_beyond), false)
    INTO v_this, v_next, v_last, v_is_special FROM unnest(p_billed) u;
  v_position := brand_enrich.standing_of(CASE WHEN v_has_opened THEN p_before ELSE a END);
  -- Nearly always: all of them are in this period, and within the quota.
  IF NOT v_is_quota_new AND a.quota IS NOT NULL AND v_next + v_last = 0 AND NOT v_is_special
    AND v_position <= p_quota THEN RETURN; END IF;
  IF NOT v_has_opened THEN a.last_standing := a.last_standing + v_last; END IF;
  v_this := v_position - v_this;
  v_next := CASE WHEN v_has_opened THEN p_before.pending_dated ELSE a.pending_dated END - v_next;
  v_last := p_before.last_standing;
  IF v_is_quota_new THEN
    v_known := brand_enrich.book_anew(p_before.bills, v_this, p_quota);
    IF v_undated <> '[]' THEN v_undated := brand_enrich.join_bills(v_undated, v_known, false); END IF;
    v_following := brand_enrich.book_anew(CASE WHEN v_has_opened THEN
      a.bills ELSE a.pending_bills END, v_next, p_quota);
    a.bills := '[]';
    a.pending_bills := CASE WHEN v_has_opened THEN '[]' ELSE v_following END;
  END IF;
  FOREACH b IN ARRAY coalesce(p_billed, '{}') LOOP
    CASE b.period
      WHEN 'this' THEN v_this := v_this + 1; v_position := v_this;
      WHEN 'next' THEN v_next := v_next + 1; v_position := v_next;
      ELSE v_last := v_last + 1; v_position := v_last;
    END CASE;
    v_is_over := b.is_beyond OR coalesce(NOT p_is_probe_within AND v_position > p_quota, false);
    IF v_is_over THEN v_over := array_append(v_over, b); END IF;
    IF b.period = 'next' AND NOT v_has_opened THEN
      a.pending_bills := brand_enrich.add_bill(a.pending_bills, b, v_is_over::int, 1);
    ELSIF a.quota IS NULL AND b.period = (CASE WHEN v_has_opened THEN 'next' ELSE 'this' END) THEN
      a.bills := brand_enrich.add_bill(a.bills, b, v_is_over::int, 1);
    END IF;
    IF b.period = 'this' AND v_is_undated_kept AND (b.is_undated OR v_is_over AND v_undated <> '[]') THEN
      v_undated := brand_enrich.add_bill(v_undated, b, v_is_over::int, b.is_undated::int);
    ELSIF b.period = 'last' AND v_is_over AND NOT v_has_opened AND a.early_bills <> '[]' THEN
      a.early_bills := brand_enrich.add_bill(a.early_bills, b, v_is_over::int, 0);
    END IF;
  END LOOP;
  IF v_has_opened THEN a.early_bills := v_undated; ELSE a.undated_bills := v_undated; END IF;
  IF v_over = '{}' THEN RETURN; END IF;
  UPDATE brand_enrich.generation g SET overage_requests = g.overage_requests + f.requests
    FROM (SELECT u.generation, count(*) AS requests FROM unnest(v_over) u GROUP BY u.generation
      ORDER BY u.generation) f
   WHERE g.id = f.generation;
  UPDATE brand_enrich.run_spending r SET overage_billed = r.overage_billed + f.requests
    FROM (SELECT u.run, count(*) AS requests FROM unnest(v_over) u GROUP BY u.run) f WHERE r.run = f.run;
END $$;

CREATE FUNCTION brand_enrich.book_early(INOUT a brand_enrich.account, p_quota bigint) LANGUAGE plpgsql AS $$
DECLARE
  i int; v_bill jsonb; v_count bigint; v_less bigint; v_more bigint;
  v_top bigint := brand_enrich.standing_of(a);
  v_in_doubt bigint := (SELECT sum((x->>'count')::bigint) FROM jsonb_array_elements(a.early_bills) x);
  v_moved bigint := least(v_in_doubt, a.early - greatest(0, a.sent + a.held + a.probes + a.others - a.usage));
  v_taken bigint := v_moved;
  v_added bigint := greatest(0, v_top + v_moved - p_quota) - greatest(0, v_top - p_quota);
  v_released bigint := greatest(0, a.last_standing - p_quota) - greatest(0,
    a.last_standing - v_moved - p_quota);
BEGIN
  IF a.usage IS NULL OR v_moved <= 0 THEN RETURN; END IF;
  -- Who is billed more is first in being billed less.
  FOR v_round IN 1 .. 2 LOOP
    FOR v_at IN 0 .. jsonb_array_length(a.early_bills) - 1 LOOP
      i := CASE v_round WHEN 1 THEN jsonb_array_length(a.early_bills) - 1 - v_at ELSE v_at END;
      v_bill := a.early_bills->i;
      v_count := least((v_bill->>'count')::bigint, v_taken);
      v_more := least(v_count, v_added);
      v_less := least((v_bill->>'booked')::bigint, v_released, CASE v_round WHEN 1 THEN v_count END);
      PERFORM brand_enrich.book_bill(v_bill, v_more - v_less);
      v_taken := v_taken - v_count; v_added := v_added - v_more; v_released := v_released - v_less;
      a.early_bills := jsonb_set(a.early_bills, ARRAY[i::text], v_bill || jsonb_build_object(
        'count', (v_bill->>'count')::bigint - v_count, 'booked', (v_bill->>'booked')::bigint - v_less));
    END LOOP;
  END LOOP;
  IF v_moved = v_in_doubt THEN a.early_bills := '[]'; END IF;
  a.early := a.early - v_moved;
  a.last_standing := a.last_standing - v_moved;
END $$;

CREATE FUNCTION brand_enrich.take_back_pending(INOUT a brand_enrich.account, p_quota bigint)
  LANGUAGE plpgsql AS $$
DECLARE v_returned jsonb;
BEGIN
  a.pending_sent := a.pending_sent + a.pending_dated;
  a.pending_dated := 0;
  v_returned := brand_enrich.book_anew(a.pending_bills, brand_enrich.standing_of(a), p_quota);
  a.undated_bills := brand_enrich.join_bills(a.undated_bills, v_returned);
  IF a.quota IS NULL THEN a.bills := brand_enrich.join_bills(a.bills, v_returned); END IF;
  a.pending_bills := '[]';
END $$;

CREATE FUNCTION brand_enrich.maybe_overage_of(a brand_enrich.account, p_generation text, p_now bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE v_bills jsonb := a.early_bills;
BEGIN
  IF a.pending_period IS NOT NULL THEN
    v_bills := v_bills || a.undated_bills;
    IF NOT brand_enrich.is_pending_near(a, p_now) THEN v_bills := v_bills || a.pending_bills; END IF;
  END IF;
  IF v_bills = '[]' THEN RETURN 0; END IF;
  RETURN coalesce((SELECT sum(greatest(0, (x->>'count')::bigint - (x->>'booked')::bigint))
    FROM jsonb_array_elements(v_bills) x WHERE x->>'generation' = p_generation), 0);
END $$;

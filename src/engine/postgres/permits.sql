-- A request that was or may have been billed: who pays, and in which of the account's periods,
-- `this`, `next` or `last`. `is_beyond`: its own header shows a usage beyond the quota.
CREATE TYPE brand_enrich.billed AS (run text, generation text, period text, is_beyond bool);

-- Settles permits. The first settlement of a permit counts; `lost` counts as sent. Returns the
-- billed ones in the order of the list.
CREATE FUNCTION brand_enrich.close_permits(
  INOUT a brand_enrich.account, OUT probed_until bigint, OUT is_asked_settled boolean,
  OUT billed brand_enrich.billed[], p_settle jsonb, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_probes bigint; v_held bigint; v_spent bigint; v_dated bigint; v_late bigint; v_freed text[];
  v_ids text[]; v_as text[]; v_periods text[]; v_beyond text[];
  v_free bigint; v_is_look boolean; v_own bigint; v_own_sent bigint; v_sure bigint; v_untried bigint;
BEGIN
  is_asked_settled := false;
  IF p_settle = '[]' THEN RETURN; END IF;
  SELECT array_agg(x->>'permit' ORDER BY ord), array_agg(x->>'as' ORDER BY ord),
    array_agg(x->>'period' ORDER BY ord), array_agg(x->>'isBeyond' ORDER BY ord)
    INTO v_ids, v_as, v_periods, v_beyond FROM jsonb_array_elements(p_settle) WITH ORDINALITY e(x, ord);
  -- An array, because a join planned while no permit was out would always scan all permits.
  WITH deleted AS (
    DELETE FROM brand_enrich.permit p WHERE p.id = ANY (v_ids) AND p.account = a.name
    RETURNING p.*, array_position(v_ids, p.id) AS ord
  ), gone AS (
    SELECT p.id, p.worker, p.run, p.generation, p.key, p.deadline, p.probe, p.free, v_as[p.ord] AS settled,
      p.ord, coalesce(p.own = a.look_of, false) AS is_own, p.own IS NOT NULL AS has_own,
      CASE WHEN brand_enrich.is_later(v_periods[p.ord], a.period) THEN 'next'
           WHEN brand_enrich.is_later(a.period, v_periods[p.ord]) THEN 'last' ELSE 'this' END AS billed_in
      FROM deleted p
  ), refunded AS (
    UPDATE brand_enrich.generation g SET requests = g.requests - f.requests
      FROM (SELECT generation, count(*) AS requests
              FROM gone WHERE settled = 'free' AND NOT free GROUP BY generation ORDER BY generation) f
     WHERE g.id = f.generation
  ), counted AS (
    INSERT INTO brand_enrich.unusable_answer AS d (run, key, count)
    SELECT run, key, count(*) FROM gone WHERE settled IN ('maybe_billed', 'lost') AND worker <> ''
      AND run <> '' GROUP BY run, key ORDER BY run, key
    ON CONFLICT (run, key) DO UPDATE SET count = d.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE probe), count(*) FILTER (WHERE NOT probe AND NOT free),
         count(*) FILTER (WHERE is_billed),
         count(*) FILTER (WHERE is_billed AND billed_in = 'next'),
         count(*) FILTER (WHERE is_billed AND billed_in = 'last'),
         max(deadline) FILTER (WHERE probe AND settled = 'billed'),
         coalesce(bool_or(settled <> 'lost' AND id = a.next_asked), false),
         array_agg(run) FILTER (WHERE settled = 'free' AND NOT free),
         array_agg(ROW(run, generation, billed_in, v_beyond[ord] IS NOT NULL)::brand_enrich.billed
           ORDER BY ord) FILTER (WHERE is_billed),
         count(*) FILTER (WHERE settled <> 'free' AND free), coalesce(bool_or(id = a.look_out), false),
         count(*) FILTER (WHERE is_billed AND is_own),
         count(*) FILTER (WHERE is_billed AND is_own AND billed_in = 'this'),
         count(*) FILTER (WHERE settled = 'billed' AND NOT free AND NOT is_own),
         count(*) FILTER (WHERE settled = 'free' AND NOT free AND run = '' AND has_own)
    INTO v_probes, v_held, v_spent, v_dated, v_late, probed_until, is_asked_settled, v_freed, billed, v_free,
      v_is_look, v_own, v_own_sent, v_sure, v_untried
    FROM (SELECT *, settled <> 'free' AND NOT free AS is_billed FROM gone) closed;
  -- A separate statement, because runs are locked after their generations.
  IF v_freed IS NOT NULL THEN
    UPDATE brand_enrich.run_spending r SET spent = r.spent - f.freed
      FROM (SELECT u.run, count(*) AS freed FROM unnest(v_freed) u(run) GROUP BY u.run) f WHERE r.run = f.run;
  END IF;
  a.probes := a.probes - v_probes;
  a.held := a.held - v_held;
  a.sent := a.sent + v_spent;
  a.next_dated := a.next_dated + v_dated;
  IF p_now >= a.period_end THEN a.next_sent := a.next_sent + v_spent - v_dated; END IF;
  a.early := a.early + v_late;
  IF v_is_look THEN a.look_out := NULL; END IF;
  IF v_free > 0 AND a.look_proven THEN
    a.free := a.free + v_free; a.look_recent := a.look_recent + v_free;
  ELSIF v_free > 0 THEN
    a.sent := a.sent + v_free; a.spent_at := p_now;
  END IF;
  a.look_booked := a.look_booked + v_own_sent;
  IF v_own > 0 THEN a.look_since := a.look_base IS NOT NULL; END IF;
  a.look_base := a.look_base + v_sure;
  a.look_tries := greatest(0, a.look_tries - v_untried);
  IF v_spent > 0 THEN
    a.spent_at := p_now;
    a := brand_enrich.turn(a, p_now);
    a.second_sent := a.second_sent + v_spent;
  END IF;
END $$;

-- Most calls read no permit, because the account has the earliest deadline.
CREATE FUNCTION brand_enrich.sweep(
  INOUT a brand_enrich.account, OUT billed brand_enrich.billed[], OUT has_swept boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  has_swept := false;
  IF a.sweep_at IS NULL OR a.sweep_at > p_now THEN RETURN; END IF;
  SELECT coalesce(jsonb_agg(jsonb_build_object('permit', id, 'as', 'lost') ORDER BY deadline, id COLLATE "C")
           FILTER (WHERE deadline <= p_now), '[]') AS due,
         min(deadline) FILTER (WHERE deadline > p_now) AS next
    INTO r FROM brand_enrich.permit WHERE account = a.name;
  has_swept := r.due <> '[]';
  a.sweep_at := r.next;
  SELECT * INTO r FROM brand_enrich.close_permits(a, r.due, p_now);
  a := r.a;
  billed := r.billed;
END $$;

CREATE FUNCTION brand_enrich.close_dead(
  INOUT a brand_enrich.account, OUT billed brand_enrich.billed[], p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  SELECT * INTO r FROM brand_enrich.close_permits(a, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('permit', h.id, 'as', 'lost') ORDER BY h.deadline,
      h.id COLLATE "C"), '[]')
      FROM brand_enrich.permit h WHERE h.account = a.name
        AND NOT brand_enrich.is_worker_alive(h.worker, p_now)), p_now);
  a := r.a;
  billed := r.billed;
END $$;

-- Counts the permits of a generation that are out, without expired ones of the account.
CREATE FUNCTION brand_enrich.held_of(
  p_generation text, p_account text, p_now bigint
) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT count(*) FROM brand_enrich.permit WHERE generation = p_generation
     AND (deadline > p_now OR account <> p_account)
$$;

-- p_before: the account after closing and before the reading.
CREATE FUNCTION brand_enrich.book_overage(
  a brand_enrich.account, p_before brand_enrich.account, p_quota bigint, p_billed brand_enrich.billed[],
  p_is_probe_within boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_this bigint; v_most bigint; v_runs text[]; v_generations text[];
BEGIN
  IF p_billed IS NULL THEN RETURN; END IF;
  IF brand_enrich.is_later(a.period, p_before.period) THEN a := p_before; END IF;
  v_this := a.sent - a.next_dated - a.early + a.others;
  v_most := greatest(a.sent + a.others, a.next_sent + a.next_dated);
  -- Nearly always all requests are within the quota.
  IF v_most <= p_quota AND NOT EXISTS (SELECT FROM unnest(p_billed) WHERE is_beyond OR period = 'last') THEN
    RETURN; END IF;
  WITH placed AS (
    -- The last request of a period has the account's count as its place; earlier ones count down.
    SELECT u.*, v_most - count(*) OVER (ORDER BY u.ord DESC) + 1 AS most,
      CASE u.period WHEN 'this' THEN v_this WHEN 'next' THEN a.next_dated END
        - count(*) OVER (PARTITION BY u.period ORDER BY u.ord DESC) + 1 AS place
      FROM unnest(p_billed) WITH ORDINALITY u(run, generation, period, is_beyond, ord)
  )
  SELECT array_agg(run) FILTER (WHERE is_beyond OR NOT p_is_probe_within AND place > p_quota),
         array_agg(generation) FILTER (WHERE is_beyond
           OR NOT p_is_probe_within AND (period = 'last' OR place > p_quota OR most > p_quota))
    INTO v_runs, v_generations FROM placed;
  UPDATE brand_enrich.generation g SET overage_requests = g.overage_requests + f.requests
    FROM (SELECT u.id, count(*) AS requests FROM unnest(v_generations) u(id) GROUP BY u.id ORDER BY u.id) f
   WHERE g.id = f.id;
  UPDATE brand_enrich.run_spending r SET overage_billed = r.overage_billed + f.requests
    FROM (SELECT u.run, count(*) AS requests FROM unnest(v_runs) u(run) GROUP BY u.run) f WHERE r.run = f.run;
END $$;
